#include "experiments/sculpt/given_networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/sculpt/sculpt.h"
#include "experiments/sculpt/trial_record.h"
#include "methods/detect/criteria.h"
#include "methods/detect/table_values.h"
#include "models/layered_network_file.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using models::NamedNetwork;
using nlohmann::ordered_json;

constexpr double kAllBits = 100;

std::optional<double> number(const NamedNetwork& named, const char* name) {
  const auto found = named.about.find(name);
  return found != named.about.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// Our name of the task that a network says it has learned.
std::string task_of(const NamedNetwork& named) {
  std::string name;
  if (const auto task = named.about.find("task"); task != named.about.end() && task->is_string()) {
    name = *task;
  } else if (const auto sizes = named.about.find("modularity"); sizes != named.about.end() && sizes->is_array()) {
    std::vector<std::string> parts;
    std::ranges::transform(*sizes, std::back_inserter(parts), [](const ordered_json& size) { return size.dump(); });
    name = fmt::format("sculpt/{}", fmt::join(parts, "-"));
  } else {
    throw FormatError(fmt::format(R"(network '{}' does not say its task ("task" or "modularity"))", named.id));
  }
  return methods::published_task(name).value_or(name);
}

// What a run and its networks have in common.
std::string key_of(const std::string& task, std::span<const int> hidden, double seed) {
  return fmt::format("{} {} {}", task, fmt::join(hidden, ","), seed);
}

std::string key_of(const NamedNetwork& named) {
  const std::optional<double> seed = number(named, "seed");
  if (!seed) {
    throw FormatError(fmt::format(R"(network '{}' does not say its training seed ("seed"))", named.id));
  }
  const std::vector<int>& widths = named.network.widths;
  return key_of(task_of(named), std::span(widths).subspan(1, widths.size() - 2), *seed);
}

// Weights of units that play no part decay, and files with few decimals have zeros for some of them.
bool is_dense(const NamedNetwork& named) {
  constexpr double kNearlyAll = 0.9;
  return named.network.edge_count() > kNearlyAll * named.network.full_edge_count();
}

// Whether what else the file says agrees with the run.
bool is_of(const NamedNetwork& named, const methods::SculptRun& run) {
  const double unit_step = number(named, "p_u").value_or(0);
  const bool is_pruned_alike =
      is_dense(named) || !named.about.contains("p_u") || run.sculpt.prunes_units() == (unit_step > 0);
  return is_pruned_alike && number(named, "lr").value_or(run.lr) == run.lr &&
         number(named, "batch").value_or(run.batch_size) == run.batch_size;
}

double accuracy_of(const NamedNetwork& named, const tasks::Task& task) {
  try {
    methods::check_fits(named.network, task);
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("network '{}': {}", named.id, error.what()));
  }
  const std::vector<double> right = methods::output_accuracies(named.network, task.table);
  return kAllBits * std::accumulate(right.begin(), right.end(), 0.0) / static_cast<double>(right.size());
}

struct GivenTrial {
  const Run* run = nullptr;
  methods::SculptResult result;
  std::vector<std::string> names;  // of the tied networks
};

GivenTrial make_trial(const Run& of, const methods::SculptRun& run, const tasks::Task& task,
                      const std::vector<const NamedNetwork*>& networks) {
  GivenTrial trial{&of, {}, {}};
  methods::TrialOutcome& outcome = trial.result.outcome;
  outcome.learned = true;
  int fewest = 0;
  for (const NamedNetwork* named : networks) {
    const double accuracy = accuracy_of(*named, task);
    if (is_dense(*named)) {
      outcome.dense = methods::from_layered(named->network);
      outcome.dense_accuracy = accuracy;
      outcome.learned = accuracy >= run.sculpt.threshold;
      continue;
    }
    const int edges = named->network.edge_count();
    if (!outcome.winners.empty() && edges > fewest) {
      continue;
    }
    if (edges < fewest) {
      outcome.winners.clear();
      trial.names.clear();
    }
    fewest = edges;
    outcome.winners.push_back({number(*named, "p_u").value_or(0),
                               number(*named, "p_e").value_or(0),
                               methods::from_layered(named->network),
                               accuracy,
                               true,
                               {}});
    trial.names.push_back(named->id);
    trial.result.epochs = static_cast<int>(number(*named, "epochs").value_or(0));
  }
  return trial;
}

class GivenWork : public Work {
 public:
  GivenWork(std::span<const Run> runs, const std::vector<std::string>& files) : planned_(runs.size()) {
    std::vector<NamedNetwork> networks;
    for (const std::string& file : files) {
      std::ranges::move(models::read_layered_networks(file), std::back_inserter(networks));
    }
    std::unordered_map<std::string, std::vector<const NamedNetwork*>> by_key;
    for (const NamedNetwork& named : networks) {
      by_key[key_of(named)].push_back(&named);
    }
    std::set<const NamedNetwork*> used;
    for (const Run& run : runs) {
      const methods::SculptRun spec = sculpt_run(run.values);
      const auto found = by_key.find(key_of(spec.task, spec.hidden, static_cast<double>(spec.seed)));
      std::vector<const NamedNetwork*> own;
      if (found != by_key.end()) {
        std::ranges::copy_if(found->second, std::back_inserter(own),
                             [&](const NamedNetwork* named) { return is_of(*named, spec); });
      }
      if (!own.empty()) {
        trials_.push_back(make_trial(run, spec, tasks::cached_task(spec.task)->tasks.front(), own));
        used.insert(own.begin(), own.end());
      }
    }
    networks_ = networks.size();
    used_ = used.size();
    if (trials_.empty()) {
      throw ConfigError(
          fmt::format("none of the {} networks in {} is of the study", networks.size(), join_text(files, ", ")));
    }
  }

  double estimate_seconds() override { return 0; }
  void execute(const Sink& sink) override {
    std::vector<FinishedRun> finished;
    for (const GivenTrial& trial : trials_) {
      const methods::SculptRun spec = sculpt_run(trial.run->values);
      finished.push_back({trial.run, record_trial(*trial.run, spec, tasks::cached_task(spec.task)->tasks.front(),
                                                  trial.result, trial.names)});
    }
    sink(std::move(finished));
  }
  Status status(double /*seconds*/) const override { return {}; }
  void stop() override {}
  std::string remark() const override {
    return fmt::format("{} of {} networks are of this study, in {} of {} runs.", used_, networks_, trials_.size(),
                       planned_);
  }

 private:
  std::size_t planned_;
  std::size_t networks_ = 0;  // that there were, and
  std::size_t used_ = 0;      // that are of some trial
  std::vector<GivenTrial> trials_;
};

}  // namespace

std::unique_ptr<Work> judge_given(std::span<const Run> runs, const std::vector<std::string>& files) {
  return std::make_unique<GivenWork>(runs, files);
}

}  // namespace modlab::experiments

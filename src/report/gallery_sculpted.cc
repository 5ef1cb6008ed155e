#include "report/gallery_sculpted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "experiments/sculpt/sculpt.h"
#include "experiments/sculpt/trial_record.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/sculpt_settings.h"
#include "report/sculpted_drawing.h"
#include "report/some_evenly.h"
#include "report/tables.h"
#include "tasks/task_cache.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Findings;
using studies::Record;

constexpr std::size_t kMaxCells = 48;

// A trial as the store has it.
struct Trial {
  const Record* record = nullptr;
  methods::SculptRun spec;
  experiments::StoredTrial stored;

  const experiments::Run& run() const { return record->run->run; }
  double measure(const char* name) const { return record->measure(name); }
  // Of a dense network that did not learn nothing was carved.
  bool is_carved() const { return !stored.tied.empty(); }
  double edges() const { return measure("edges"); }
  const experiments::TiedNetwork& tied(std::size_t network) const { return stored.tied[network]; }
  // The first tied network that has the true modules, or has not.
  std::optional<std::size_t> first_with(bool success) const {
    const auto found = std::ranges::find(stored.tied, std::optional(success), &experiments::TiedNetwork::success);
    return found == stored.tied.end() ? std::nullopt
                                      : std::optional(static_cast<std::size_t>(found - stored.tied.begin()));
  }
  // Nothing where the task does not say what is true.
  std::optional<std::size_t> true_networks() const {
    if (!is_carved() || !tied(0).success) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(
        std::ranges::count(stored.tied, std::optional(true), &experiments::TiedNetwork::success));
  }
  std::size_t tied_networks() const { return stored.tied.size(); }
};

// A network to show, and why.
struct Choice {
  const Trial* trial = nullptr;
  std::optional<std::size_t> network;  // among the tied ones; none where nothing was carved
  std::vector<std::string> ranks;
};

// The networks of a cell that are worth a look, in the order in which they are shown.
class Choices {
 public:
  explicit Choices(const std::vector<Trial>& trials) : trials_(trials) {
    for (const Trial& trial : trials) {
      if (trial.is_carved()) {
        by_edges_.push_back(&trial);
      }
    }
    std::ranges::stable_sort(by_edges_, {}, &Trial::edges);
  }

  std::vector<Choice> choose() {
    if (!by_edges_.empty()) {
      add_typical();
      add_best();
    }
    add_failed();
    return std::move(choices_);
  }

 private:
  void add(const char* rank, const Trial& trial, std::optional<std::size_t> network) {
    for (Choice& choice : choices_) {
      if (choice.trial == &trial && choice.network == network) {
        choice.ranks.emplace_back(rank);
        return;
      }
    }
    choices_.push_back({&trial, network, {rank}});
  }

  // The median number of edges, and of the tied networks one of the majority.
  void add_typical() {
    const Trial& median = *by_edges_[(by_edges_.size() - 1) / 2];
    const std::optional<std::size_t> found = median.true_networks();
    add("typical", median, found ? median.first_with(2 * *found >= median.tied_networks()) : 0);
  }

  // The fewest edges with the true modules; the typical trial if it is one of those.
  void add_best() {
    const auto network_of = [](const Trial& trial) {
      return trial.true_networks() ? trial.first_with(true) : std::optional<std::size_t>(0);
    };
    const auto best =
        std::ranges::find_if(by_edges_, [&](const Trial* trial) { return network_of(*trial).has_value(); });
    if (best != by_edges_.end()) {
      const Trial* typical = choices_.front().trial;
      const bool is_typical = network_of(*typical) && typical->edges() == (*best)->edges();
      add("best", is_typical ? *typical : **best, network_of(is_typical ? *typical : **best));
    }
  }

  // The first trial without the true modules: rather one that has them in none of its networks, and rather one with
  // other modules than with nothing to look at.
  void add_failed() {
    const auto add_first = [&](const std::function<bool(const Trial&)>& is_wanted) {
      const auto found = std::ranges::find_if(trials_, is_wanted);
      if (found != trials_.end()) {
        add("failed", *found, found->first_with(false));
      }
      return found != trials_.end();
    };
    if (!add_first([](const Trial& trial) { return trial.first_with(false) && !trial.first_with(true); }) &&
        !add_first([](const Trial& trial) { return trial.first_with(false).has_value(); })) {
      add_first([](const Trial& trial) { return !trial.is_carved(); });
    }
  }

  const std::vector<Trial>& trials_;
  std::vector<const Trial*> by_edges_;
  std::vector<Choice> choices_;
};

// The command that carves this one network again.
std::string command_for(methods::SculptRun spec, int epochs, const experiments::TiedNetwork& tied) {
  spec.sculpt.epoch_search = false;
  spec.epochs = epochs;
  spec.sculpt.unit_steps = {tied.unit_step};
  spec.sculpt.edge_steps = {tied.edge_step};
  const auto values = methods::sculpt_settings().by_name(spec);
  const auto defaults = methods::sculpt_settings().by_name(methods::published_sculpt_run());
  std::string command = "modlab sculpt --task " + spec.task;
  for (const settings::Setting& setting : methods::sculpt_settings().settings()) {
    const nlohmann::json& value = values.at(setting.name);
    const bool is_said = setting.role == settings::Setting::Role::kPlain && value != defaults.at(setting.name);
    if (is_said || setting.role == settings::Setting::Role::kSeed) {
      std::string name = setting.name;
      std::ranges::replace(name, '_', '-');
      command += fmt::format(" --{} {}", name, settings::setting_text(value));
      if (command.ends_with(".0")) {
        command.resize(command.size() - 2);
      }
    }
  }
  return command;
}

double two_decimals(double value) { return std::round(100 * value) / 100; }

ordered_json history_json(const std::vector<methods::PruneStep>& steps) {
  ordered_json list = ordered_json::array();
  for (const methods::PruneStep& step : steps) {
    list.push_back({{"stage", methods::stage_name(step.stage)},
                    {"percent", two_decimals(step.percent)},
                    {"units", step.units},
                    {"edges", step.edges},
                    {"accuracy", two_decimals(step.accuracy)},
                    {"accepted", step.accepted}});
  }
  return list;
}

// Whether the history has the network after every accepted step, which its drawing needs.
bool has_networks(const methods::SculptedNetwork& carved) {
  const auto accepted = methods::accepted_steps(carved);
  return !accepted.empty() &&
         std::ranges::all_of(accepted, [](const methods::PruneStep* step) { return step->kept != nullptr; });
}

// A network without a history is drawn as if it had come about in one step.
methods::SculptedNetwork with_last_step(const methods::SculptedNetwork& carved) {
  methods::SculptedNetwork drawn = carved;
  if (!has_networks(carved)) {
    drawn.steps.clear();
    methods::PruneStep& last = drawn.steps.emplace_back();
    last.accepted = true;
    last.kept = std::make_shared<methods::KeptParameters>(methods::kept_parameters(carved.network));
  }
  return drawn;
}

int count_hidden(const std::vector<std::vector<int>>& live) {
  return std::accumulate(live.begin() + 1, live.end() - 1, 0,
                         [](int sum, const auto& layer) { return sum + static_cast<int>(layer.size()); });
}

int dense_edges(const methods::SculptRun& spec, const tasks::TaskSuite& suite) {
  int edges = 0;
  int below = suite.inputs();
  for (const int width : spec.hidden) {
    edges += below * width;
    below = width;
  }
  return edges + below * suite.outputs();
}

// What is known of the network itself. Where there is none, the dense one did not learn.
void add_network(const Choice& choice, const tasks::TaskSuite& suite, ordered_json& json) {
  for (const char* name : {"success", "edges", "units", "unit_step", "edge_step", "command", "drawing"}) {
    json[name] = nullptr;
  }
  json["history"] = ordered_json::array();
  if (!choice.network) {
    return;
  }
  const Trial& trial = *choice.trial;
  const experiments::TiedNetwork& tied = trial.tied(*choice.network);
  json["success"] = tied.success ? ordered_json(*tied.success) : ordered_json(nullptr);
  json["edges"] = trial.edges();
  json["unit_step"] = tied.unit_step;
  json["edge_step"] = tied.edge_step;
  if (!trial.stored.is_given) {
    json["command"] = command_for(trial.spec, trial.stored.epochs, tied);
  }
  if (!tied.carved) {
    return;
  }
  const methods::SculptedNetwork& carved = *tied.carved;
  const methods::Detection detection = methods::detect(methods::to_layered(carved.network), trial.spec.detect);
  json["units"] = count_hidden(detection.live);
  // Without the weights of its steps a history is only told.
  json["drawing"] = sculpted_drawing(with_last_step(carved), detection, suite.tasks.front());
  if (!carved.steps.empty()) {
    const auto accepted = methods::accepted_steps(carved);
    json["accuracy"] = accepted.empty() ? json["accuracy"] : ordered_json(two_decimals(accepted.back()->accuracy));
    if (has_networks(carved)) {
      json["history"] = history_json(carved.steps);
    }
  }
}

ordered_json choice_json(const Choice& choice) {
  const Trial& trial = *choice.trial;
  const auto suite = tasks::cached_task(trial.spec.task);
  const std::optional<std::size_t> found = trial.true_networks();
  ordered_json json;
  json["id"] = trial.run().id();
  json["ranks"] = choice.ranks;
  json["seed"] = trial.spec.seed;
  json["epochs"] = trial.stored.epochs;
  json["accuracy"] = two_decimals(trial.measure("dense_accuracy"));
  json["dense_edges"] = dense_edges(trial.spec, *suite);
  json["dense_units"] = std::accumulate(trial.spec.hidden.begin(), trial.spec.hidden.end(), 0);
  json["tied"] = trial.tied_networks();
  json["tied_true"] = found ? ordered_json(*found) : ordered_json(nullptr);
  add_network(choice, *suite, json);
  return json;
}

std::vector<Trial> trials_of(const Cell& cell, studies::Store& store) {
  std::vector<Trial> trials;
  for (const Cell::Split& split : cell.splits) {
    for (const Record* record : split.runs) {
      const experiments::Run& run = record->run->run;
      Trial trial{record, experiments::sculpt_run(run.values), {}};
      const auto suite = tasks::cached_task(trial.spec.task);
      trial.stored = experiments::read_trial(
          run, trial.spec, suite->tasks.front(), [&](const std::string& name) { return store.blob(run.id(), name); },
          store.path());
      // Of networks from elsewhere there may be only the dense one.
      if (trial.is_carved() || !trial.stored.is_given) {
        trials.push_back(std::move(trial));
      }
    }
  }
  return trials;
}

std::vector<const Cell*> cells_to_show(const Findings& findings) {
  const studies::Selector& gallery = findings.study().gallery;
  std::vector<const Cell*> cells;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Cell& cell : findings.cells()) {
    if (cell.example->run.kind != &experiments::sculpt()) {
      continue;
    }
    const bool is_wanted = gallery.empty()
                               ? seen.emplace(findings.value(cell, "task"), findings.value(cell, "series")).second
                               : findings.matches(cell, gallery);
    if (is_wanted) {
      cells.push_back(&cell);
    }
  }
  return cells;
}

}  // namespace

ordered_json gallery_sculpted(const Findings& findings, studies::Store& store) {
  const CellNames names(findings);
  ordered_json cells = ordered_json::array();
  for (const Cell* cell : some_evenly(cells_to_show(findings), kMaxCells)) {
    const studies::UnitValues found = studies::unit_values({cell}, "true_modules");
    ordered_json json;
    json["series"] = findings.value(*cell, "series");
    json["task"] = findings.value(*cell, "task");
    json["cell"] = json["series"].get<std::string>() + ", " + names.name(*cell);
    json["true_modules"] = found.empty() ? ordered_json(nullptr) : ordered_json(studies::mean_of(found));
    json["networks"] = ordered_json::array();
    const std::vector<Trial> trials = trials_of(*cell, store);
    json["trials"] = trials.size();
    json["learned"] = std::ranges::count_if(trials, &Trial::is_carved);
    for (const Choice& choice : Choices(trials).choose()) {
      json["networks"].push_back(choice_json(choice));
    }
    cells.push_back(std::move(json));
  }
  return cells;
}

}  // namespace modlab::report

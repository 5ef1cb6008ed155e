#include "report/gallery_sculpted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "io/json_text.h"
#include "methods/sculpt/sculpt.h"
#include "models/layered_network_file.h"
#include "models/settings.h"
#include "report/sculpted_drawing.h"
#include "report/some_evenly.h"
#include "report/tables.h"

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
  ordered_json details;

  double measure(const char* name) const { return record->values[studies::measure_index(name)]; }
  // Of a dense network that did not learn nothing was carved.
  bool is_carved() const { return !details.at("tied").empty(); }
  double edges() const { return measure("edges"); }
  const ordered_json& tied(std::size_t network) const { return details.at("tied").at(network); }
  // The first tied network that has the true modules, or has not.
  std::optional<std::size_t> first_with(bool success) const {
    const ordered_json& all = details.at("tied");
    for (std::size_t network = 0; network < all.size(); ++network) {
      if (all[network].at("success") == success) {
        return network;
      }
    }
    return std::nullopt;
  }
  // Nothing where the task does not say what is true.
  std::optional<std::size_t> true_networks() const {
    if (!is_carved() || !tied(0).at("success").is_boolean()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(std::ranges::count_if(
        details.at("tied"), [](const ordered_json& network) { return network.at("success") == true; }));
  }
  std::size_t tied_networks() const { return details.at("tied").size(); }
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
std::string command_for(models::RunSpec spec, int epochs, double unit_step, double edge_step) {
  spec.sculpt.epoch_search = false;
  spec.epochs = epochs;
  spec.sculpt.unit_steps = {unit_step};
  spec.sculpt.edge_steps = {edge_step};
  const models::RunSpec defaults = models::starting_spec(spec.task, models::ModelKind::kSculpted);
  std::string command = "modlab sculpt --task " + spec.task;
  for (const models::Setting& setting : models::settings()) {
    const nlohmann::json value = setting.get(spec);
    if (models::applies(setting, spec) && setting.name != "task" &&
        (setting.name == "seed" || value != setting.get(defaults))) {
      std::string name = setting.name;
      std::ranges::replace(name, '_', '-');
      command += fmt::format(" --{} {}", name, models::setting_text(value));
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

int count_hidden(const std::vector<std::vector<int>>& live) {
  return std::accumulate(live.begin() + 1, live.end() - 1, 0,
                         [](int sum, const auto& layer) { return sum + static_cast<int>(layer.size()); });
}

int dense_edges(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  int edges = 0;
  int below = suite.inputs();
  for (const int width : spec.hidden) {
    edges += below * width;
    below = width;
  }
  return edges + below * suite.outputs();
}

// The network again, with its history; nothing if it comes out otherwise than when it was stored, as it may where a
// later version trains in another way.
std::optional<methods::SculptedNetwork> carve(const Choice& choice, const tasks::TaskSuite& suite) {
  const ordered_json& tied = choice.trial->tied(*choice.network);
  try {
    methods::SculptedNetwork carved =
        methods::carve_again(choice.trial->record->run->spec, choice.trial->details.at("epochs"), suite, tied.at("p_u"),
                             tied.at("p_e"), engine::kernels());
    return carved.network.edge_count() == choice.trial->edges() ? std::optional(std::move(carved)) : std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;  // it did not learn
  }
}

// A network from elsewhere, which the store has whole but without a history.
methods::SculptedNetwork given_network(const ordered_json& tied) {
  const std::string& line = tied.at("network").get_ref<const std::string&>();
  const std::vector<models::NamedNetwork> read = models::parse_layered_networks(line, "a network in the store");
  methods::SculptedNetwork given;
  given.network = methods::from_layered(read.front().network);
  methods::PruneStep& last = given.steps.emplace_back();
  last.accepted = true;
  last.network = std::make_shared<methods::PrunedMlp>(given.network);
  return given;
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
  const ordered_json& tied = choice.trial->tied(*choice.network);
  json["success"] = tied.at("success");
  json["edges"] = choice.trial->edges();
  json["unit_step"] = tied.at("p_u");
  json["edge_step"] = tied.at("p_e");
  const models::RunSpec& spec = choice.trial->record->run->spec;
  const auto draw = [&](const methods::SculptedNetwork& network) {
    const methods::Detection detection = methods::detect(methods::to_layered(network.network), spec.detect);
    json["units"] = count_hidden(detection.live);
    json["drawing"] = sculpted_drawing(network, detection, suite.tasks.front());
  };
  if (tied.contains("network")) {
    draw(given_network(tied));
    return;
  }
  json["command"] = command_for(spec, choice.trial->details.at("epochs"), tied.at("p_u"), tied.at("p_e"));
  if (const std::optional<methods::SculptedNetwork> carved = carve(choice, suite)) {
    json["accuracy"] = two_decimals(carved->accuracy);
    json["history"] = history_json(carved->steps);
    draw(*carved);
  }
}

ordered_json choice_json(const Findings& findings, const Choice& choice) {
  const Trial& trial = *choice.trial;
  const studies::PlannedRun& run = *trial.record->run;
  const tasks::TaskSuite& suite = findings.plan().suite_of(run.spec);
  const std::optional<std::size_t> found = trial.true_networks();
  ordered_json json;
  json["id"] = run.id;
  json["ranks"] = choice.ranks;
  json["seed"] = run.spec.seed;
  json["epochs"] = trial.details.at("epochs");
  json["accuracy"] = two_decimals(trial.measure("dense_accuracy"));
  json["dense_edges"] = dense_edges(run.spec, suite);
  json["dense_units"] = std::accumulate(run.spec.hidden.begin(), run.spec.hidden.end(), 0);
  json["tied"] = trial.tied_networks();
  json["tied_true"] = found ? ordered_json(*found) : ordered_json(nullptr);
  add_network(choice, suite, json);
  return json;
}

std::vector<Trial> trials_of(const Cell& cell, studies::Store& store) {
  std::vector<Trial> trials;
  for (const Cell::Split& split : cell.splits) {
    for (const Record* record : split.runs) {
      if (const std::optional<std::string> details = store.sculpt_details(record->run->id)) {
        Trial trial{record, io::parse_json(*details)};
        // Of networks from elsewhere there may be only the dense one.
        if (trial.is_carved() || !trial.details.value("given", false)) {
          trials.push_back(std::move(trial));
        }
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
  if (!findings.plan().is_sculpted()) {
    return nullptr;
  }
  const CellNames names(findings);
  ordered_json cells = ordered_json::array();
  for (const Cell* cell : some_evenly(cells_to_show(findings), kMaxCells)) {
    const studies::UnitValues found = studies::unit_values({cell}, studies::measure_index("true_modules"));
    ordered_json json;
    json["series"] = findings.value(*cell, "series");
    json["task"] = findings.value(*cell, "task");
    json["cell"] = json["series"].get<std::string>() + ", " + names.name(*cell);
    json["true_modules"] = found.empty() ? ordered_json(nullptr) : ordered_json(studies::mean_of(found));
    json["networks"] = ordered_json::array();
    try {
      const std::vector<Trial> trials = trials_of(*cell, store);
      json["trials"] = trials.size();
      json["learned"] = std::ranges::count_if(trials, &Trial::is_carved);
      for (const Choice& choice : Choices(trials).choose()) {
        json["networks"].push_back(choice_json(findings, choice));
      }
    } catch (const ordered_json::exception&) {
      throw FormatError(
          fmt::format("{}: the details of a sculpted network of {} are damaged; sculpt it again into "
                      "another folder",
                      store.path(), json["cell"].get<std::string>()));
    }
    cells.push_back(std::move(json));
  }
  return cells;
}

}  // namespace modlab::report

#include "report/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "io/compress.h"
#include "measures/specialisation.h"
#include "models/blueprint.h"
#include "models/learned_routing.h"
#include "models/population.h"
#include "report/gallery_images.h"
#include "report/some_evenly.h"
#include "report/tables.h"
#include "report/wiring_picture.h"
#include "studies/curve.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Findings;
using studies::Record;

constexpr std::size_t kMaxCells = 24;
constexpr std::size_t kCurvePoints = 160;

// Nodes of a network and of the truth under the names they have in the picture.
struct Drawing {
  const tasks::Routing& routing;
  const tasks::Task& task;
  const std::optional<measures::InSitu>& in_situ;
  WiringPicture picture;

  int gate_of(int level, int slot) const {
    return in_situ ? in_situ->matching[static_cast<std::size_t>(level) - 1][static_cast<std::size_t>(slot)] : -1;
  }

  void add_nodes() {
    for (std::size_t input = 0; input < task.input_names.size(); ++input) {
      picture.add_node(WiringPicture::node_id(0, static_cast<int>(input)), "input", 0, static_cast<int>(input),
                       task.input_names[input]);
    }
    std::size_t slot_number = 0;
    for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
      for (std::size_t slot = 0; slot < routing.inputs[level].size(); ++slot, ++slot_number) {
        add_slot(static_cast<int>(level) + 1, static_cast<int>(slot), slot_number);
      }
    }
    for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
      picture.add_node(WiringPicture::output_id(static_cast<int>(output)), "output",
                       static_cast<int>(routing.inputs.size()) + 1, static_cast<int>(output),
                       task.output_names[output]);
    }
  }

  void add_slot(int level, int slot, std::size_t slot_number) {
    ordered_json& node =
        picture.add_node(WiringPicture::node_id(level, slot), "module", level, slot, fmt::format("{}.{}", level, slot));
    if (!routing.modules.empty()) {
      node["pool"] = routing.modules[static_cast<std::size_t>(level) - 1][static_cast<std::size_t>(slot)];
    }
    if (!in_situ) {
      return;
    }
    const int gate = gate_of(level, slot);
    if (gate < 0) {
      node["surplus"] = true;
      return;
    }
    const tasks::FunctionGraph& graph = *task.graph;
    std::size_t gate_number = 0;
    for (int below = 0; below + 1 < level; ++below) {
      gate_number += graph.levels[static_cast<std::size_t>(below)].size();
    }
    node["gate"] =
        tasks::gate_text(graph, graph.levels[static_cast<std::size_t>(level) - 1][static_cast<std::size_t>(gate)]);
    node["correlation"] = in_situ->correlation[slot_number][gate_number + static_cast<std::size_t>(gate)];
  }

  // Where a node of the truth lies in the network, or nothing if no slot is matched with it.
  std::optional<std::string> place_of(const tasks::Wire& wire) const {
    if (wire.level == 0) {
      return WiringPicture::node_id(0, wire.index);
    }
    const auto level = static_cast<std::size_t>(wire.level) - 1;
    if (level >= in_situ->matching.size()) {
      return std::nullopt;
    }
    const std::vector<int>& matching = in_situ->matching[level];
    const auto found = std::ranges::find(matching, wire.index);
    return found == matching.end()
               ? std::nullopt
               : std::optional(WiringPicture::node_id(wire.level, static_cast<int>(found - matching.begin())));
  }

  // Nothing where there is no truth to draw over.
  std::optional<WiringPicture::Edges> true_edges() const {
    if (!in_situ) {
      return std::nullopt;
    }
    WiringPicture::Edges truth;
    const tasks::FunctionGraph& graph = *task.graph;
    const auto add = [&](const tasks::Wire& from, const std::optional<std::string>& to) {
      if (const std::optional<std::string> place = place_of(from); place && to) {
        truth.emplace(*place, *to);
      }
    };
    for (std::size_t level = 0; level < graph.levels.size(); ++level) {
      for (std::size_t gate = 0; gate < graph.levels[level].size(); ++gate) {
        const std::optional<std::string> place = place_of({static_cast<int>(level) + 1, static_cast<int>(gate), false});
        for (const tasks::Wire& wire : graph.levels[level][gate].inputs) {
          add(wire, place);
        }
      }
    }
    for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
      add(graph.outputs[output], WiringPicture::output_id(static_cast<int>(output)));
    }
    return truth;
  }
};

std::optional<std::vector<float>> parameters_of(studies::Store& store, const std::string& id, const char* snapshot,
                                                std::size_t count) {
  const std::optional<std::string> stored = store.weights(id, snapshot);
  if (!stored) {
    return std::nullopt;
  }
  const std::string bytes = io::expand(*stored, count * sizeof(float), store.path());
  std::vector<float> parameters(count);
  std::memcpy(parameters.data(), bytes.data(), bytes.size());
  return parameters;
}

ordered_json graph_json(const Findings& findings, studies::Store& store, const studies::PlannedRun& run) {
  if (run.spec.on_images) {
    return image_graph(findings, store, run);
  }
  const tasks::TaskSuite& suite = findings.plan().suite_of(run.spec);
  const models::Blueprint blueprint = models::make_blueprint(run.spec, suite);
  const std::optional<std::vector<float>> parameters =
      parameters_of(store, run.id, snapshot_name(findings), blueprint.layout.count);
  if (!parameters) {
    return nullptr;
  }
  const auto* shape = std::get_if<models::ModularShape>(&blueprint.shape);
  if (shape == nullptr) {
    return nullptr;
  }
  const std::vector<tasks::Routing> routing = models::learned_routing(*shape, *parameters);
  std::optional<measures::InSitu> in_situ;
  try {
    in_situ = measures::in_situ_correlation(blueprint, suite, 0, *parameters);
  } catch (const ConfigError&) {
    // The best matching cannot be found in time: the network is drawn without the truth.
  }
  Drawing drawing{routing.front(), suite.tasks.front(), in_situ, {}};
  drawing.add_nodes();
  drawing.picture.add_edges(WiringPicture::edges_of(routing.front()), drawing.true_edges());
  return drawing.picture.json();
}

// Some epochs evenly, and the best one: what it reached must be in the picture.
std::set<std::size_t> epochs_to_draw(std::size_t epochs, std::size_t best) {
  std::set<std::size_t> chosen = {best, epochs};
  const std::size_t step = std::max<std::size_t>(1, epochs / kCurvePoints);
  for (std::size_t epoch = 1; epoch <= epochs; epoch += step) {
    chosen.insert(epoch);
  }
  return chosen;
}

ordered_json curve_json(studies::Store& store, const Record& record) {
  const studies::PlannedRun& run = *record.run;
  const std::size_t parts = run.spec.on_images ? engine::kScoreParts : engine::kParts;
  const char* const names[] = {"train", "validation", "test", "seen"};
  ordered_json json = {{"epochs", ordered_json::array()}};
  for (std::size_t part = 0; part < parts; ++part) {
    json[names[part]] = ordered_json::array();
  }
  const std::optional<std::string> stored = store.curve(run.id);
  if (!stored) {
    return json;
  }
  const studies::Curve curve = studies::decode_curve(*stored, run.spec.epochs, parts, store.path());
  for (const std::size_t epoch :
       epochs_to_draw(static_cast<std::size_t>(run.spec.epochs), static_cast<std::size_t>(record.best_epoch))) {
    json["epochs"].push_back(epoch);
    for (std::size_t part = 0; part < parts; ++part) {
      const double accuracy = 100.0 * curve.right_bits[part][epoch - 1] / (record.rows[part] * record.rows.outputs);
      json[names[part]].push_back(std::round(10 * accuracy) / 10);
    }
  }
  return json;
}

std::vector<const Cell*> gallery_cells(const Findings& findings) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    // A network without modules has nothing to draw, but on images there is something to look at.
    const models::RunSpec& spec = cell.example->spec;
    if ((!spec.is_mlp() || spec.on_images) && findings.matches(cell, findings.study().gallery)) {
      cells.push_back(&cell);
    }
  }
  return some_evenly(cells, kMaxCells);
}

}  // namespace

ordered_json gallery(const Findings& findings, studies::Store& store) {
  const std::size_t test = studies::measure_index("test_accuracy");
  const std::size_t train = studies::measure_index("train_accuracy");
  const std::size_t validation = studies::measure_index("validation_accuracy");
  const std::size_t seen = studies::measure_index("seen_accuracy");
  const std::size_t distance = studies::measure_index("edit_distance");
  const std::size_t updates = studies::measure_index("updates");
  const CellNames names(findings);
  ordered_json networks = ordered_json::array();
  for (const Cell* cell : gallery_cells(findings)) {
    std::vector<std::pair<const Record*, const Cell::Split*>> runs;
    for (const Cell::Split& split : cell->splits) {
      for (const Record* record : split.runs) {
        runs.emplace_back(record, &split);
      }
    }
    std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
      const double first = a.first->values[test];
      const double second = b.first->values[test];
      return first != second ? first > second : a.first->values[updates] < b.first->values[updates];
    });
    const std::pair<const char*, std::size_t> ranks[] = {
        {"best", 0}, {"median", runs.size() / 2}, {"worst", runs.size() - 1}};
    std::set<std::size_t> shown;
    for (const auto& [rank, at] : ranks) {
      if (!shown.insert(at).second) {
        continue;
      }
      const auto& [record, split] = runs[at];
      const studies::PlannedRun& run = *record->run;
      ordered_json json;
      json["id"] = run.id;
      json["cell"] = findings.value(*cell, "series") + ", " + names.name(*cell);
      json["rank"] = rank;
      json["series"] = findings.value(*cell, "series");
      json["task"] = run.spec.task;
      json["settings"] = fmt::format("{}{}split {}, seed {}", split->settings, split->settings.empty() ? "" : ", ",
                                     run.spec.split_seed, run.spec.seed);
      json["accuracy"] = {
          {"train", record->values[train]}, {"validation", record->values[validation]}, {"test", record->values[test]}};
      json["best_epoch"] = record->best_epoch;
      const double edits = record->values[distance];
      json["edit_distance"] = edits == edits ? ordered_json(edits) : ordered_json(nullptr);
      try {
        json["graph"] = graph_json(findings, store, run);
        json["curve"] = curve_json(store, *record);
        if (run.spec.on_images) {
          json["accuracy"]["seen"] = record->values[seen];
          json["images"] = gallery_images(findings, store, run);
        }
      } catch (const ordered_json::exception&) {
        throw FormatError(fmt::format("{}: the image details of run {} are damaged; train it again into another folder",
                                      store.path(), run.id));
      }
      networks.push_back(std::move(json));
    }
  }
  return networks;
}

}  // namespace modlab::report

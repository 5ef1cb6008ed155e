#include "report/gallery_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/errors.h"
#include "experiments/bits/bits.h"
#include "experiments/training/training_text.h"
#include "measures/specialisation.h"
#include "models/blueprint.h"
#include "models/learned_routing.h"
#include "report/network_view.h"
#include "report/wiring_picture.h"
#include "tasks/task_cache.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

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
        picture.add_node(WiringPicture::node_id(level, slot), "module", level, slot,
                         slot_name(static_cast<std::size_t>(level) - 1, static_cast<std::size_t>(slot)));
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
    const tasks::Gate& matched = graph.levels[static_cast<std::size_t>(level) - 1][static_cast<std::size_t>(gate)];
    picture.set_needs(WiringPicture::node_id(level, slot), tasks::gate_function(matched).inputs.size());
    node["gate"] = tasks::gate_text(graph, matched);
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
        for (const tasks::Wire& wire : tasks::gate_function(graph.levels[level][gate]).inputs) {
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

ordered_json graph_of(const studies::Findings& findings, studies::Store& store, const experiments::Run& run) {
  const models::RunSpec spec = experiments::bit_spec(run.values);
  const auto suite = tasks::cached_task(spec.task);
  const models::Blueprint blueprint = models::make_blueprint(spec, *suite);
  const std::optional<std::string> stored = store.blob(run.id(), "weights/" + findings.study().analysis.snapshot);
  if (!stored || !std::holds_alternative<models::ModularShape>(blueprint.shape)) {
    return nullptr;
  }
  return wiring_of_bits(blueprint, *suite, experiments::stored_weights(*stored, blueprint.layout.count, store.path()));
}

}  // namespace

ordered_json wiring_of_bits(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                            const std::vector<float>& parameters) {
  const std::vector<tasks::Routing> routing =
      models::learned_routing(std::get<models::ModularShape>(blueprint.shape), parameters);
  std::optional<measures::InSitu> in_situ;
  try {
    in_situ = measures::in_situ_correlation(blueprint, suite, 0, parameters);
  } catch (const ConfigError&) {
    // The best matching cannot be found in time: the network is drawn without the truth.
  }
  Drawing drawing{routing.front(), suite.tasks.front(), in_situ, {}};
  drawing.add_nodes();
  drawing.picture.add_edges(WiringPicture::edges_of(routing.front()), drawing.true_edges());
  return drawing.picture.json();
}

ordered_json gallery_bits(const studies::Findings& findings, studies::Store& store) {
  return gallery_of_networks(
      findings, store,
      {.kind = &experiments::bits(),
       .parts = {"train", "validation", "test"},
       // A network without modules has nothing to draw.
       .is_shown = [](const experiments::Run& run) { return !experiments::bit_spec(run.values).is_mlp(); },
       .add = [&](const experiments::Run& run,
                  ordered_json& json) { json["graph"] = graph_of(findings, store, run); }});
}

}  // namespace modlab::report

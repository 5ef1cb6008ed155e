#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/image_look.h"
#include "cli/snapshot.h"
#include "cli/verbs.h"
#include "core/text.h"
#include "io/json_text.h"
#include "measures/flops.h"
#include "measures/matching.h"
#include "measures/network_measures.h"
#include "measures/specialisation.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"
#include "models/settings.h"

namespace modlab::cli {
namespace {

using measures::Counting;
using nlohmann::ordered_json;

const std::vector<Option>& measure_options() {
  static const std::vector<Option> kOptions = {
      snapshot_option(),
      {"relaxed", Arity::kSwitch, "", "also the edit distance that lets any node stand for any other, at a price", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_measure_help() {
  fmt::print(
      "modlab measure: how near a saved network is to the true structure, and what it cost\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0 --save nets\n"
      "  modlab measure nets/*.safetensors\n\n{}",
      describe_options(measure_options()));
}

struct TaskMeasures {
  double accuracy = 0;  // percent, over the whole truth table
  std::optional<measures::InSitu> in_situ;
  std::optional<int> relaxed;
};

struct Cost {
  measures::FlopCount count;
  double updates = 0;
  double flops = 0;
};

struct Measured {
  Snapshot snapshot;
  std::vector<TaskMeasures> tasks;
  measures::NetworkMeasures network;
  std::optional<measures::Specialisation> specialisation;
  std::optional<Cost> paper;
  std::optional<Cost> exact;
};

std::optional<Cost> cost_of(const Snapshot& snapshot, Counting counting) {
  const models::RunSpec& spec = snapshot.network.spec;
  const std::optional<int> epoch = snapshot.epoch();
  if (!epoch) {
    return std::nullopt;
  }
  const int rows = models::part_rows(spec, snapshot.network.suite).train;
  Cost cost;
  cost.count = measures::count_flops(spec, snapshot.network.suite, counting);
  cost.updates = measures::updates_to_epoch(*epoch, rows, spec.batch_size, counting);
  cost.flops = measures::training_flops(cost.count, *epoch, rows, spec.batch_size, counting);
  return cost;
}

std::optional<int> relaxed_distance(const Snapshot& snapshot, int task) {
  const auto* shape = std::get_if<models::ModularShape>(&snapshot.network.blueprint.shape);
  const std::vector<tasks::Task>& tasks = snapshot.network.suite.tasks;
  if (shape == nullptr || !tasks[task].graph) {
    return std::nullopt;
  }
  const tasks::Routing routing = models::learned_routing(*shape, snapshot.parameters())[task];
  return measures::relaxed_edit_distance(measures::compared_part(routing, shape->inputs, tasks.size() > 1).wiring,
                                         measures::wiring_of(*tasks[task].graph));
}

Measured measure(const std::string& path, const std::string& name, bool with_relaxed) {
  Measured measured{load_snapshot(path, name), {}, {}, {}, {}, {}};
  const Snapshot& snapshot = measured.snapshot;
  const models::SavedNetwork& network = snapshot.network;
  measured.paper = cost_of(snapshot, Counting::kPaper);
  measured.exact = cost_of(snapshot, Counting::kExact);
  if (network.spec.on_images) {
    measured.network = look_at_images(snapshot).measures;
    return measured;
  }
  for (int task = 0; task < static_cast<int>(network.suite.tasks.size()); ++task) {
    TaskMeasures found;
    found.accuracy =
        100 * models::bit_accuracy(models::plain_forward(network.blueprint, snapshot.parameters(), network.suite, task),
                                   network.suite.tasks[task].table);
    found.in_situ = measures::in_situ_correlation(network.blueprint, network.suite, task, snapshot.parameters());
    if (with_relaxed) {
      found.relaxed = relaxed_distance(snapshot, task);
    }
    measured.tasks.push_back(std::move(found));
  }
  measured.network = measures::measure_network(network.blueprint, network.suite, snapshot.parameters());
  measured.specialisation = measures::specialisation(network.blueprint, network.suite, snapshot.parameters());
  return measured;
}

// Spaces at the end of a line are a nuisance to whoever copies it.
std::string without_end(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

// One level: slots by gates, the matched pair with a star.
void print_level(const measures::InSitu& in_situ, const std::vector<tasks::Gate>& gates, std::size_t level,
                 std::size_t first_slot, std::size_t first_gate) {
  std::string heading = fmt::format("  level {:<3}", level + 1);
  for (const tasks::Gate& gate : gates) {
    heading += fmt::format(" {:>7} ", gate.name);
  }
  fmt::print("{}\n", without_end(heading));
  for (std::size_t slot = 0; slot < in_situ.matching[level].size(); ++slot) {
    std::string line = fmt::format("  slot {:<4}", slot_name(level, slot));
    for (std::size_t gate = 0; gate < gates.size(); ++gate) {
      const bool is_match = in_situ.matching[level][slot] == static_cast<int>(gate);
      // Adding zero turns -0 into 0.
      const double rho = std::round(100 * in_situ.correlation[first_slot + slot][first_gate + gate]) / 100 + 0.0;
      line += fmt::format(" {:>7.2f}{}", rho, is_match ? "*" : " ");
    }
    if (in_situ.matching[level][slot] < 0) {
      line += "  surplus";
    }
    fmt::print("{}\n", without_end(line));
  }
}

void print_task(const Measured& measured, std::size_t index) {
  const tasks::Task& task = measured.snapshot.network.suite.tasks[index];
  const TaskMeasures& found = measured.tasks[index];
  if (measured.tasks.size() > 1) {
    fmt::print("Task {}\n", task.name);
  }
  fmt::print("{:.2f} % of the bits of the whole truth table are right.\n", found.accuracy);
  if (!found.in_situ) {
    return;
  }
  fmt::print("Edit distance to the true graph: {}{}\n", found.in_situ->distance,
             found.relaxed ? fmt::format(" (relaxed: {})", *found.relaxed) : "");
  fmt::print("Correlation of slots (rows) with gates (columns) over all rows, * matched{}:\n",
             measured.tasks.size() > 1 ? ", surplus also where only other tasks use it" : "");
  std::size_t first_slot = 0;
  std::size_t first_gate = 0;
  for (std::size_t level = 0; level < found.in_situ->matching.size(); ++level) {
    if (level < task.graph->levels.size()) {
      print_level(*found.in_situ, task.graph->levels[level], level, first_slot, first_gate);
      first_gate += task.graph->levels[level].size();
    } else {
      fmt::print("  level {} stands on no level of the graph: all its slots are surplus\n", level + 1);
    }
    first_slot += found.in_situ->matching[level].size();
  }
  fmt::print("Mean |rho| of gates with their slots: {:.3f}\n", found.in_situ->mean);
}

// Why something is missing above.
void print_what_does_not_apply(const Measured& measured) {
  const models::RunSpec& spec = measured.snapshot.network.spec;
  const bool has_graphs = std::ranges::all_of(measured.snapshot.network.suite.tasks,
                                              [](const tasks::Task& task) { return task.graph.has_value(); });
  if (spec.is_mlp()) {
    fmt::print(
        "A monolithic network has no modules: edit distance, specialisation and correlation with gates do\n"
        "not apply to it.\n");
  } else if (!has_graphs) {
    fmt::print("Task {} has no known graph: edit distance, specialisation and correlation with gates do not apply.\n",
               spec.task);
  } else if (!measured.specialisation) {
    fmt::print("Specialisation does not apply: it needs modules and level-1 gates of two inputs.\n");
  }
}

void print_text(const Measured& measured) {
  fmt::print("{}\n", snapshot_heading(measured.snapshot));
  for (std::size_t task = 0; task < measured.tasks.size(); ++task) {
    print_task(measured, task);
  }
  if (measured.specialisation) {
    std::vector<std::string> modules;
    for (const double rho : measured.specialisation->modules) {
      modules.push_back(fmt::format("{:.2f}", rho));
    }
    fmt::print("Specialisation of level 1: mean |rho| {:.3f}, most {:.3f} (slots {})\n", measured.specialisation->mean,
               measured.specialisation->max, join_text(modules, ", "));
  }
  if (!std::isnan(measured.network.module_reuse)) {
    fmt::print("Modules in use that serve two tasks or more: {:.0f} %\n", 100 * measured.network.module_reuse);
  }
  if (!measured.snapshot.network.spec.on_images) {
    print_what_does_not_apply(measured);
  } else if (measured.snapshot.network.spec.is_mlp()) {
    fmt::print("A network without modules: edit distance and specialisation do not apply to it.\n");
  } else {
    fmt::print("Edit distance to the true graph: {}\n", measured.network.edit_distance);
    fmt::print("|correlation| of the image slots with the digits' bits: {:.3f}\n",
               measured.network.image_specialisation);
  }
  if (measured.paper && measured.exact) {
    fmt::print("\nTo this epoch             updates          FLOPs   forward  backward    update\n");
    for (const auto& [name, cost] :
         {std::pair{"the paper's count", &measured.paper}, {"the exact count", &measured.exact}}) {
      fmt::print("{:<20} {:>12.0f} {:>14.0f} {:>9.0f} {:>9.0f} {:>9.0f}\n", name, (*cost)->updates, (*cost)->flops,
                 (*cost)->count.forward, (*cost)->count.backward, (*cost)->count.update);
    }
  }
}

ordered_json cost_json(const std::optional<Cost>& cost) {
  if (!cost) {
    return nullptr;
  }
  const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
  return {{"forward", whole(cost->count.forward)},
          {"backward", whole(cost->count.backward)},
          {"update", whole(cost->count.update)},
          {"updates", whole(cost->updates)},
          {"training_flops", whole(cost->flops)}};
}

void print_json(const Measured& measured) {
  const Snapshot& snapshot = measured.snapshot;
  ordered_json output = models::settings_json(snapshot.network.spec);
  output["snapshot"] = snapshot.name;
  output["epoch"] = snapshot.epoch() ? ordered_json(*snapshot.epoch()) : ordered_json();
  const char* const test = snapshot.network.spec.on_images ? "unseen_accuracy" : "test_accuracy";
  for (const char* key : {"train_accuracy", "validation_accuracy", test}) {
    output[key] = snapshot.score(key);
  }
  if (snapshot.network.spec.on_images) {
    output["seen_accuracy"] = snapshot.score("seen_accuracy");
    output["image_specialisation"] = io::number_or_null(measured.network.image_specialisation);
  }
  output["edit_distance"] = io::number_or_null(measured.network.edit_distance);
  output["specialisation"] = io::number_or_null(measured.network.specialisation);
  output["specialisation_max"] = io::number_or_null(measured.network.specialisation_max);
  output["in_situ"] = io::number_or_null(measured.network.in_situ);
  output["module_reuse"] = io::number_or_null(measured.network.module_reuse);
  for (std::size_t index = 0; index < measured.tasks.size(); ++index) {
    const TaskMeasures& found = measured.tasks[index];
    ordered_json task = {{"task", snapshot.network.suite.tasks[index].name}, {"accuracy", found.accuracy}};
    if (found.in_situ) {
      task["edit_distance"] = found.in_situ->distance;
      if (found.relaxed) {
        task["relaxed_edit_distance"] = *found.relaxed;
      }
      task["matching"] = found.in_situ->matching;
      task["in_situ"] = found.in_situ->mean;
      task["correlation"] = found.in_situ->correlation;
    }
    output["tasks"].push_back(std::move(task));
  }
  output["flops"] = cost_json(measured.paper);
  output["flops_exact"] = cost_json(measured.exact);
  fmt::print("{}\n", output.dump());
}

}  // namespace

int run_measure(std::span<const std::string> words) {
  const Arguments arguments(words, measure_options());
  if (arguments.has("help")) {
    print_measure_help();
    return 0;
  }
  const std::string name = snapshot_name(arguments);
  for (std::size_t index = 0; index < arguments.positional().size(); ++index) {
    const Measured measured = measure(arguments.positional()[index], name, arguments.is_on("relaxed"));
    if (arguments.is_on("json")) {
      print_json(measured);
      continue;
    }
    if (index > 0) {
      fmt::print("\n");
    }
    print_text(measured);
  }
  return 0;
}

}  // namespace modlab::cli

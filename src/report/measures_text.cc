#include "report/measures_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "report/module_use_text.h"
#include "report/network_text.h"
#include "report/network_view.h"

namespace modlab::report {
namespace {

using measures::SnapshotMeasures;
using models::SavedSnapshot;

// Spaces at the end of a line are a nuisance to whoever copies it.
std::string without_end(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

// One level: slots by gates, the matched pair with a star.
std::string level_text(const measures::InSitu& in_situ, const std::vector<tasks::Gate>& gates, std::size_t level,
                       std::size_t first_slot, std::size_t first_gate) {
  std::string heading = fmt::format("  level {:<3}", level + 1);
  for (const tasks::Gate& gate : gates) {
    heading += fmt::format(" {:>7} ", gate.name);
  }
  std::string text = without_end(heading) + "\n";
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
    text += without_end(line) + "\n";
  }
  return text;
}

std::string measured_task_text(const SavedSnapshot& snapshot, const SnapshotMeasures& measured, std::size_t index) {
  const tasks::Task& task = snapshot.network.suite.tasks[index];
  const measures::TaskMeasures& found = measured.tasks[index];
  std::string text;
  if (measured.tasks.size() > 1) {
    text += fmt::format("Task {}\n", task.name);
  }
  text += fmt::format("{:.2f} % of the bits of the whole truth table are right.\n", found.accuracy);
  if (!found.in_situ) {
    return text;
  }
  text += fmt::format("Edit distance to the true graph: {}{}\n", found.in_situ->distance,
                      found.relaxed ? fmt::format(" (relaxed: {})", *found.relaxed) : "");
  text += fmt::format("Correlation of slots (rows) with gates (columns) over all rows, * matched{}:\n",
                      measured.tasks.size() > 1 ? ", surplus also where only other tasks use it" : "");
  std::size_t first_slot = 0;
  std::size_t first_gate = 0;
  for (std::size_t level = 0; level < found.in_situ->matching.size(); ++level) {
    if (level < task.graph->levels.size()) {
      text += level_text(*found.in_situ, task.graph->levels[level], level, first_slot, first_gate);
      first_gate += task.graph->levels[level].size();
    } else {
      text += fmt::format("  level {} stands on no level of the graph: all its slots are surplus\n", level + 1);
    }
    first_slot += found.in_situ->matching[level].size();
  }
  text += fmt::format("Mean |rho| of gates with their slots: {:.3f}\n", found.in_situ->mean);
  return text;
}

// Why something is missing above.
std::string what_does_not_apply(const SavedSnapshot& snapshot, const SnapshotMeasures& measured) {
  const models::RunSpec& spec = snapshot.network.spec;
  const bool has_graphs =
      std::ranges::all_of(snapshot.network.suite.tasks, [](const tasks::Task& task) { return task.graph.has_value(); });
  if (spec.is_mlp()) {
    return "A monolithic network has no modules: edit distance, specialisation and correlation with gates do\n"
           "not apply to it.\n";
  }
  if (!has_graphs) {
    return fmt::format(
        "Task {} has no known graph: edit distance, specialisation and correlation with gates do not apply.\n",
        spec.task);
  }
  return measured.specialisation ? ""
                                 : "Specialisation does not apply: it needs modules and level-1 gates of two inputs.\n";
}

// What training up to the snapshot took.
std::string costs_text(const SnapshotMeasures& measured) {
  std::string text;
  if (measured.paper && measured.exact) {
    text += "\nTo this epoch             updates          FLOPs   forward  backward    update\n";
    for (const auto& [name, cost] :
         {std::pair{"the paper's count", &measured.paper}, {"the exact count", &measured.exact}}) {
      text += fmt::format("{:<20} {:>12.0f} {:>14.0f} {:>9.0f} {:>9.0f} {:>9.0f}\n", name, (*cost)->updates,
                          (*cost)->flops, (*cost)->count.forward, (*cost)->count.backward, (*cost)->count.update);
    }
  }
  return text;
}

}  // namespace

std::string measures_text(const models::SavedImageSnapshot& snapshot, const SnapshotMeasures& measured) {
  std::string text = snapshot_heading(snapshot) + "\n";
  if (snapshot.network.spec.is_mlp()) {
    text += "A network without modules: edit distance and specialisation do not apply to it.\n";
  } else {
    text += fmt::format("Edit distance to the true graph: {}\n", measured.network.edit_distance);
    text += fmt::format("|correlation| of the image slots with the digits' bits: {:.3f}\n",
                        measured.network.image_specialisation);
  }
  return text + costs_text(measured);
}

std::string measures_text(const SavedSnapshot& snapshot, const SnapshotMeasures& measured) {
  std::string text = snapshot_heading(snapshot) + "\n";
  for (std::size_t task = 0; task < measured.tasks.size(); ++task) {
    text += measured_task_text(snapshot, measured, task);
  }
  if (measured.specialisation) {
    std::vector<std::string> modules;
    for (const double rho : measured.specialisation->modules) {
      modules.push_back(fmt::format("{:.2f}", rho));
    }
    text += fmt::format("Specialisation of level 1: mean |rho| {:.3f}, most {:.3f} (slots {})\n",
                        measured.specialisation->mean, measured.specialisation->max, join_text(modules, ", "));
  }
  if (!std::isnan(measured.network.module_reuse)) {
    text += fmt::format("Modules in use that serve two tasks or more: {:.0f} %\n", 100 * measured.network.module_reuse);
  }
  if (measured.pool) {
    text += "\n" + module_use_text(look_at_pool(*measured.pool));
  }
  text += what_does_not_apply(snapshot, measured);
  return text + costs_text(measured);
}

}  // namespace modlab::report

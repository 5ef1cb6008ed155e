#include "report/network_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "measures/snapshot_measures.h"
#include "models/plain_forward.h"
#include "models/training_settings.h"
#include "report/image_text.h"
#include "report/network_view.h"
#include "tasks/function_graph.h"

namespace modlab::report {
namespace {

// As a task file writes it.
std::string definition_text(const tasks::FunctionGraph& graph, const tasks::Gate& gate) {
  std::vector<std::string> reads;
  for (const tasks::Wire& wire : gate.inputs) {
    reads.push_back(tasks::wire_text(graph, wire));
  }
  return fmt::format("{} = {} {}", gate.name, tasks::op_name(gate.op), join_text(reads, " "));
}

std::string columns_text(const std::vector<std::array<std::string, 3>>& rows) {
  std::array<std::size_t, 2> widths{};
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < 2; ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    const std::string line = fmt::format("  {:<{}}   {:<{}}   {}", row[0], widths[0], row[1], widths[1], row[2]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string task_text(const models::SavedNetwork& network, const TaskView& view, int task_index) {
  const tasks::Task& task = network.suite.tasks[task_index];
  std::string text;
  if (network.suite.tasks.size() > 1) {
    text += fmt::format("Task {}\n", task.name);
  }
  std::vector<std::array<std::string, 3>> rows = {{"learned", "follows", task.graph ? "true" : ""}};
  const std::size_t true_levels = task.graph ? task.graph->levels.size() : 0;
  for (std::size_t level = 0; level < std::max(view.levels.size(), true_levels); ++level) {
    rows.push_back({fmt::format("level {}", level + 1), "", ""});
    const std::size_t slots = level < view.levels.size() ? view.levels[level].size() : 0;
    const std::size_t gates = level < true_levels ? task.graph->levels[level].size() : 0;
    for (std::size_t index = 0; index < std::max(slots, gates); ++index) {
      std::array<std::string, 3> row;
      if (index < slots) {
        const SlotView& slot = view.levels[level][index];
        row[0] = fmt::format("  {} = {}", slot.name, slot.reads);
        row[1] = slot.computes;
      }
      if (index < gates) {
        row[2] = definition_text(*task.graph, task.graph->levels[level][index]);
      }
      rows.push_back(row);
    }
  }
  rows.push_back({"outputs", "", ""});
  for (std::size_t output = 0; output < view.outputs.size(); ++output) {
    rows.push_back({fmt::format("  {} = {}", task.output_names[output], view.outputs[output]), "",
                    task.graph ? fmt::format("{} = {}", task.output_names[output],
                                             tasks::wire_text(*task.graph, task.graph->outputs[output]))
                               : ""});
  }
  text += columns_text(rows);
  text += fmt::format("\n{:.2f} % of the bits of the whole truth table are right.\n", 100 * view.accuracy);
  if (view.is_true_wiring) {
    text += fmt::format("{}\n", *view.is_true_wiring ? "The wiring is the true one, up to the names of the slots."
                                                     : "The wiring is not the true one.");
  }
  return text;
}

std::string mlp_text(const models::SavedNetwork& network, const std::vector<float>& parameters) {
  const auto& shape = std::get<models::MlpShape>(network.blueprint.shape);
  std::vector<std::string> widths;
  for (const int width : shape.widths) {
    widths.push_back(std::to_string(width));
  }
  std::size_t weights = 0;
  std::size_t kept = 0;
  for (const engine::Tensor& tensor : network.blueprint.layout.tensors) {
    if (tensor.shape.size() == 2) {
      weights += tensor.count;
      kept += static_cast<std::size_t>(
          std::count_if(parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                        parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset + tensor.count),
                        [](float weight) { return weight != 0; }));
    }
  }
  std::string text =
      fmt::format("Layers {}, {} weights, {} of them not zero. A monolithic network has no routing to show.\n",
                  join_text(widths, "-"), weights, kept);
  for (int task = 0; task < network.blueprint.data.tasks; ++task) {
    const models::PlainValues values = models::plain_forward(network.blueprint, parameters, network.suite, task);
    text += fmt::format("{:.2f} % of the bits of the whole truth table of {} are right.\n",
                        100 * models::bit_accuracy(values, network.suite.tasks[task].table),
                        network.suite.tasks[task].name);
  }
  return text;
}

template <typename Spec>
std::string heading_text(const models::SavedSnapshotOf<Spec>& snapshot, const std::vector<std::string>& parts) {
  const Spec& spec = snapshot.network.spec;
  const std::optional<int> epoch = snapshot.epoch();
  std::string accuracies;
  for (const std::string& part : parts) {
    accuracies +=
        fmt::format("{}{} {:.2f} %", accuracies.empty() ? "" : ", ", part, snapshot.score(part + "_accuracy"));
  }
  return fmt::format("{} on {}, seed {}, split {} at ratio {}: epoch {} ({})\n{} of bits\n",
                     models::model_name(spec.model), spec.task, spec.seed, spec.split_seed, spec.ratio,
                     epoch ? std::to_string(*epoch) : "unknown",
                     snapshot.name == "best" ? "first best validation" : "last", accuracies);
}

}  // namespace

std::string snapshot_heading(const models::SavedSnapshot& snapshot) {
  return heading_text(snapshot, {"train", "validation", "test"});
}

std::string snapshot_heading(const models::SavedImageSnapshot& snapshot) {
  return heading_text(snapshot, {"train", "validation", "unseen", "seen"});
}

std::string network_text(const models::SavedImageSnapshot& snapshot) {
  return snapshot_heading(snapshot) + "\n" +
         image_text(measures::view_images(snapshot), *snapshot.network.suite.images());
}

std::string network_text(const models::SavedSnapshot& snapshot) {
  const models::SavedNetwork& network = snapshot.network;
  std::string text = snapshot_heading(snapshot) + "\n";
  if (network.spec.is_mlp()) {
    return text + mlp_text(network, snapshot.parameters());
  }
  for (int task = 0; task < network.blueprint.data.tasks; ++task) {
    text += task_text(network, view_task(snapshot, task), task);
  }
  return text;
}

}  // namespace modlab::report

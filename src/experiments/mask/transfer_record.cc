#include "experiments/mask/transfer_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace modlab::experiments {
namespace {

std::string weights_of_layer(int layer) { return fmt::format("layers.{}.weight", layer - 1); }

// What a task's mask has in common with earlier ones in a layer, from 1; nothing if there is nothing to take over.
std::optional<measures::MaskOverlap> earlier_in(const methods::MaskStage& stage, int layer) {
  for (std::size_t tensor = 0; tensor < stage.earlier.size(); ++tensor) {
    if (stage.mask.tensors[tensor].name == weights_of_layer(layer) && stage.earlier[tensor].second > 0) {
      return stage.earlier[tensor];
    }
  }
  return std::nullopt;
}

int last_layer(const methods::MaskOutcome& outcome) {
  int layer = 1;
  while (outcome.stages.front().mask.find(weights_of_layer(layer + 1)) != nullptr) {
    ++layer;
  }
  return layer;
}

// Of all tensors together that have something to take over.
measures::MaskOverlap earlier_in_all(const methods::MaskStage& stage) {
  measures::MaskOverlap all;
  for (const measures::MaskOverlap& overlap : stage.earlier) {
    if (overlap.second > 0) {
      all += overlap;
    }
  }
  return all;
}

}  // namespace

std::vector<Measure> transfer_measures() {
  const std::pair<double, double> share{0, 1};
  std::vector<Measure> list;
  const auto add = [&](std::string name, std::string label, std::optional<std::pair<double, double>> domain,
                       const char* unit = "") {
    list.push_back({std::move(name), std::move(label), unit, false, domain, true, ""});
  };
  add("shared", "of a task's mask, what earlier masks keep too; mean over tasks", share);
  add("shared_chance", "the same of random masks that keep as much", share);
  add("shared_above_chance", "of a task's mask, what earlier masks keep too, above chance", std::nullopt);
  add("shared_hidden_rise", "sharing between hidden layers, of the last task above the second's", std::nullopt);
  add("shared_last_rise", "sharing in the last layer, of the last task above the second's", std::nullopt);
  add("last_above_hidden", "sharing of the last task in the last layer above that between hidden layers", std::nullopt);
  add("first_task_accuracy", "accuracy of the first task under its mask", std::pair{0.0, 100.0}, "%");
  add("last_task_accuracy", "accuracy of the last task under its mask", std::pair{0.0, 100.0}, "%");
  for (int layer = 1; layer <= kMostTransferLayers; ++layer) {
    add(fmt::format("used_layer{}", layer), fmt::format("weights of layer {} that any task's mask keeps", layer),
        share);
    for (int task = 2; task <= kMostTransferTasks; ++task) {
      add(fmt::format("shared_layer{}_t{}", layer, task),
          fmt::format("of task {}'s mask in layer {}, what earlier masks keep too", task, layer), share);
    }
  }
  return list;
}

void add_transfer_numbers(const methods::MaskOutcome& outcome, Numbers& numbers) {
  const int layers = last_layer(outcome);
  const auto tasks = static_cast<int>(outcome.stages.size());
  numbers["first_task_accuracy"] = outcome.stages.front().accuracy.back();
  numbers["last_task_accuracy"] = outcome.stages.back().accuracy.back();
  double shared = 0;
  double by_chance = 0;
  for (int task = 2; task <= tasks; ++task) {
    const methods::MaskStage& stage = outcome.stages[static_cast<std::size_t>(task) - 1];
    const measures::MaskOverlap all = earlier_in_all(stage);
    shared += all.of_first() / (tasks - 1);
    by_chance += all.of_first_by_chance() / (tasks - 1);
    for (int layer = 1; layer <= std::min(layers, kMostTransferLayers) && task <= kMostTransferTasks; ++layer) {
      if (const auto overlap = earlier_in(stage, layer)) {
        numbers[fmt::format("shared_layer{}_t{}", layer, task)] = overlap->of_first();
      }
    }
  }
  for (int layer = 1; layer <= std::min(layers, kMostTransferLayers); ++layer) {
    const bool is_own = std::ranges::find(outcome.own_tensors, weights_of_layer(layer)) != outcome.own_tensors.end();
    const models::MaskTensor* kept = outcome.stages.back().mask.find(weights_of_layer(layer));
    if (is_own || kept == nullptr) {
      continue;
    }
    std::vector<std::uint8_t> used(kept->kept.size());
    for (const methods::MaskStage& stage : outcome.stages) {
      const std::vector<std::uint8_t>& here = stage.mask.find(weights_of_layer(layer))->kept;
      std::ranges::transform(used, here, used.begin(), [](auto one, auto other) { return std::max(one, other); });
    }
    numbers[fmt::format("used_layer{}", layer)] =
        static_cast<double>(std::ranges::count(used, 1)) / static_cast<double>(used.size());
  }
  if (tasks < 2) {
    return;
  }
  numbers["shared"] = shared;
  numbers["shared_chance"] = by_chance;
  numbers["shared_above_chance"] = shared - by_chance;
  // Hidden layers between the first and the last, together.
  const auto in_hidden = [&](const methods::MaskStage& stage) {
    measures::MaskOverlap hidden;
    for (int layer = 2; layer < layers; ++layer) {
      hidden += earlier_in(stage, layer).value_or(measures::MaskOverlap{});
    }
    return hidden.of_first();
  };
  const auto in_last = [&](const methods::MaskStage& stage) {
    return earlier_in(stage, layers).value_or(measures::MaskOverlap{}).of_first();
  };
  const methods::MaskStage& second = outcome.stages[1];
  const methods::MaskStage& last = outcome.stages.back();
  numbers["shared_last_rise"] = in_last(last) - in_last(second);
  if (layers > 2) {
    numbers["shared_hidden_rise"] = in_hidden(last) - in_hidden(second);
    numbers["last_above_hidden"] = in_last(last) - in_hidden(last);
  }
}

}  // namespace modlab::experiments

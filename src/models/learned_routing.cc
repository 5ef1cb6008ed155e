#include "models/learned_routing.h"

#include <algorithm>
#include <numeric>

namespace modlab::models {
namespace {

// The k best of a column of [candidate][column], ties to the lower index.
std::vector<int> best_of_column(const std::vector<float>& parameters, std::size_t offset, int candidates, int columns,
                                int column, int k) {
  std::vector<int> order(candidates);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    const std::size_t first = offset + column;
    return parameters[first + static_cast<std::size_t>(a) * columns] >
           parameters[first + static_cast<std::size_t>(b) * columns];
  });
  order.resize(k);
  return order;
}

std::vector<tasks::Routing> routing_at(const ModularShape& shape, const SelectionPlaces& places,
                                       const std::vector<float>& parameters) {
  const auto picks = [&](std::size_t offset, int candidates, int columns, int task, int column, int k) {
    return best_of_column(parameters, offset + static_cast<std::size_t>(task) * candidates * columns, candidates,
                          columns, column, k);
  };
  std::vector<tasks::Routing> routings(shape.tasks);
  for (int task = 0; task < shape.tasks; ++task) {
    tasks::Routing& routing = routings[task];
    int below = shape.inputs;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      const int slots = shape.levels[level];
      routing.inputs.emplace_back();
      if (shape.pool > 0) {
        routing.modules.emplace_back();
      }
      for (int slot = 0; slot < slots; ++slot) {
        routing.inputs.back().push_back(picks(places.inputs[level], below, slots, task, slot, shape.picks(level)));
        if (shape.pool > 0) {
          routing.modules.back().push_back(picks(places.members[level], shape.pool, slots, task, slot, 1).front());
        }
      }
      below = slots;
    }
    routing.outputs = picks(places.outputs, shape.output_candidates(), 1, task, 0, shape.outputs);
    routing.outputs_from_all_levels = shape.outputs_from_all;
  }
  return routings;
}

}  // namespace

std::vector<tasks::Routing> learned_routing(const ModularShape& shape, const std::vector<float>& parameters) {
  return routing_at(shape, modular_layout(shape), parameters);
}

ImageRouting learned_routing(const ImageModularShape& shape, const std::vector<float>& parameters) {
  const ImageModularLayout places = image_modular_layout(shape);
  ImageRouting routing;
  for (int slot = 0; slot < shape.image_slots; ++slot) {
    const auto pick = [&](std::size_t tensor, int candidates) {
      const std::size_t offset = places.layout.tensors[tensor].offset;
      return best_of_column(parameters, offset, candidates, shape.image_slots, slot, 1).front();
    };
    routing.images.push_back(pick(places.image_inputs, shape.images));
    if (shape.bits.pool > 0) {
      routing.members.push_back(pick(places.image_members, shape.image_pool));
    }
  }
  routing.bits = routing_at(shape.bits, bit_selections(places), parameters).front();
  return routing;
}

}  // namespace modlab::models

#include "models/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace modlab::models {
namespace {

// Values of a fixed selection vector, as the published code has them. Only their order matters.
float fixed_logit(int position, int k) {
  return k == 2 ? (position == 0 ? 1.1F : 1.0F) : 1.1F - static_cast<float>(position) / 1000.0F;
}

// Sets one chooser's column of a tensor [task][candidate][column].
void fix_column(std::vector<float>& parameters, std::size_t offset, int candidates, int columns, int task, int column,
                const std::vector<int>& picks) {
  const auto at = [&](int candidate) -> float& {
    return parameters[offset + (static_cast<std::size_t>(task) * candidates + candidate) * columns + column];
  };
  for (int candidate = 0; candidate < candidates; ++candidate) {
    at(candidate) = 0;
  }
  for (std::size_t position = 0; position < picks.size(); ++position) {
    at(picks[position]) = fixed_logit(static_cast<int>(position), static_cast<int>(picks.size()));
  }
}

double initial_value(const engine::Tensor& tensor, Init init, RandomSequence& random) {
  const bool is_selection = tensor.fan_in == 0;
  if (is_selection) {
    return random.next_normal();
  }
  const bool is_bias = tensor.shape.size() == 1;
  const auto uniform = [&](double bound) { return bound * (2.0 * random.next_uniform() - 1.0); };
  switch (init) {
    case Init::kTorch:
      break;
    case Init::kXavier:
      return uniform(is_bias ? 0.0 : std::sqrt(6.0 / (tensor.fan_in + tensor.fan_out)));
    case Init::kKaiming:
      return is_bias ? 0.0 : std::sqrt(2.0 / tensor.fan_in) * random.next_normal();
  }
  return uniform(1.0 / std::sqrt(std::max(1, tensor.fan_in)));
}

}  // namespace

std::vector<float> initial_parameters(const engine::Layout& layout, Init init, std::uint64_t seed) {
  std::vector<float> parameters;
  parameters.reserve(layout.count);
  RandomSequence random(seed, Stream::kInitialWeights);
  for (const engine::Tensor& tensor : layout.tensors) {
    for (std::size_t element = 0; element < tensor.count; ++element) {
      parameters.push_back(static_cast<float>(initial_value(tensor, init, random)));
    }
  }
  return parameters;
}

void fix_known_selections(const ModularShape& shape, const SelectionPlaces& places,
                          const std::vector<tasks::Routing>& routing, std::vector<float>& parameters) {
  for (int task = 0; task < static_cast<int>(routing.size()); ++task) {
    const tasks::Routing& truth = routing[task];
    int below = shape.inputs;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      const int slots = shape.levels[level];
      for (int slot = 0; slot < slots; ++slot) {
        if (shape.known_inputs) {
          fix_column(parameters, places.inputs[level], below, slots, task, slot, truth.inputs[level][slot]);
        }
        if (shape.known_modules) {
          const std::size_t offset = places.members[level];
          for (int member = 0; member < shape.pool; ++member) {
            parameters[offset + (static_cast<std::size_t>(task) * shape.pool + member) * slots + slot] =
                member == truth.modules[level][slot] ? 1.0F : 0.0F;
          }
        }
      }
      below = slots;
    }
    if (shape.known_outputs) {
      std::vector<int> picks = truth.outputs;
      if (shape.outputs_from_all) {
        for (int& pick : picks) {
          pick += shape.slots() - shape.levels.back();
        }
      }
      fix_column(parameters, places.outputs, shape.output_candidates(), 1, task, 0, picks);
    }
  }
}

void fix_known_images(const ImageModularShape& shape, std::vector<float>& parameters) {
  const ImageModularLayout places = image_modular_layout(shape);
  const auto choose = [&](std::size_t tensor, int candidates, bool own) {
    const std::size_t offset = places.layout.tensors[tensor].offset;
    for (int candidate = 0; candidate < candidates; ++candidate) {
      for (int slot = 0; slot < shape.image_slots; ++slot) {
        parameters[offset + static_cast<std::size_t>(candidate) * shape.image_slots + slot] =
            candidate == (own ? slot : 0) ? 1.0F : 0.0F;
      }
    }
  };
  if (shape.bits.known_inputs) {
    choose(places.image_inputs, shape.images, true);
  }
  if (shape.bits.known_modules) {
    choose(places.image_members, shape.image_pool, false);
  }
}

std::vector<float> random_mask(const engine::Layout& layout, double density, std::uint64_t seed) {
  std::vector<float> mask(layout.count, 1.0F);
  if (density >= 1.0) {
    return mask;
  }
  RandomSequence random(seed, Stream::kMask);
  std::vector<double> scores;
  for (const engine::Tensor& tensor : layout.tensors) {
    if (tensor.shape.size() == 2) {
      for (std::size_t element = 0; element < tensor.count; ++element) {
        scores.push_back(random.next_uniform());
      }
    }
  }
  // The percentile as numpy computes it: linear between the two nearest order statistics.
  std::vector<double> sorted = scores;
  std::ranges::sort(sorted);
  const double place = (1.0 - density) * static_cast<double>(sorted.size() - 1);
  const auto lower = static_cast<std::size_t>(place);
  const double above = sorted[std::min(lower + 1, sorted.size() - 1)];
  const double threshold = sorted[lower] + (place - static_cast<double>(lower)) * (above - sorted[lower]);

  std::size_t next_score = 0;
  for (std::size_t index = 0; index + 1 < layout.tensors.size(); index += 2) {
    const engine::Tensor& weights = layout.tensors[index];
    const engine::Tensor& bias = layout.tensors[index + 1];
    for (int out = 0; out < weights.shape[0]; ++out) {
      bool has_input = false;
      for (int in = 0; in < weights.shape[1]; ++in) {
        const bool keeps = scores[next_score++] > threshold;
        mask[weights.offset + static_cast<std::size_t>(out) * weights.shape[1] + in] = keeps ? 1.0F : 0.0F;
        has_input = has_input || keeps;
      }
      mask[bias.offset + out] = has_input ? 1.0F : 0.0F;
    }
  }
  return mask;
}

}  // namespace modlab::models

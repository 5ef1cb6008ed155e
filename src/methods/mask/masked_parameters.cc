#include "methods/mask/masked_parameters.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::methods {
namespace {

struct Preset {
  const char* name;
  const char* part;  // of the names that it means
};
constexpr Preset kPresets[] = {{"no-bias", "bias"}, {"no-norm", "norm"}, {"no-embedding", "embedding"}};

std::optional<std::string> preset_part(const std::string& pattern) {
  for (const Preset& preset : kPresets) {
    if (pattern == preset.name) {
      return preset.part;
    }
  }
  return std::nullopt;
}

// Vectors that choose among modules and inputs: they are no weights.
bool is_selection(const engine::Tensor& tensor) { return tensor.fan_in == 0; }

bool fits_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return fits_pattern(name, pattern); });
}

void check_patterns(const engine::Layout& layout, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const bool fits = std::ranges::any_of(layout.tensors, [&](const engine::Tensor& tensor) {
      return !is_selection(tensor) && fits_pattern(tensor.name, pattern);
    });
    // Presets speak of what a network may have.
    if (!fits && !preset_part(pattern)) {
      std::vector<std::string> names;
      for (const engine::Tensor& tensor : layout.tensors) {
        if (!is_selection(tensor)) {
          names.push_back(tensor.name);
        }
      }
      throw ConfigError(fmt::format("no tensor is named like '{}'{}; there are {}", pattern,
                                    did_you_mean(pattern, names), join_text(names, ", ")));
    }
  }
}

}  // namespace

bool fits_pattern(const std::string& name, const std::string& pattern) {
  if (const std::optional<std::string> part = preset_part(pattern)) {
    return name.find(*part) != std::string::npos;
  }
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

MaskedParameters masked_parameters(const engine::Layout& layout, const MaskSpec& spec) {
  check_patterns(layout, spec.include);
  check_patterns(layout, spec.exclude);
  MaskedParameters masked;
  masked.logit_of.assign(layout.count, -1);
  for (const engine::Tensor& tensor : layout.tensors) {
    if (is_selection(tensor) || (!spec.include.empty() && !fits_any(tensor.name, spec.include)) ||
        fits_any(tensor.name, spec.exclude)) {
      continue;
    }
    masked.tensors.push_back({tensor.name, tensor.shape, tensor.offset, tensor.count});
    // The first dimension of a weight is its unit.
    const auto units = static_cast<std::size_t>(std::max(1, tensor.shape.front()));
    const std::size_t together = spec.grain == MaskGrain::kUnit ? tensor.count / units : 1;
    for (std::size_t place = 0; place < tensor.count; ++place) {
      masked.logit_of[tensor.offset + place] = masked.logits + static_cast<std::int32_t>(place / together);
    }
    masked.logits += static_cast<int>(tensor.count / together);
  }
  if (masked.tensors.empty()) {
    throw ConfigError("no tensor is left to mask; include more or exclude less");
  }
  return masked;
}

models::WeightMask kept_weights(const MaskedParameters& masked, std::span<const float> logits,
                                std::span<const float> weights, const std::string& name) {
  models::WeightMask mask{name, {}};
  for (const MaskedTensor& tensor : masked.tensors) {
    models::MaskTensor& kept = mask.tensors.emplace_back();
    kept.name = tensor.name;
    kept.shape.assign(tensor.shape.begin(), tensor.shape.end());
    kept.kept.resize(tensor.count);
    for (std::size_t place = 0; place < tensor.count; ++place) {
      const std::size_t at = tensor.offset + place;
      kept.kept[place] = logits[masked.logit_of[at]] > 0 && weights[at] != 0 ? 1 : 0;
      kept.absent += weights[at] == 0 ? 1 : 0;
    }
  }
  return mask;
}

std::vector<float> masked_weights(const MaskedParameters& masked, const models::WeightMask& mask,
                                  std::span<const float> weights, bool inverted) {
  std::vector<float> left(weights.begin(), weights.end());
  for (std::size_t tensor = 0; tensor < masked.tensors.size(); ++tensor) {
    const std::vector<std::uint8_t>& kept = mask.tensors[tensor].kept;
    for (std::size_t place = 0; place < kept.size(); ++place) {
      if ((kept[place] != 0) == inverted) {
        left[masked.tensors[tensor].offset + place] = 0;
      }
    }
  }
  return left;
}

std::vector<std::uint8_t> idle_logits(const MaskedParameters& masked, std::span<const float> weights) {
  std::vector<std::uint8_t> idle(static_cast<std::size_t>(masked.logits), 1);
  for (std::size_t place = 0; place < masked.logit_of.size(); ++place) {
    if (masked.logit_of[place] >= 0 && weights[place] != 0) {
      idle[static_cast<std::size_t>(masked.logit_of[place])] = 0;
    }
  }
  return std::ranges::count(idle, 1) == 0 ? std::vector<std::uint8_t>{} : idle;
}

double ambiguous_share(std::span<const float> logits, std::span<const std::uint8_t> idle) {
  constexpr double kSure = 2.9444389791664403;  // the logit of 95 %
  std::size_t ambiguous = 0;
  std::size_t count = 0;
  for (std::size_t at = 0; at < logits.size(); ++at) {
    if (idle.empty() || idle[at] == 0) {
      ++count;
      ambiguous += std::abs(logits[at]) < kSure ? 1 : 0;
    }
  }
  return count == 0 ? 0 : static_cast<double>(ambiguous) / static_cast<double>(count);
}

std::vector<std::uint8_t> masked_tensors(const engine::Layout& layout, const MaskedParameters& masked) {
  std::vector<std::uint8_t> found;
  for (const engine::Tensor& tensor : layout.tensors) {
    found.push_back(std::ranges::count(masked.tensors, tensor.name, &MaskedTensor::name) > 0 ? 1 : 0);
  }
  return found;
}

std::vector<float> logits_of(const MaskedParameters& masked, std::span<const float> all) {
  std::vector<float> logits(static_cast<std::size_t>(masked.logits));
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (masked.logit_of[place] >= 0) {
      logits[static_cast<std::size_t>(masked.logit_of[place])] = all[place];
    }
  }
  return logits;
}

}  // namespace modlab::methods

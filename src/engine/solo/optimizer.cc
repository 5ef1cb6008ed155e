#include "engine/solo/optimizer.h"

#include <algorithm>

namespace modlab::engine::solo {

Optimizer::Optimizer(const engine::Kernels<float>& kernels, Parameters<float>& parameters, const Layout& layout,
                     OptimizerKind kind, const LaneSettings& lane)
    : kernels_(kernels),
      parameters_(parameters),
      kind_(kind),
      lane_(lane),
      first_(parameters_.all_values().size()),
      second_(first_.size()),
      rate_(static_cast<std::size_t>(kernels.lanes)),
      decay_(rate_.size()) {
  if (!lane.mask.empty()) {
    mask_ = parameters_.arranged(lane.mask);
  }
  for (std::size_t index = 0; index < layout.tensors.size(); ++index) {
    const Tensor& tensor = layout.tensors[index];
    const std::size_t begin = parameters_.offset(index);
    const std::size_t end = begin + parameters_.padded_count(index);
    const bool structural = tensor.fan_in == 0;
    if (tensor.rate == Rate::kFrozen) {
      continue;
    }
    if (!stretches_.empty() && stretches_.back().end == begin && stretches_.back().rate == tensor.rate &&
        stretches_.back().structural == structural) {
      stretches_.back().end = end;
    } else {
      stretches_.push_back({begin, end, tensor.rate, structural});
    }
  }
}

void Optimizer::update(double rate_factor, const std::vector<LateGradient<float>*>& late) {
  const AdamScales scales = AdamScales::after(++steps_);
  for (const Stretch& stretch : stretches_) {
    const double rate = stretch.rate == Rate::kFunctional ? lane_.lr
                        : stretch.rate == Rate::kInput    ? lane_.lr_input
                                                          : lane_.lr_module;
    std::ranges::fill(rate_, static_cast<float>(rate * rate_factor));
    std::ranges::fill(decay_,
                      static_cast<float>(stretch.structural ? lane_.weight_decay_structural : lane_.weight_decay));
    std::size_t begin = stretch.begin;
    // Late gradients come in the order of their tensors.
    for (LateGradient<float>* gradient : late) {
      const std::size_t first = parameters_.offset(gradient->tensor());
      if (first >= begin && first < stretch.end) {
        update_range(begin, first - begin, parameters_.all_gradients().data() + begin, scales);
        update_late(*gradient, scales);
        begin = first + parameters_.padded_count(gradient->tensor());
      }
    }
    update_range(begin, stretch.end - begin, parameters_.all_gradients().data() + begin, scales);
  }
}

void Optimizer::update_range(std::size_t begin, std::size_t count, float* gradients, AdamScales scales) {
  kernels_.update({.kind = kind_,
                   .parameters = parameters_.all_values().data() + begin,
                   .gradients = gradients,
                   .first = first_.data() + begin,
                   .second = second_.data() + begin,
                   .mask = mask_.empty() ? nullptr : mask_.data() + begin,
                   .rate = rate_.data(),
                   .weight_decay = decay_.data(),
                   .scales = scales,
                   .count = static_cast<int>(count) / kernels_.lanes});
}

void Optimizer::update_late(LateGradient<float>& late, AdamScales scales) {
  // 16 kB: half of the smallest first cache level.
  constexpr int kPieceInputs = 32;
  piece_.resize(static_cast<std::size_t>(kPieceInputs) * kPixelUnits);
  const std::size_t offset = parameters_.offset(late.tensor());
  for (int unit = 0; unit < late.units(); unit += kPixelUnits) {
    const auto units = static_cast<std::size_t>(std::min(kPixelUnits, late.units() - unit));
    const std::size_t block = offset + static_cast<std::size_t>(unit) * late.inputs();
    for (int first = 0; first < late.inputs(); first += kPieceInputs) {
      const int last = std::min(first + kPieceInputs, late.inputs());
      late.compute(unit, first, last, piece_.data());
      update_range(block + first * units, (last - first) * units, piece_.data(), scales);
    }
  }
}

}  // namespace modlab::engine::solo

#include "engine/solo/optimizer.h"

#include <algorithm>

namespace modlab::engine::solo {

Optimizer::Optimizer(const engine::Kernels<float>& kernels, Network<float>& network, OptimizerKind kind,
                     const LaneSettings& lane)
    : kernels_(kernels),
      parameters_(network.parameters()),
      kind_(kind),
      lane_(lane),
      first_(parameters_.all_values().size()),
      second_(first_.size()),
      rate_(static_cast<std::size_t>(kernels.lanes)),
      decay_(rate_.size()) {
  if (!lane.mask.empty()) {
    mask_ = parameters_.arranged(lane.mask);
  }
  const Layout& layout = network.layout();
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

void Optimizer::update(double rate_factor) {
  const AdamScales scales = AdamScales::after(++steps_);
  for (const Stretch& stretch : stretches_) {
    const double rate = stretch.rate == Rate::kFunctional ? lane_.lr
                        : stretch.rate == Rate::kInput    ? lane_.lr_input
                                                          : lane_.lr_module;
    std::ranges::fill(rate_, static_cast<float>(rate * rate_factor));
    std::ranges::fill(decay_,
                      static_cast<float>(stretch.structural ? lane_.weight_decay_structural : lane_.weight_decay));
    kernels_.update({.kind = kind_,
                     .parameters = parameters_.all_values().data() + stretch.begin,
                     .gradients = parameters_.all_gradients().data() + stretch.begin,
                     .first = first_.data() + stretch.begin,
                     .second = second_.data() + stretch.begin,
                     .mask = mask_.empty() ? nullptr : mask_.data() + stretch.begin,
                     .rate = rate_.data(),
                     .weight_decay = decay_.data(),
                     .scales = scales,
                     .count = static_cast<int>((stretch.end - stretch.begin) / kernels_.lanes)});
  }
}

}  // namespace modlab::engine::solo

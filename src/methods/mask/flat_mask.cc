#include "methods/mask/flat_mask.h"

#include <algorithm>
#include <cmath>

namespace modlab::methods {
namespace {

constexpr std::size_t padded_to_vectors(std::size_t count) {
  constexpr auto kPad = static_cast<std::size_t>(engine::solo::kUnitPad);
  return (count + kPad - 1) / kPad * kPad;
}

bool shares_logits(const MaskedParameters& masked) {
  return std::ranges::count_if(masked.logit_of, [](std::int32_t logit) { return logit >= 0; }) > masked.logits;
}

std::size_t places_of_logits(const engine::Layout& layout, const MaskedParameters& masked) {
  return padded_to_vectors(shares_logits(masked) ? static_cast<std::size_t>(masked.logits) : layout.count);
}

}  // namespace

FlatMask::FlatMask(const engine::Layout& layout, const MaskedParameters& masked, std::span<const float> weights,
                   std::span<const float> logits, const FlatMaskTraining& training,
                   const engine::solo::MaskedKernels<float>& kernels)
    : layout_(layout),
      masked_(masked),
      training_(training),
      kernels_(kernels),
      shares_logits_(shares_logits(masked)),
      padded_(padded_to_vectors(layout.count)),
      places_(places_of_logits(layout, masked)),
      wanted_(masked_tensors(layout, masked)),
      is_still_(places_, 1),
      weights_(padded_),
      shares_(padded_),
      logits_(places_),
      gradients_(places_),
      drawn_(padded_ * static_cast<std::size_t>(training.spec.samples)),
      products_(drawn_.size()),
      optimizer_(places_, {.lr = training.spec.lr, .clip = training.spec.clip}) {
  std::ranges::copy(weights, weights_.begin());
  std::ranges::transform(weights_, shares_.begin(),
                         [&](float weight) { return weight / static_cast<float>(training.divisor); });
  if (shares_logits_) {
    ones_.assign(places_, 1.0F);
    factors_.resize(places_ * static_cast<std::size_t>(samples()));
    sums_.resize(factors_.size());
  }
  for (std::size_t parameter = 0; parameter < masked.logit_of.size(); ++parameter) {
    if (masked.logit_of[parameter] >= 0) {
      const auto logit = static_cast<std::size_t>(masked.logit_of[parameter]);
      const std::size_t place = shares_logits_ ? logit : parameter;
      logits_[place] = logits[logit];
      is_still_[place] = 0;
    }
  }
}

void FlatMask::freeze(const std::string& tensor, std::span<const float> logits) {
  const auto found = std::ranges::find(layout_.tensors, tensor, &engine::Tensor::name);
  for (std::size_t parameter = found->offset; parameter < found->offset + found->count; ++parameter) {
    if (masked_.logit_of[parameter] >= 0) {
      const auto logit = static_cast<std::size_t>(masked_.logit_of[parameter]);
      const std::size_t place = shares_logits_ ? logit : parameter;
      logits_[place] = logits[logit];
      is_still_[place] = 1;
    }
  }
}

engine::solo::MaskNoise FlatMask::noise() const {
  return {engine::solo::mask_key(training_.seed, training_.stage), steps_, calls_, 0};
}

void FlatMask::draw() {
  kernels_.flat_draw({.logits = logits_.data(),
                      .weights = shares_logits_ ? ones_.data() : weights_.data(),
                      .masked = shares_logits_ ? factors_.data() : drawn_.data(),
                      .count = places_,
                      .stride = places_,
                      .first_index = 0,
                      .samples = samples(),
                      .noise = noise(),
                      .kind = training_.spec.sampler,
                      .inverse_tau = static_cast<float>(1 / training_.spec.tau)});
  if (shares_logits_) {
    draw_shared();
  }
  for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples()); ++sample) {
    for (std::size_t tensor = 0; tensor < layout_.tensors.size(); ++tensor) {
      const engine::Tensor& place = layout_.tensors[tensor];
      if (wanted_[tensor] == 0) {
        std::copy_n(weights_.data() + place.offset, place.count, drawn_.data() + sample * padded_ + place.offset);
      }
    }
  }
}

void FlatMask::draw_shared() {
  for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples()); ++sample) {
    const float* factors = factors_.data() + sample * places_;
    float* drawn = drawn_.data() + sample * padded_;
    for (std::size_t parameter = 0; parameter < layout_.count; ++parameter) {
      const std::int32_t logit = masked_.logit_of[parameter];
      drawn[parameter] = logit < 0 ? weights_[parameter] : weights_[parameter] * factors[logit];
    }
  }
}

double FlatMask::add_passes(const Pass& pass) {
  draw();
  double loss = 0;
  for (int sample = 0; sample < samples(); ++sample) {
    const std::size_t begin = static_cast<std::size_t>(sample) * padded_;
    loss += pass(sample, {drawn_.data() + begin, layout_.count}, {products_.data() + begin, layout_.count});
  }
  add_slopes();
  ++calls_;
  return loss / training_.divisor;
}

void FlatMask::add_slopes() {
  if (shares_logits_) {
    sum_products();
  }
  const bool is_first = calls_ == 0;
  later_.resize(is_first ? later_.size() : places_);
  kernels_.flat_gradient(
      {.weights = shares_logits_ ? ones_.data() : shares_.data(),
       .products = shares_logits_ ? sums_.data() : products_.data(),
       .count = places_,
       .stride = places_,
       .first_index = 0,
       .samples = samples(),
       .slope = {.logits = logits_.data(),
                 .noise = noise(),
                 .kind = training_.spec.sampler,
                 .inverse_tau = static_cast<float>(1 / training_.spec.tau),
                 .alpha = is_first ? static_cast<float>(training_.beta / training_.spec.batch_size) : 0,
                 .of_count = training_.spec.penalty == MaskPenaltyKind::kCount},
       .gradients = is_first ? gradients_.data() : later_.data()});
  if (!is_first) {
    std::ranges::transform(gradients_, later_, gradients_.begin(), std::plus<>());
  }
}

void FlatMask::sum_products() {
  std::ranges::fill(sums_, 0.0F);
  for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples()); ++sample) {
    const float* products = products_.data() + sample * padded_;
    float* sums = sums_.data() + sample * places_;
    for (std::size_t parameter = 0; parameter < layout_.count; ++parameter) {
      if (masked_.logit_of[parameter] >= 0) {
        sums[masked_.logit_of[parameter]] += products[parameter] * shares_[parameter];
      }
    }
  }
}

void FlatMask::set_gradients(std::span<const float> gradients) {
  const double alpha = training_.beta / training_.spec.batch_size;
  for (std::size_t place = 0; place < gradients.size(); ++place) {
    const double kept = 1 / (1 + std::exp(-static_cast<double>(logits_[place])));
    const bool of_count = training_.spec.penalty == MaskPenaltyKind::kCount;
    gradients_[place] = gradients[place] + static_cast<float>(of_count ? alpha * kept * (1 - kept) : alpha);
  }
}

void FlatMask::step() {
  for (std::size_t place = 0; place < places_; ++place) {
    gradients_[place] = is_still_[place] != 0 ? 0 : gradients_[place];
  }
  optimizer_.step(logits_, gradients_);
  ++steps_;
  calls_ = 0;
}

std::vector<float> FlatMask::logits() const {
  if (shares_logits_) {
    return {logits_.begin(), logits_.begin() + masked_.logits};
  }
  return logits_of(masked_, all_logits());
}

std::size_t FlatMask::state_size(const engine::Layout& layout, const MaskedParameters& masked) {
  const std::size_t places = places_of_logits(layout, masked);
  return places + FlatOptimizer::state_size(places) + 1;
}

std::vector<float> FlatMask::state() const {
  std::vector<float> state(logits_.begin(), logits_.end());
  const std::vector<float> optimizer = optimizer_.state();
  state.insert(state.end(), optimizer.begin(), optimizer.end());
  state.push_back(static_cast<float>(steps_));
  return state;
}

void FlatMask::restore(std::span<const float> state) {
  std::ranges::copy(state.first(places_), logits_.begin());
  optimizer_.restore(state.subspan(places_, FlatOptimizer::state_size(places_)));
  steps_ = static_cast<std::uint32_t>(state.back());
}

}  // namespace modlab::methods

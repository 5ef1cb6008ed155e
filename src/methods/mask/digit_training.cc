#include "methods/mask/digit_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/errors.h"
#include "engine/flush_denormals.h"

namespace modlab::methods {

using models::DigitBatch;
namespace solo = engine::solo;

double counted_digits(std::span<const DigitBatch> passes) {
  double count = 0;
  for (const DigitBatch& batch : passes) {
    count += static_cast<double>(batch.rows) * std::accumulate(batch.counts.begin(), batch.counts.end(), 0);
  }
  if (count == 0) {
    throw ConfigError("a training step needs samples, and outputs that count");
  }
  return count;
}

namespace {

// Steps between looks for logits that can be given up.
constexpr std::uint32_t kLookEvery = 50;
// What such a logit becomes: no sample draws it, and no gradient reaches it.
constexpr float kGivenUp = -1000;

// LoadMaskBits may read up to eight bytes where two are meant.
constexpr std::size_t kSpareBits = 4;

}  // namespace

FrozenParameters::FrozenParameters(const models::PanelLayout& panels, std::span<const std::uint8_t> frozen) {
  if (frozen.empty()) {
    return;
  }
  const AlignedVector<float> flags = panels.arranged<float>(std::vector<float>(frozen.begin(), frozen.end()));
  for (std::size_t place = 0; place < flags.size(); ++place) {
    if (flags[place] != 0) {
      places_.push_back(place);
    }
  }
}

void FrozenParameters::clear(AlignedVector<float>& gradients) const {
  for (const std::size_t place : places_) {
    gradients[place] = 0;
  }
}

DigitWeightTrainer::DigitWeightTrainer(models::DigitNetwork& network, const WeightTraining& settings, Team& team,
                                       const engine::Kernels<float>& kernels, std::span<const std::uint8_t> frozen)
    : network_(network),
      wanted_(network.panels().tensors(), 1),
      gradients_(network.panels().size()),
      frozen_(network.panels(), frozen),
      optimizer_(network.panels(), wanted_, settings.lr, settings.clip, team, kernels) {}

double DigitWeightTrainer::step(std::span<const DigitBatch> passes) {
  const double count = counted_digits(passes);
  double loss = 0;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    network_.forward(passes[pass], {});
    loss += network_.loss(static_cast<float>(1 / count));
    network_.backward({.values = gradients_.data(), .wanted = wanted_, .add = pass > 0});
  }
  frozen_.clear(gradients_);
  optimizer_.update(network_.values(), gradients_);
  return loss / count;
}

DigitMaskTrainer::DigitMaskTrainer(models::DigitNetwork& network, std::vector<std::uint8_t> is_masked,
                                   std::span<const float> initial_logits, const DigitMaskTraining& settings, Team& team,
                                   const engine::Kernels<float>& kernels, std::span<const std::uint8_t> frozen,
                                   LeftGradients left)
    : network_(network),
      is_masked_(std::move(is_masked)),
      settings_(settings),
      team_(team),
      kernels_(solo::masked_kernels_for(kernels.target)),
      logits_(network.panels().arranged<float>(initial_logits)),
      gradients_(network.panels().size()),
      left_(std::move(left)),
      frozen_(network.panels(), frozen),
      optimizer_(network.panels(), is_masked_, settings.lr, settings.clip, team, kernels) {
  if (settings.samples < 1 || settings.samples > solo::kMostSamples) {
    throw ConfigError(fmt::format("a step draws from 1 to {} masks, not {}", solo::kMostSamples, settings.samples));
  }
  if (settings.clip_what == MaskClip::kPublished) {
    left_.of_weights.resize(network.panels().size());
  }
  if (settings.weight_lr) {
    weight_gradients_.resize(network.panels().size());
    weight_optimizer_.emplace(network.panels(), std::vector<std::uint8_t>(network.panels().tensors(), 1),
                              *settings.weight_lr, settings.clip, team, kernels);
  }
  const models::PanelLayout& panels = network.panels();
  masks_.samples = settings.samples;
  masks_.bits.resize(panels.tensors());
  std::size_t size = 0;
  std::vector<std::size_t> offsets(panels.tensors());
  for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
    if (is_masked_[tensor] != 0 && panels[tensor].inputs == 0) {
      throw ConfigError(fmt::format("{} has no mask here: only matrices have", network.layout().tensors[tensor].name));
    }
    offsets[tensor] = size;
    if (is_masked_[tensor] != 0) {
      size += panels[tensor].count / solo::kUnitPad * static_cast<std::size_t>(settings.samples);
    }
  }
  bits_.resize(size + kSpareBits);
  for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
    masks_.bits[tensor] = is_masked_[tensor] != 0 ? bits_.data() + offsets[tensor] : nullptr;
  }
}

solo::MaskNoise DigitMaskTrainer::noise(std::uint32_t tensor, std::uint32_t pass) const {
  return {.key = solo::mask_key(settings_.seed, settings_.stage), .step = steps_, .call = pass, .tensor = tensor};
}

void DigitMaskTrainer::draw(std::uint32_t pass) {
  const models::PanelLayout& panels = network_.panels();
  for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
    if (is_masked_[tensor] == 0) {
      continue;
    }
    const models::PanelLayout::Place& place = panels[tensor];
    team_.run(static_cast<std::size_t>(place.panels()), [&](std::size_t panel) {
      const engine::FlushDenormals flush;
      kernels_.draw({.logits = logits_.data() + place.offset,
                     .bits = bits_.data() + (masks_.bits[tensor] - bits_.data()),
                     .inputs = place.inputs,
                     .units = place.units,
                     .samples = settings_.samples,
                     .noise = noise(static_cast<std::uint32_t>(tensor), pass),
                     .kind = settings_.sampler,
                     .first_panel = static_cast<int>(panel),
                     .last_panel = static_cast<int>(panel) + 1});
    });
  }
}

double DigitMaskTrainer::step(std::span<const DigitBatch> passes) {
  const double count = counted_digits(passes);
  double loss = 0;
  AlignedVector<float>& weight_sums =
      settings_.clip_what == MaskClip::kPublished ? left_.of_weights : weight_gradients_;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    if (passes[pass].rows % settings_.samples != 0) {
      throw ConfigError(fmt::format("{} masks cannot share {} samples equally; choose a multiple", settings_.samples,
                                    passes[pass].rows));
    }
    const auto call = static_cast<std::uint32_t>(pass);
    draw(call);
    network_.forward(passes[pass], masks_);
    loss += network_.loss(static_cast<float>(1 / count));
    network_.backward({.values = gradients_.data(),
                       .wanted = is_masked_,
                       .add = pass > 0,
                       .slope = {.logits = logits_.data(),
                                 .noise = noise(0, call),
                                 .kind = settings_.sampler,
                                 .inverse_tau = static_cast<float>(1 / settings_.tau),
                                 .alpha = static_cast<float>(settings_.alpha),
                                 .of_count = settings_.of_count},
                       .weight_sums = weight_sums.empty() ? nullptr : weight_sums.data()});
  }
  update();
  ++steps_;
  if (settings_.active && steps_ % kLookEvery == 0) {
    give_up();
  }
  return loss / count;
}

// The optimiser works on neighbours, those of which one is still active.
void DigitMaskTrainer::give_up() {
  const auto bottom = static_cast<float>(-*settings_.active);
  for (float& logit : logits_) {
    logit = logit < bottom ? kGivenUp : logit;
  }
  optimizer_.leave_out([&](std::size_t begin, std::size_t count) {
    return std::all_of(logits_.begin() + static_cast<std::ptrdiff_t>(begin),
                       logits_.begin() + static_cast<std::ptrdiff_t>(begin + count),
                       [&](float logit) { return logit < bottom; });
  });
}

void DigitMaskTrainer::update() {
  if (settings_.clip_what == MaskClip::kPublished) {
    update_as_published();
    return;
  }
  if (!weight_optimizer_) {
    optimizer_.update(logits_, gradients_);
    return;
  }
  frozen_.clear(weight_gradients_);
  const double factor =
      optimizer_.factor_for(optimizer_.squares(gradients_) + weight_optimizer_->squares(weight_gradients_));
  optimizer_.step(logits_, gradients_, factor);
  weight_optimizer_->step(network_.values(), weight_gradients_, factor);
}

void DigitMaskTrainer::update_as_published() {
  const double own = optimizer_.squares(gradients_);
  const double all = own + optimizer_.squares_of_all(left_.of_weights) + static_cast<double>(left_.squares_of_masks);
  const double factor = optimizer_.factor_for(all);
  optimizer_.step(logits_, gradients_, factor);
  last_squares_ = own * factor * factor;
  if (factor < 1) {
    optimizer_.scale(static_cast<float>(factor), left_.of_weights);
    left_.squares_of_masks = static_cast<float>(left_.squares_of_masks * factor * factor);
  }
}

LeftGradients DigitMaskTrainer::left() const {
  return {left_.of_weights, static_cast<float>(left_.squares_of_masks + last_squares_)};
}

}  // namespace modlab::methods

#include "methods/torch/epoch_scores.h"

#include <algorithm>
#include <cmath>

namespace modlab::methods {
namespace {

using engine::Part;

// The cross-entropy of a logit.
double bit_loss(double logit, bool is_one) {
  return std::max(logit, 0.0) - (is_one ? logit : 0) + std::log1p(std::exp(-std::abs(logit)));
}

}  // namespace

void BitSums::add(std::span<const float> said, std::span<const float> labels, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t first = 0; first < said.size(); first += width) {
    std::uint32_t right = 0;
    for (std::size_t at = first; at < first + width; ++at) {
      const bool is_one = labels[at] > 0;
      right += (said[at] > 0) == is_one ? 1 : 0;
      loss_ += bit_loss(said[at], is_one);
    }
    counts_.right_bits += right;
    counts_.right_rows += right == width ? 1 : 0;
  }
  columns_ += said.size();
}

engine::PartScore BitSums::score() const {
  engine::PartScore score = counts_;
  score.loss = columns_ > 0 ? static_cast<float>(loss_ / static_cast<double>(columns_)) : 0;
  return score;
}

void KeptEpochs::add(engine::Snapshot&& now) {
  if (now.epoch == next_of_curve_ || now.epoch == epochs_) {
    result_.curve.push_back(now.scores);
    next_of_curve_ = engine::next_curve_epoch(now.epoch);
  }
  result_.diverged = result_.diverged || !std::isfinite(now.scores[Part::kTrain].loss);
  if (result_.best.epoch == 0 ||
      now.scores[Part::kValidation].right_bits > result_.best.scores[Part::kValidation].right_bits) {
    result_.best = now;
  }
  if (now.epoch == epochs_) {
    result_.last = std::move(now);
  }
}

}  // namespace modlab::methods

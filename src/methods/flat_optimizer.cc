#include "methods/flat_optimizer.h"

#include <algorithm>
#include <cmath>

namespace modlab::methods {
namespace {

double length_of(std::span<const float> numbers) {
  // In pieces: sums of squares of millions of floats one by one would round in single precision, and be slow in double.
  constexpr std::size_t kPiece = 4096;
  double squares = 0;
  for (std::size_t first = 0; first < numbers.size(); first += kPiece) {
    const auto piece = numbers.subspan(first, std::min(kPiece, numbers.size() - first));
    float parts[16] = {};
    for (std::size_t at = 0; at < piece.size(); ++at) {
      parts[at % 16] += piece[at] * piece[at];
    }
    for (const float part : parts) {
      squares += part;
    }
  }
  return std::sqrt(squares);
}

}  // namespace

FlatOptimizer::FlatOptimizer(std::size_t count, const FlatOptimizerSpec& spec)
    : spec_(spec), first_(count), second_(count) {}

void FlatOptimizer::step(std::span<float> parameters, std::span<const float> gradients, double rate_factor) {
  ++steps_;
  float scale = 1;
  if (spec_.clip > 0) {
    // As torch.nn.utils.clip_grad_norm_ has it.
    scale = static_cast<float>(std::min(1.0, spec_.clip / (length_of(gradients) + 1e-6)));
  }
  const auto decay = static_cast<float>(spec_.decay);
  const double rate = spec_.lr * rate_factor;
  const std::size_t count = parameters.size();
  if (spec_.kind == FlatOptimizerKind::kMomentum) {
    // The first velocity is the first gradient.
    const float momentum = steps_ == 1 ? 0 : static_cast<float>(spec_.momentum);
    const auto step = static_cast<float>(rate);
    for (std::size_t at = 0; at < count; ++at) {
      first_[at] = momentum * first_[at] + scale * gradients[at] + decay * parameters[at];
      parameters[at] -= step * first_[at];
    }
    return;
  }
  const auto beta1 = static_cast<float>(spec_.beta1);
  const auto beta2 = static_cast<float>(spec_.beta2);
  const auto step = static_cast<float>(rate / (1 - std::pow(spec_.beta1, steps_)));
  const auto unbiased = static_cast<float>(1 / std::sqrt(1 - std::pow(spec_.beta2, steps_)));
  const auto epsilon = static_cast<float>(spec_.epsilon);
  for (std::size_t at = 0; at < count; ++at) {
    const float gradient = scale * gradients[at] + decay * parameters[at];
    first_[at] = beta1 * first_[at] + (1 - beta1) * gradient;
    second_[at] = beta2 * second_[at] + (1 - beta2) * gradient * gradient;
    parameters[at] -= step * first_[at] / (std::sqrt(second_[at]) * unbiased + epsilon);
  }
}

std::vector<float> FlatOptimizer::state() const {
  std::vector<float> state = first_;
  state.insert(state.end(), second_.begin(), second_.end());
  state.push_back(static_cast<float>(steps_));
  return state;
}

void FlatOptimizer::restore(std::span<const float> state) {
  std::ranges::copy(state.first(first_.size()), first_.begin());
  std::ranges::copy(state.subspan(first_.size(), second_.size()), second_.begin());
  steps_ = static_cast<int>(state.back());
}

}  // namespace modlab::methods

#include "models/images/selector.h"

#include <algorithm>
#include <numeric>

namespace modlab::models {

using engine::solo::Parameters;

template <typename T>
Selector<T>::Selector(std::size_t tensor, std::size_t first, int candidates, int columns, int k, Soft soft,
                      bool learned)
    : tensor_(tensor),
      first_(first),
      candidates_(candidates),
      columns_(columns),
      k_(k),
      soft_(soft),
      learned_(learned),
      picks_(static_cast<std::size_t>(columns) * k),
      sums_(static_cast<std::size_t>(engine::solo::padded(candidates * columns))),
      scores_(sums_.size()),
      soft_values_(sums_.size()) {}

template <typename T>
void Selector<T>::choose(Parameters<T>& parameters, const T* noise) {
  const T* logits = parameters.values(tensor_);
  // Fixed selections are fixed: noise does not touch them.
  const T* added = learned_ ? noise : nullptr;
  std::vector<int> order(candidates_);
  for (int column = 0; column < columns_; ++column) {
    const auto score = [&](int candidate) {
      const std::size_t at = static_cast<std::size_t>(candidate) * columns_ + column;
      return logits[at] + (added != nullptr ? added[first_ + at] : T{0});
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k_, order.end(), [&](int a, int b) {
      const T score_a = score(a);
      const T score_b = score(b);
      return score_a != score_b ? score_a > score_b : a < b;
    });
    std::copy_n(order.begin(), k_, picks_.begin() + static_cast<std::ptrdiff_t>(column) * k_);
  }
}

template <typename T>
void Selector<T>::fill_scores(const T* logits, const engine::solo::Step<T>& step) {
  for (int column = 0; column < columns_; ++column) {
    T largest = 0;
    for (int candidate = 0; candidate < candidates_; ++candidate) {
      const std::size_t at = static_cast<std::size_t>(candidate) * columns_ + column;
      scores_[at] = (logits[at] + (step.noise != nullptr ? step.noise[first_ + at] : T{0})) * step.inverse_tau;
      largest = candidate == 0 ? scores_[at] : std::max(largest, scores_[at]);
    }
    for (int candidate = 0; soft_ == Soft::kSoftmax && candidate < candidates_; ++candidate) {
      scores_[static_cast<std::size_t>(candidate) * columns_ + column] -= largest;
    }
  }
}

template <typename T>
void Selector<T>::finish(Parameters<T>& parameters, const engine::solo::Step<T>& step,
                         const engine::solo::Kernels<T>& kernels) {
  if (!learned_) {
    return;
  }
  T* gradients = parameters.gradients(tensor_);
  fill_scores(parameters.values(tensor_), step);
  const int count = static_cast<int>(scores_.size());
  if (soft_ == Soft::kSigmoid) {
    kernels.sigmoid(scores_.data(), soft_values_.data(), count);
    for (int at = 0; at < candidates_ * columns_; ++at) {
      const T q = soft_values_[at];
      gradients[at] += sums_[at] * q * (1 - q) * step.inverse_tau;
    }
  } else {
    kernels.exponential(scores_.data(), soft_values_.data(), count);
    for (int column = 0; column < columns_; ++column) {
      T total = 0;
      T weighted = 0;
      for (int candidate = 0; candidate < candidates_; ++candidate) {
        const std::size_t at = static_cast<std::size_t>(candidate) * columns_ + column;
        total += soft_values_[at];
        weighted += soft_values_[at] * sums_[at];
      }
      for (int candidate = 0; candidate < candidates_; ++candidate) {
        const std::size_t at = static_cast<std::size_t>(candidate) * columns_ + column;
        gradients[at] += soft_values_[at] / total * (sums_[at] - weighted / total) * step.inverse_tau;
      }
    }
  }
  std::ranges::fill(sums_, T{0});
}

template class Selector<float>;
template class Selector<double>;

}  // namespace modlab::models

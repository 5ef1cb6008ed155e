#include "models/rules/attention.h"

#include <algorithm>
#include <cmath>

#include "models/rules/gates.h"

namespace modlab::models {

using engine::solo::padded;

template <typename T>
Attention<T>::Attention(int heads, int width, const engine::solo::Kernels<T>& kernels)
    : heads_(heads),
      width_(width),
      scale_(static_cast<T>(1.0 / std::sqrt(static_cast<double>(width)))),
      kernels_(kernels) {}

template <typename T>
void Attention<T>::make_room(int samples, int length) {
  samples_ = samples;
  length_ = length;
  weights_.assign(static_cast<std::size_t>(samples) * heads_ * length * padded(length), T{0});
  found_.assign(static_cast<std::size_t>(samples) * length * padded(units()), T{0});
  dweights_.assign(static_cast<std::size_t>(padded(length)), T{0});
}

template <typename T>
T* Attention<T>::weights_of(int sample, int head, int token) {
  return weights_.data() + ((static_cast<std::ptrdiff_t>(sample) * heads_ + head) * length_ + token) * padded(length_);
}

template <typename T>
const T* Attention<T>::forward(const T* queries, const T* keys, const T* values) {
  const int stride = padded(units());
  // A token that must not be attended to gets a score far below all others: its share comes out as zero.
  constexpr T kFarBelow = -60;
  for (int sample = 0; sample < samples_; ++sample) {
    for (int head = 0; head < heads_; ++head) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(sample) * length_ * stride + head * width_;
      for (int token = 0; token < length_; ++token) {
        const T* query = queries + first + static_cast<std::ptrdiff_t>(token) * stride;
        T* scores = weights_of(sample, head, token);
        T most = 0;
        bool is_first = true;
        for (int other = 0; other < length_; ++other) {
          const T* key = keys + first + static_cast<std::ptrdiff_t>(other) * stride;
          T sum = 0;
          for (int unit = 0; unit < width_; ++unit) {
            sum += query[unit] * key[unit];
          }
          scores[other] = scale_ * sum;
          if (other != token && (is_first || scores[other] > most)) {
            most = scores[other];
            is_first = false;
          }
        }
        for (int other = 0; other < length_; ++other) {
          scores[other] = other == token ? kFarBelow : scores[other] - most;
        }
      }
    }
  }
  kernels_.exponential(weights_.data(), weights_.data(), static_cast<int>(weights_.size()));
  for (int sample = 0; sample < samples_; ++sample) {
    for (int head = 0; head < heads_; ++head) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(sample) * length_ * stride + head * width_;
      for (int token = 0; token < length_; ++token) {
        T* weights = weights_of(sample, head, token);
        weights[token] = 0;
        std::fill(weights + length_, weights + padded(length_), T{0});
        T sum = 0;
        for (int other = 0; other < length_; ++other) {
          sum += weights[other];
        }
        T* found = found_.data() + first + static_cast<std::ptrdiff_t>(token) * stride;
        std::fill_n(found, width_, T{0});
        for (int other = 0; other < length_; ++other) {
          weights[other] = sum > 0 ? weights[other] / sum : T{0};
          const T* value = values + first + static_cast<std::ptrdiff_t>(other) * stride;
          for (int unit = 0; unit < width_; ++unit) {
            found[unit] += weights[other] * value[unit];
          }
        }
      }
    }
  }
  return found_.data();
}

template <typename T>
void Attention<T>::backward(const T* queries, const T* keys, const T* values, const T* dfound, T* dqueries, T* dkeys,
                            T* dvalues) {
  const int stride = padded(units());
  for (T* cleared : {dqueries, dkeys, dvalues}) {
    std::fill_n(cleared, found_.size(), T{0});
  }
  for (int sample = 0; sample < samples_; ++sample) {
    for (int head = 0; head < heads_; ++head) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(sample) * length_ * stride + head * width_;
      for (int token = 0; token < length_; ++token) {
        const std::ptrdiff_t here = first + static_cast<std::ptrdiff_t>(token) * stride;
        const T* weights = weights_of(sample, head, token);
        for (int other = 0; other < length_; ++other) {
          const std::ptrdiff_t there = first + static_cast<std::ptrdiff_t>(other) * stride;
          T sum = 0;
          for (int unit = 0; unit < width_; ++unit) {
            sum += dfound[here + unit] * values[there + unit];
            dvalues[there + unit] += weights[other] * dfound[here + unit];
          }
          dweights_[static_cast<std::size_t>(other)] = sum;
        }
        softmax_gradient(weights, dweights_.data(), length_, dweights_.data());
        for (int other = 0; other < length_; ++other) {
          const std::ptrdiff_t there = first + static_cast<std::ptrdiff_t>(other) * stride;
          const T dscore = scale_ * dweights_[static_cast<std::size_t>(other)];
          for (int unit = 0; unit < width_; ++unit) {
            dqueries[here + unit] += dscore * keys[there + unit];
            dkeys[there + unit] += dscore * queries[here + unit];
          }
        }
      }
    }
  }
}

template class Attention<float>;
template class Attention<double>;

}  // namespace modlab::models

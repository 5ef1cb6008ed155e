#pragma once

#include <algorithm>

#include "models/digits/digit_network.h"

namespace modlab::models {

// Fully connected layers with ReLU between them. The first gathers the weights of inputs that are 1, or multiplies with
// inputs that are numbers.
template <typename T>
class DigitFnn : public DigitNetworkOf<T> {
 public:
  using DigitNetworkOf<T>::DigitNetworkOf;

 private:
  using Base = DigitNetworkOf<T>;

  void make_room() override {
    hidden_.resize(Base::shape_.hidden.size());
    for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
      hidden_[layer].assign(Base::step_size(Base::shape_.hidden[layer]), T{0});
    }
    dhidden_ = hidden_;
    if (Base::shape_.masks_biases) {
      ones_.assign(Base::step_size(1), T{0});
      for (int block = 0; block < Base::blocks_.at_once(); ++block) {
        std::fill_n(ones_.data() + block * Base::block_size(1), Base::blocks_.width, T{1});
      }
      int widest = Base::shape_.outputs;
      for (const int width : Base::shape_.hidden) {
        widest = std::max(widest, width);
      }
      zeros_.assign(static_cast<std::size_t>(engine::solo::padded(widest)), T{0});
    }
  }

  // A layer's weights; its bias is the next tensor.
  static std::size_t weights(std::size_t layer) { return 2 * layer; }

  void run_forward() override {
    for (std::size_t layer = 0; layer <= hidden_.size(); ++layer) {
      const std::size_t tensor = weights(layer);
      const bool is_hidden = layer < hidden_.size();
      T* y = is_hidden ? hidden_[layer].data() : Base::z_.data();
      const T* bias = Base::value(tensor + 1);
      if (layer == 0 && Base::x_.empty()) {
        Base::gather(tensor, Base::blocks_, Base::inputs_.data(), bias, y, is_hidden);
        continue;
      }
      const T* x = layer == 0 ? Base::x_.data() : hidden_[layer - 1].data();
      const T* start = nullptr;
      if (Base::shape_.masks_biases) {
        Base::multiply(tensor + 1, Base::blocks_, ones_.data(), zeros_.data(), nullptr, y, false);
        start = y;
      }
      Base::multiply(tensor, Base::blocks_, x, bias, start, y, is_hidden);
    }
  }

  void run_backward(const DigitGradient<T>& gradient) override {
    for (std::size_t layer = hidden_.size() + 1; layer-- > 0;) {
      const std::size_t tensor = weights(layer);
      const T* dy = layer < hidden_.size() ? dhidden_[layer].data() : Base::dz_.data();
      Base::turn(Base::blocks_, Base::panels_[tensor].units, dy);
      if (Base::shape_.masks_biases) {
        Base::add_gradient(tensor + 1, Base::blocks_, ones_.data(), gradient);
      } else {
        Base::add_bias_gradient(tensor + 1, Base::blocks_, gradient);
      }
      if (layer == 0 && Base::x_.empty()) {
        Base::add_one_hot_gradient(tensor, Base::blocks_, Base::inputs_.data(), gradient);
        return;
      }
      const T* x = layer == 0 ? Base::x_.data() : hidden_[layer - 1].data();
      Base::add_gradient(tensor, Base::blocks_, x, gradient);
      if (layer == 0) {
        return;
      }
      Base::multiply_back(tensor, Base::blocks_, dy, nullptr, x, dhidden_[layer - 1].data());
    }
  }

  std::vector<AlignedVector<T>> hidden_, dhidden_;
  AlignedVector<T> ones_;   // [block][padded input][row]: what biases that can be masked are multiplied with
  AlignedVector<T> zeros_;  // and added to
};

}  // namespace modlab::models

#pragma once

#include "models/digits/digit_network.h"

namespace modlab::models {

// Fully connected layers with ReLU between them; the first gathers the weights of its active inputs.
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
  }

  // A layer's weights; its bias is the next tensor.
  static std::size_t weights(std::size_t layer) { return 2 * layer; }

  void run_forward() override {
    for (std::size_t layer = 0; layer <= hidden_.size(); ++layer) {
      const std::size_t tensor = weights(layer);
      const bool is_hidden = layer < hidden_.size();
      T* y = is_hidden ? hidden_[layer].data() : Base::z_.data();
      const T* bias = Base::value(tensor + 1);
      if (layer == 0) {
        Base::gather(tensor, Base::blocks_, Base::inputs_.data(), bias, y, is_hidden);
      } else {
        Base::multiply(tensor, Base::blocks_, hidden_[layer - 1].data(), bias, nullptr, y, is_hidden);
      }
    }
  }

  void run_backward(const DigitGradient<T>& gradient) override {
    for (std::size_t layer = hidden_.size() + 1; layer-- > 0;) {
      const std::size_t tensor = weights(layer);
      const T* dy = layer < hidden_.size() ? dhidden_[layer].data() : Base::dz_.data();
      Base::turn(Base::blocks_, Base::panels_[tensor].units, dy);
      Base::add_bias_gradient(tensor + 1, Base::blocks_, gradient);
      if (layer == 0) {
        Base::add_one_hot_gradient(tensor, Base::blocks_, Base::inputs_.data(), gradient);
        return;
      }
      const T* x = hidden_[layer - 1].data();
      Base::add_gradient(tensor, Base::blocks_, x, gradient);
      Base::multiply_back(tensor, Base::blocks_, dy, nullptr, x, dhidden_[layer - 1].data());
    }
  }

  std::vector<AlignedVector<T>> hidden_, dhidden_;
};

}  // namespace modlab::models

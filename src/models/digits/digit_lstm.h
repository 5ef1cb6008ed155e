#pragma once

#include <algorithm>

#include "models/digits/digit_network.h"

namespace modlab::models {

// LSTM cells one above the other, layer by layer over all steps: what a layer says of all steps is one product for the
// layer above. Masks are drawn once for all steps.
template <typename T>
class DigitLstm : public DigitNetworkOf<T> {
 public:
  using DigitNetworkOf<T>::DigitNetworkOf;

 private:
  using Base = DigitNetworkOf<T>;
  using RowBlocks = engine::solo::RowBlocks;

  // What a layer computes, [step][block][padded unit][row].
  struct Layer {
    AlignedVector<T> gates, memory, told, hidden;
    AlignedVector<T> dgates, dhidden;
  };

  int state() const { return Base::shape_.state; }
  int gate_units() const { return 4 * state(); }
  std::size_t steps() const { return static_cast<std::size_t>(Base::steps_); }
  static std::size_t input_weights(std::size_t layer) { return 3 * layer; }
  static std::size_t state_weights(std::size_t layer) { return 3 * layer + 1; }
  static std::size_t bias(std::size_t layer) { return 3 * layer + 2; }
  std::size_t projection() const { return 3 * layers_.size(); }
  RowBlocks blocks_of(int times) const {
    RowBlocks blocks = Base::blocks_;
    blocks.times = times;
    return blocks;
  }
  // A step's part of an array of all steps.
  T* at(AlignedVector<T>& values, std::size_t step, int units) const {
    return values.data() + step * Base::step_size(units);
  }

  void make_room() override {
    layers_.resize(static_cast<std::size_t>(Base::shape_.layers));
    for (Layer& layer : layers_) {
      layer.gates.assign(steps() * Base::step_size(gate_units()), T{0});
      layer.memory.assign(steps() * Base::step_size(state()), T{0});
      layer.told = layer.hidden = layer.dhidden = layer.memory;
      layer.dgates = layer.gates;
    }
    dmemory_.assign(Base::step_size(state()), T{0});
    read_.assign(Base::reads_.size() * Base::step_size(state()), T{0});
  }

  bool shows_the_same(std::size_t step) const {
    const auto size = static_cast<std::ptrdiff_t>(Base::one_hot_size());
    const auto now = Base::inputs_.begin() + static_cast<std::ptrdiff_t>(step) * size;
    return step > 0 && std::equal(now, now + size, now - size);
  }

  void run_forward() override {
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      run_layer(layer);
    }
    for (std::size_t read = 0; read < Base::reads_.size(); ++read) {
      std::copy_n(at(layers_.back().hidden, static_cast<std::size_t>(Base::reads_[read]), state()),
                  Base::step_size(state()), at(read_, read, state()));
    }
    Base::multiply(projection(), blocks_of(static_cast<int>(Base::reads_.size())), read_.data(),
                   Base::value(projection() + 1), nullptr, Base::z_.data(), false);
  }

  void run_layer(std::size_t index) {
    Layer& layer = layers_[index];
    const RowBlocks blocks = blocks_of(1);
    if (index > 0) {
      Base::multiply(input_weights(index), blocks_of(Base::steps_), layers_[index - 1].hidden.data(),
                     Base::value(bias(index)), nullptr, layer.gates.data(), false);
    }
    for (std::size_t step = 0; step < steps(); ++step) {
      T* gates = at(layer.gates, step, gate_units());
      const T* start = gates;
      if (index == 0) {
        // What the network is shown is often the same again, and so is the product.
        if (!shows_the_same(step)) {
          from_input_.resize(Base::step_size(gate_units()));
          Base::gather(input_weights(0), blocks, Base::inputs_.data() + step * Base::one_hot_size(),
                       Base::value(bias(0)), from_input_.data(), false);
        }
        start = from_input_.data();
      }
      if (step > 0) {
        Base::multiply(state_weights(index), blocks, at(layer.hidden, step - 1, state()), nullptr, start, gates, false);
      } else if (start != gates) {
        std::copy_n(start, Base::step_size(gate_units()), gates);
      }
      Base::share(blocks.count(), [&](int block) {
        const std::size_t place = block * Base::block_size(state());
        Base::kernels_.cell_forward({.gates = gates + block * Base::block_size(gate_units()),
                                     .before = step == 0 ? nullptr : at(layer.memory, step - 1, state()) + place,
                                     .memory = at(layer.memory, step, state()) + place,
                                     .told = at(layer.told, step, state()) + place,
                                     .hidden = at(layer.hidden, step, state()) + place,
                                     .width = blocks.width,
                                     .units = state()});
      });
    }
  }

  void run_backward(const DigitGradient<T>& gradient) override {
    const RowBlocks reads = blocks_of(static_cast<int>(Base::reads_.size()));
    Base::turn(reads, Base::shape_.outputs, Base::dz_.data());
    Base::add_bias_gradient(projection() + 1, reads, gradient);
    Base::add_gradient(projection(), reads, read_.data(), gradient);
    std::ranges::fill(layers_.back().dhidden, T{0});
    for (std::size_t read = 0; read < Base::reads_.size(); ++read) {
      Base::multiply_back(projection(), blocks_of(1), at(Base::dz_, read, Base::shape_.outputs), nullptr, nullptr,
                          at(layers_.back().dhidden, static_cast<std::size_t>(Base::reads_[read]), state()));
    }
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
      run_layer_backward(layer, gradient);
    }
  }

  void run_layer_backward(std::size_t index, const DigitGradient<T>& gradient) {
    Layer& layer = layers_[index];
    const RowBlocks blocks = blocks_of(1);
    std::ranges::fill(dmemory_, T{0});
    for (std::size_t step = steps(); step-- > 0;) {
      Base::share(blocks.count(), [&](int block) {
        const std::size_t place = block * Base::block_size(state());
        const std::size_t gate_place = block * Base::block_size(gate_units());
        Base::kernels_.cell_backward({.gates = at(layer.gates, step, gate_units()) + gate_place,
                                      .before = step == 0 ? nullptr : at(layer.memory, step - 1, state()) + place,
                                      .told = at(layer.told, step, state()) + place,
                                      .dhidden = at(layer.dhidden, step, state()) + place,
                                      .dmemory = dmemory_.data() + place,
                                      .d = at(layer.dgates, step, gate_units()) + gate_place,
                                      .width = blocks.width,
                                      .units = state()});
      });
      if (step > 0) {
        T* before = at(layer.dhidden, step - 1, state());
        Base::multiply_back(state_weights(index), blocks, at(layer.dgates, step, gate_units()), before, nullptr,
                            before);
      }
    }
    const RowBlocks all = blocks_of(Base::steps_);
    Base::turn(all, gate_units(), layer.dgates.data());
    Base::add_bias_gradient(bias(index), all, gradient);
    // Every step's state but the last one's is read at the next.
    Base::add_gradient(state_weights(index), blocks_of(Base::steps_ - 1), layer.hidden.data(), gradient,
                       blocks.count());
    if (index == 0) {
      Base::add_one_hot_gradient(input_weights(0), all, Base::inputs_.data(), gradient);
      return;
    }
    Layer& below = layers_[index - 1];
    Base::add_gradient(input_weights(index), all, below.hidden.data(), gradient);
    Base::multiply_back(input_weights(index), all, layer.dgates.data(), nullptr, nullptr, below.dhidden.data());
  }

  std::vector<Layer> layers_;
  AlignedVector<T> from_input_, dmemory_;
  AlignedVector<T> read_;  // states that the outputs read
};

}  // namespace modlab::models

#include "models/mlp.h"

#include <fmt/format.h>

namespace modlab::models {
namespace {

using engine::Kernels;
using engine::Layout;
using engine::Samples;
using engine::Step;
using engine::UnitBuffer;
using engine::Units;

constexpr int kChunkRows = 32;

template <typename T>
class Mlp final : public engine::Network<T> {
 public:
  Mlp(const MlpShape& shape, const Kernels<T>& kernels)
      : kernels_(kernels), widths_(shape.widths), layout_(mlp_layout(shape)) {
    int widest = 0;
    for (std::size_t layer = 1; layer < widths_.size(); ++layer) {
      activations_.emplace_back(widths_[layer], kChunkRows, kernels.lanes);
      widest = std::max(widest, widths_[layer - 1]);
    }
    for (UnitBuffer<T>& gradients : gradients_) {
      gradients = UnitBuffer<T>(widest, kChunkRows, kernels.lanes);
    }
  }

  const Layout& layout() const override { return layout_; }
  int chunk_rows() const override { return kChunkRows; }

  void begin_step(const Step<T>& /*step*/) override {}
  void end_step(const Step<T>& /*step*/, T* /*gradients*/) override {}
  void begin_evaluation(const T* /*parameters*/) override {}

  Units<const T> forward(const Step<T>& step, const Samples<T>& samples) override {
    engine::EvaluationRows<T> rows;
    rows.inputs = samples.inputs;
    rows.rows = samples.rows;
    return evaluate(step.parameters, rows);
  }

  Units<const T> evaluate(const T* parameters, const engine::EvaluationRows<T>& rows) override {
    Units<const T> x = rows.inputs;
    for (std::size_t layer = 0; layer + 1 < widths_.size(); ++layer) {
      const Units<T> y = activations_[layer].view();
      kernels_.dense_forward({.x = x,
                              .weights = parameters + weights(layer),
                              .bias = parameters + bias(layer),
                              .y = y,
                              .rows = rows.rows,
                              .in = widths_[layer],
                              .out = widths_[layer + 1],
                              .relu = layer + 2 < widths_.size()});
      x = y;
    }
    return x;
  }

  void backward(const Step<T>& step, const Samples<T>& samples, Units<const T> doutputs, T* gradients) override {
    Units<const T> dy = doutputs;
    for (std::size_t layer = widths_.size() - 1; layer-- > 0;) {
      const Units<const T> x = layer == 0 ? samples.inputs : activations_[layer - 1].view();
      const int in = widths_[layer];
      const int out = widths_[layer + 1];
      kernels_.dense_weight_gradient({.x = x,
                                      .dy = dy,
                                      .weights = gradients + weights(layer),
                                      .bias = gradients + bias(layer),
                                      .rows = samples.rows,
                                      .in = in,
                                      .out = out});
      if (layer > 0) {
        const Units<T> dx = gradients_[layer % 2].view();
        kernels_.dense_input_gradient({.dy = dy,
                                       .weights = step.parameters + weights(layer),
                                       .x = x,
                                       .dx = dx,
                                       .rows = samples.rows,
                                       .in = in,
                                       .out = out,
                                       .relu = true});
        dy = dx;
      }
    }
  }

 private:
  std::size_t weights(std::size_t layer) const { return layout_.tensors[2 * layer].offset * kernels_.lanes; }
  std::size_t bias(std::size_t layer) const { return layout_.tensors[2 * layer + 1].offset * kernels_.lanes; }

  const Kernels<T>& kernels_;
  std::vector<int> widths_;
  Layout layout_;
  std::vector<UnitBuffer<T>> activations_;  // one for each layer's output
  UnitBuffer<T> gradients_[2];              // of a layer's output and of its input, in turn
};

}  // namespace

Layout mlp_layout(const MlpShape& shape) {
  Layout layout;
  for (std::size_t layer = 0; layer + 1 < shape.widths.size(); ++layer) {
    const int in = shape.widths[layer];
    const int out = shape.widths[layer + 1];
    layout.add(fmt::format("layer{}.weight", layer), {out, in}, engine::Rate::kFunctional, in, out);
    layout.add(fmt::format("layer{}.bias", layer), {out}, engine::Rate::kFunctional, in, out);
  }
  return layout;
}

template <typename T>
std::unique_ptr<engine::Network<T>> make_mlp(const MlpShape& shape, const Kernels<T>& kernels) {
  return std::make_unique<Mlp<T>>(shape, kernels);
}

template std::unique_ptr<engine::Network<float>> make_mlp(const MlpShape&, const Kernels<float>&);
template std::unique_ptr<engine::Network<double>> make_mlp(const MlpShape&, const Kernels<double>&);

}  // namespace modlab::models

#include <algorithm>

#include "engine/solo/pixels.h"
#include "models/images/image_reader.h"
#include "models/layer_stack.h"

namespace modlab::models {
namespace {

using engine::solo::kChunkRows;
using engine::solo::kPixelUnits;
using engine::solo::padded;
using engine::solo::PixelRows;

// Fully connected layers, the first of them on pixels.
template <typename T>
class PixelReader : public Reader<T>, public engine::solo::LateGradient<T> {
 public:
  PixelReader(const ImageReader& shape, const ReaderTensors& tensors, int uses, engine::solo::Parameters<T>& parameters,
              const engine::solo::Kernels<T>& kernels)
      : inputs_(shape.parts * engine::solo::even(shape.pixels())),
        first_(tensors.layers.front()),
        units_(padded(shape.widths[1])),
        has_more_(tensors.layers.size() > 1),
        parameters_(parameters),
        kernels_(kernels),
        more_({shape.widths.begin() + 1, shape.widths.end()}, {tensors.layers.begin() + 1, tensors.layers.end()},
              units_, kernels) {
    const std::size_t size = static_cast<std::size_t>(kChunkRows) * units_;
    product_.resize(size);
    for (int use = 0; use < uses; ++use) {
      uses_.push_back({AlignedVector<T>(size), AlignedVector<T>(size), more_.make_use(kChunkRows), {}});
    }
  }

  const T* forward(int use, const PixelRows& x) override {
    Use& here = uses_[use];
    multiply(x, bias(), has_more_, here.y.data());
    return has_more_ ? more_.forward(parameters_, here.y.data(), x.rows, here.more) : here.y.data();
  }

  T* doutput(int use) override { return has_more_ ? uses_[use].more.dy.back().data() : uses_[use].dy.data(); }

  void begin_backward(bool late) override {
    more_.begin_backward(parameters_);
    is_late_ = late;
    used_.clear();
  }

  void backward(int use, const PixelRows& x) override {
    Use& here = uses_[use];
    if (has_more_) {
      more_.backward(parameters_, here.y.data(), true, true, x.rows, here.more);
    }
    engine::solo::make_columns(x, here.columns);
    if (!is_late_) {
      for_each_block([&](int unit, int units) {
        add_gradient(use, unit, units, 0, inputs_, parameters_.gradients(first_) + block_offset(unit), !used_.empty());
      });
    }
    used_.push_back(use);
    T* bias_gradient = parameters_.gradients(first_ + 1);
    for (int row = 0; row < x.rows; ++row) {
      for (int unit = 0; unit < units_; ++unit) {
        bias_gradient[unit] += dfirst(use)[static_cast<std::size_t>(row) * units_ + unit];
      }
    }
  }

  engine::solo::LateGradient<T>* late_gradient() override { return is_late_ && !used_.empty() ? this : nullptr; }
  std::size_t tensor() const override { return first_; }
  int inputs() const override { return inputs_; }
  int units() const override { return units_; }
  void compute(int unit, int first, int last, T* gradients) override {
    for (std::size_t at = 0; at < used_.size(); ++at) {
      add_gradient(used_[at], unit, std::min(kPixelUnits, units_ - unit), first, last, gradients, at > 0);
    }
  }

  T own_correlation(int use, int rows) override {
    // The product without its bias, where the gradient is not zero: behind a ReLU that is where it was positive.
    const T* y = uses_[use].y.data();
    for (int row = 0; row < rows; ++row) {
      for (int unit = 0; unit < units_; ++unit) {
        const std::size_t at = static_cast<std::size_t>(row) * units_ + unit;
        product_[at] = y[at] - bias()[unit];
      }
    }
    return kernels_.dot(product_.data(), dfirst(use), static_cast<std::size_t>(rows) * units_);
  }

  T correlation(int use, const PixelRows& other) override {
    multiply(other, nullptr, false, product_.data());
    return kernels_.dot(product_.data(), dfirst(use), static_cast<std::size_t>(other.rows) * units_);
  }

 private:
  struct Use {
    AlignedVector<T> y, dy;  // of the first layer
    typename LayerStack<T>::Use more;
    engine::solo::PixelColumns columns;
  };

  // One use's gradient of the weights of some inputs and a block of units: written, or added.
  void add_gradient(int use, int unit, int units, int first_input, int last_input, T* gradients, bool add) {
    kernels_.pixel_gradient({.columns = &uses_[use].columns,
                             .first = first_input / 2,
                             .last = last_input / 2,
                             .dy = dfirst(use) + unit,
                             .dy_stride = units_,
                             .gradients = gradients,
                             .units = units,
                             .add = add});
  }

  const T* bias() const { return parameters_.values(first_ + 1); }
  const T* dfirst(int use) const { return has_more_ ? uses_[use].more.dx.data() : uses_[use].dy.data(); }
  std::size_t block_offset(int unit) const { return static_cast<std::size_t>(unit) * inputs_; }

  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    for (int unit = 0; unit < units_; unit += kPixelUnits) {
      visit(unit, std::min(kPixelUnits, units_ - unit));
    }
  }

  void multiply(const PixelRows& x, const T* start, bool relu, T* y) const {
    for_each_block([&](int unit, int units) {
      kernels_.pixel_forward({.x = x,
                              .weights = parameters_.values(first_) + block_offset(unit),
                              .bias = start == nullptr ? nullptr : start + unit,
                              .y = y + unit,
                              .y_stride = units_,
                              .units = units,
                              .relu = relu});
    });
  }

  int inputs_;
  std::size_t first_;
  int units_;
  bool has_more_;
  engine::solo::Parameters<T>& parameters_;
  const engine::solo::Kernels<T>& kernels_;
  LayerStack<T> more_;
  std::vector<Use> uses_;
  AlignedVector<T> product_;
  bool is_late_ = false;
  std::vector<int> used_;  // backward, since begin_backward
};

}  // namespace

template <typename T>
std::unique_ptr<Reader<T>> make_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                       engine::solo::Parameters<T>& parameters,
                                       const engine::solo::Kernels<T>& kernels) {
  return shape.channels.empty() ? make_pixel_reader(shape, tensors, uses, parameters, kernels)
                                : make_convolution_reader(shape, tensors, uses, parameters, kernels);
}

template <typename T>
std::unique_ptr<Reader<T>> make_pixel_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                             engine::solo::Parameters<T>& parameters,
                                             const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<PixelReader<T>>(shape, tensors, uses, parameters, kernels);
}

template std::unique_ptr<Reader<float>> make_reader(const ImageReader&, const ReaderTensors&, int,
                                                    engine::solo::Parameters<float>&,
                                                    const engine::solo::Kernels<float>&);
template std::unique_ptr<Reader<double>> make_reader(const ImageReader&, const ReaderTensors&, int,
                                                     engine::solo::Parameters<double>&,
                                                     const engine::solo::Kernels<double>&);
template std::unique_ptr<Reader<float>> make_pixel_reader(const ImageReader&, const ReaderTensors&, int,
                                                          engine::solo::Parameters<float>&,
                                                          const engine::solo::Kernels<float>&);
template std::unique_ptr<Reader<double>> make_pixel_reader(const ImageReader&, const ReaderTensors&, int,
                                                           engine::solo::Parameters<double>&,
                                                           const engine::solo::Kernels<double>&);

}  // namespace modlab::models

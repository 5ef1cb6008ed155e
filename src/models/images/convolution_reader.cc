#include <algorithm>

#include "models/images/image_reader.h"
#include "models/layer_stack.h"

namespace modlab::models {
namespace {

using engine::solo::kChunkRows;
using engine::solo::padded;
using engine::solo::PixelRows;

// One convolution, ReLU and maximum, on one image at a time. An image is [position][channel], channels padded or not as
// its maker has them. A convolution is a fully connected layer on every window, so it is computed as one.
template <typename T>
class Convolution {
 public:
  Convolution(int rows, int columns, int channels_in, int in_stride, int channels, std::size_t tensor,
              engine::solo::Parameters<T>& parameters, const engine::solo::Kernels<T>& kernels)
      : columns_(columns),
        channels_in_(channels_in),
        in_stride_(in_stride),
        channels_(channels),
        rows_out_(rows - kKernelSize + 1),
        columns_out_(columns - kKernelSize + 1),
        tensor_(tensor),
        parameters_(parameters),
        kernels_(kernels),
        windows_(static_cast<std::size_t>(positions()) * window()),
        z_(static_cast<std::size_t>(positions()) * padded(channels)),
        dz_(z_.size()),
        dwindows_(static_cast<std::size_t>(positions()) * padded(window())),
        transposed_(static_cast<std::size_t>(channels) * padded(window())) {}

  int pooled_rows() const { return rows_out_ / kPoolSize; }
  int pooled_columns() const { return columns_out_ / kPoolSize; }
  std::size_t pooled_size() const {
    return static_cast<std::size_t>(pooled_rows()) * pooled_columns() * padded(channels_);
  }

  // `pooled` and, for each of its elements, which of the window's four positions it came from.
  void forward(const T* image, T* pooled, std::uint8_t* from) {
    multiply(image, parameters_.values(tensor_ + 1), true);
    for_each_pooled([&](std::size_t at, int channel, int row, int column) {
      T best = z(row, column, channel);
      std::uint8_t best_from = 0;
      for (std::uint8_t candidate = 1; candidate < kPoolSize * kPoolSize; ++candidate) {
        const T value = z(row + candidate / kPoolSize, column + candidate % kPoolSize, channel);
        if (value > best) {
          best = value;
          best_from = candidate;
        }
      }
      pooled[at] = best;
      from[at] = best_from;
    });
  }

  void begin_backward() {
    const T* weights = parameters_.values(tensor_);
    for (int unit = 0; unit < channels_; ++unit) {
      for (int input = 0; input < window(); ++input) {
        transposed_[static_cast<std::size_t>(unit) * padded(window()) + input] =
            weights[static_cast<std::size_t>(input) * padded(channels_) + unit];
      }
    }
  }

  // `dpooled` is zero where the maximum was not positive. `dimage`, if not null, is overwritten.
  void backward(const T* image, const T* dpooled, const std::uint8_t* from, T* dimage) {
    std::ranges::fill(dz_, T{0});
    for_each_pooled([&](std::size_t at, int channel, int row, int column) {
      dz_[index(row + from[at] / kPoolSize, column + from[at] % kPoolSize, channel)] = dpooled[at];
    });
    make_windows(image);
    kernels_.layer_weight_gradient({.x = windows_.data(),
                                    .x_stride = window(),
                                    .dy = dz_.data(),
                                    .weights = parameters_.gradients(tensor_),
                                    .bias = parameters_.gradients(tensor_ + 1),
                                    .rows = positions(),
                                    .in = window(),
                                    .out = channels_});
    if (dimage == nullptr) {
      return;
    }
    kernels_.layer_input_gradient({.dy = dz_.data(),
                                   .transposed = transposed_.data(),
                                   .x = nullptr,
                                   .dx = dwindows_.data(),
                                   .rows = positions(),
                                   .in = window(),
                                   .out = channels_});
    std::fill_n(dimage, static_cast<std::size_t>(rows_out_ + kKernelSize - 1) * columns_ * in_stride_, T{0});
    for_each_window([&](int position, int place, std::size_t pixel) {
      dimage[pixel] += dwindows_[static_cast<std::size_t>(position) * padded(window()) + place];
    });
  }

  // The sum over pixels of dL/dpixel times the pixel: of the image that gave `pooled`, and of another.
  T own_correlation(const T* pooled, const T* dpooled) const {
    const T* bias = parameters_.values(tensor_ + 1);
    T sum = 0;
    for_each_pooled([&](std::size_t at, int channel, int, int) { sum += dpooled[at] * (pooled[at] - bias[channel]); });
    return sum;
  }
  T correlation(const T* other, const T* dpooled, const std::uint8_t* from) {
    multiply(other, nullptr, false);
    T sum = 0;
    for_each_pooled([&](std::size_t at, int channel, int row, int column) {
      sum += dpooled[at] * z(row + from[at] / kPoolSize, column + from[at] % kPoolSize, channel);
    });
    return sum;
  }

 private:
  int positions() const { return rows_out_ * columns_out_; }
  int window() const { return channels_in_ * kKernelSize * kKernelSize; }
  std::size_t index(int row, int column, int channel) const {
    return (static_cast<std::size_t>(row) * columns_out_ + column) * padded(channels_) + channel;
  }
  T z(int row, int column, int channel) const { return z_[index(row, column, channel)]; }

  // Calls visit(element of the pooled image, channel, row and column of the first of its four positions).
  template <typename Visit>
  void for_each_pooled(const Visit& visit) const {
    for (int row = 0; row < pooled_rows(); ++row) {
      for (int column = 0; column < pooled_columns(); ++column) {
        const std::size_t first = (static_cast<std::size_t>(row) * pooled_columns() + column) * padded(channels_);
        for (int channel = 0; channel < channels_; ++channel) {
          visit(first + channel, channel, row * kPoolSize, column * kPoolSize);
        }
      }
    }
  }

  // Calls visit(position, place in its window, element of the image).
  template <typename Visit>
  void for_each_window(const Visit& visit) const {
    for (int row = 0; row < rows_out_; ++row) {
      for (int column = 0; column < columns_out_; ++column) {
        const int position = row * columns_out_ + column;
        int place = 0;
        for (int channel = 0; channel < channels_in_; ++channel) {
          for (int y = row; y < row + kKernelSize; ++y) {
            for (int x = column; x < column + kKernelSize; ++x, ++place) {
              visit(position, place, (static_cast<std::size_t>(y) * columns_ + x) * in_stride_ + channel);
            }
          }
        }
      }
    }
  }

  void make_windows(const T* image) {
    for_each_window([&](int position, int place, std::size_t pixel) {
      windows_[static_cast<std::size_t>(position) * window() + place] = image[pixel];
    });
  }

  void multiply(const T* image, const T* bias, bool relu) {
    make_windows(image);
    kernels_.layer_forward({.x = windows_.data(),
                            .x_stride = window(),
                            .weights = parameters_.values(tensor_),
                            .bias = bias,
                            .y = z_.data(),
                            .rows = positions(),
                            .in = window(),
                            .out = channels_,
                            .relu = relu});
  }

  int columns_;
  int channels_in_;
  int in_stride_;
  int channels_;
  int rows_out_;
  int columns_out_;
  std::size_t tensor_;
  engine::solo::Parameters<T>& parameters_;
  const engine::solo::Kernels<T>& kernels_;
  AlignedVector<T> windows_, z_, dz_, dwindows_, transposed_;
};

template <typename T>
class ConvolutionReader : public Reader<T> {
 public:
  ConvolutionReader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                    engine::solo::Parameters<T>& parameters, const engine::solo::Kernels<T>& kernels)
      : shape_(shape),
        parameters_(parameters),
        first_(shape.rows, shape.columns, shape.parts, shape.parts, shape.channels[0], tensors.convolutions[0],
               parameters, kernels),
        second_(first_.pooled_rows(), first_.pooled_columns(), shape.channels[0], padded(shape.channels[0]),
                shape.channels[1], tensors.convolutions[1], parameters, kernels),
        layers_(shape.widths, tensors.layers, flat_stride(), kernels),
        image_(static_cast<std::size_t>(shape.pixels()) * shape.parts),
        pooled_(second_.pooled_size()),
        dpooled_(second_.pooled_size()) {
    for (int use = 0; use < uses; ++use) {
      uses_.push_back(
          {AlignedVector<T>(kChunkRows * first_.pooled_size()), AlignedVector<T>(kChunkRows * first_.pooled_size()),
           std::vector<std::uint8_t>(kChunkRows * first_.pooled_size()),
           std::vector<std::uint8_t>(kChunkRows * second_.pooled_size()),
           AlignedVector<T>(static_cast<std::size_t>(kChunkRows) * flat_stride()), layers_.make_use(kChunkRows)});
    }
  }

  const T* forward(int use, const PixelRows& x) override {
    Use& here = uses_[use];
    for (int row = 0; row < x.rows; ++row) {
      take_image(x, row);
      T* pooled = here.pooled.data() + row * first_.pooled_size();
      first_.forward(image_.data(), pooled, here.from.data() + row * first_.pooled_size());
      second_.forward(pooled, pooled_.data(), here.second_from.data() + row * second_.pooled_size());
      T* flat = here.flat.data() + static_cast<std::size_t>(row) * flat_stride();
      for_each_flat([&](std::size_t at, std::size_t element) { flat[at] = pooled_[element]; });
    }
    return layers_.forward(parameters_, here.flat.data(), x.rows, here.layers);
  }

  T* doutput(int use) override { return uses_[use].layers.dy.back().data(); }

  void begin_backward(bool /*late*/) override {
    layers_.begin_backward(parameters_);
    first_.begin_backward();
    second_.begin_backward();
  }

  engine::solo::LateGradient<T>* late_gradient() override { return nullptr; }

  void backward(int use, const PixelRows& x) override {
    Use& here = uses_[use];
    layers_.backward(parameters_, here.flat.data(), true, true, x.rows, here.layers);
    for (int row = 0; row < x.rows; ++row) {
      const T* dflat = here.layers.dx.data() + static_cast<std::size_t>(row) * flat_stride();
      for_each_flat([&](std::size_t at, std::size_t element) { dpooled_[element] = dflat[at]; });
      const T* pooled = here.pooled.data() + row * first_.pooled_size();
      T* dpooled = here.dpooled.data() + row * first_.pooled_size();
      second_.backward(pooled, dpooled_.data(), here.second_from.data() + row * second_.pooled_size(), dpooled);
      for (std::size_t element = 0; element < first_.pooled_size(); ++element) {
        dpooled[element] = pooled[element] > 0 ? dpooled[element] : T{0};
      }
      take_image(x, row);
      first_.backward(image_.data(), dpooled, here.from.data() + row * first_.pooled_size(), nullptr);
    }
  }

  T own_correlation(int use, int rows) override {
    const Use& here = uses_[use];
    T sum = 0;
    for (int row = 0; row < rows; ++row) {
      sum += first_.own_correlation(here.pooled.data() + row * first_.pooled_size(),
                                    here.dpooled.data() + row * first_.pooled_size());
    }
    return sum;
  }

  T correlation(int use, const PixelRows& other) override {
    const Use& here = uses_[use];
    T sum = 0;
    for (int row = 0; row < other.rows; ++row) {
      take_image(other, row);
      sum += first_.correlation(image_.data(), here.dpooled.data() + row * first_.pooled_size(),
                                here.from.data() + row * first_.pooled_size());
    }
    return sum;
  }

 private:
  struct Use {
    AlignedVector<T> pooled, dpooled;  // after the first convolution, [row]
    std::vector<std::uint8_t> from, second_from;
    AlignedVector<T> flat;  // what the layers read, [row]
    typename LayerStack<T>::Use layers;
  };

  int flat_stride() const { return padded(shape_.widths.front()); }

  // The published order of the layers' inputs: channel by channel.
  template <typename Visit>
  void for_each_flat(const Visit& visit) const {
    const int positions = second_.pooled_rows() * second_.pooled_columns();
    const int stride = padded(shape_.channels[1]);
    for (int channel = 0; channel < shape_.channels[1]; ++channel) {
      for (int position = 0; position < positions; ++position) {
        visit(static_cast<std::size_t>(channel) * positions + position,
              static_cast<std::size_t>(position) * stride + channel);
      }
    }
  }

  // One row's images as channels.
  void take_image(const PixelRows& x, int row) {
    const engine::solo::PixelImages& images = *x.images;
    std::ranges::fill(image_, T{0});
    for (int part = 0; part < x.parts; ++part) {
      const std::size_t image = x.numbers[static_cast<std::size_t>(row) * x.stride + part];
      const std::uint32_t last = images.begin[(image + 1) * images.bands()];
      for (std::uint32_t at = images.begin[image * images.bands()]; at < last; ++at) {
        image_[static_cast<std::size_t>(images.places[at]) * x.parts + part] =
            static_cast<T>(images.value_of_byte[images.bytes[at]]);
      }
    }
  }

  ImageReader shape_;
  engine::solo::Parameters<T>& parameters_;
  Convolution<T> first_;
  Convolution<T> second_;
  LayerStack<T> layers_;
  std::vector<Use> uses_;
  AlignedVector<T> image_, pooled_, dpooled_;
};

}  // namespace

template <typename T>
std::unique_ptr<Reader<T>> make_convolution_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                                   engine::solo::Parameters<T>& parameters,
                                                   const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<ConvolutionReader<T>>(shape, tensors, uses, parameters, kernels);
}

template std::unique_ptr<Reader<float>> make_convolution_reader(const ImageReader&, const ReaderTensors&, int,
                                                                engine::solo::Parameters<float>&,
                                                                const engine::solo::Kernels<float>&);
template std::unique_ptr<Reader<double>> make_convolution_reader(const ImageReader&, const ReaderTensors&, int,
                                                                 engine::solo::Parameters<double>&,
                                                                 const engine::solo::Kernels<double>&);

}  // namespace modlab::models

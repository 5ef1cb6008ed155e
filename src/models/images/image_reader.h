#pragma once

#include <memory>

#include "engine/solo/network.h"
#include "models/images/shape.h"

namespace modlab::models {

// What reads images in a network. It may be used several times in a step (a pool's reader, by several image slots),
// each use on rows of its own.
template <typename T>
class Reader {
 public:
  virtual ~Reader() = default;

  // Values of each row, [row][padded output].
  virtual const T* forward(int use, const engine::solo::PixelRows& x) = 0;
  // Where the gradient of those values goes before backward.
  virtual T* doutput(int use) = 0;
  // Once in a step, before its backward passes; `late`: the first layer's gradient is asked for afterwards.
  virtual void begin_backward(bool late) = 0;
  virtual void backward(int use, const engine::solo::PixelRows& x) = 0;
  // Null if there is none, or nobody has used the reader backward.
  virtual engine::solo::LateGradient<T>* late_gradient() = 0;

  // The sum over rows and pixels of dL/dpixel times the pixel of the image that was read: half of what an image
  // selection learns from. All layers before the first ReLU are linear, so this is a sum over that layer's units.
  virtual T own_correlation(int use, int rows) = 0;
  // The same with other images in place of those that were read.
  virtual T correlation(int use, const engine::solo::PixelRows& other) = 0;
};

template <typename T>
std::unique_ptr<Reader<T>> make_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                       engine::solo::Parameters<T>& parameters,
                                       const engine::solo::Kernels<T>& kernels);

template <typename T>
std::unique_ptr<Reader<T>> make_pixel_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                             engine::solo::Parameters<T>& parameters,
                                             const engine::solo::Kernels<T>& kernels);
template <typename T>
std::unique_ptr<Reader<T>> make_convolution_reader(const ImageReader& shape, const ReaderTensors& tensors, int uses,
                                                   engine::solo::Parameters<T>& parameters,
                                                   const engine::solo::Kernels<T>& kernels);

}  // namespace modlab::models

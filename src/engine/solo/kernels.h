#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/aligned_vector.h"
#include "core/random.h"
#include "engine/kernels/kernels.h"

// The solo kernels: one network at a time, for networks whose first layer reads images. A vector holds neighbouring
// units of one layer, rows of activations are [row][unit], and the units of a row are padded to a multiple of kUnitPad,
// so that a row is whole vectors on every target. Weights are [input][unit], padded in the same way. Padding stays
// zero.
//
// As with the lane kernels, a unit's sum runs over inputs or rows in their order, whatever the tile and the width of a
// vector, so the bits are the same on every target. The one sum across units, `dot`, has kUnitPad partial sums
// everywhere.
namespace modlab::engine::solo {

inline constexpr int kUnitPad = 16;
constexpr int padded(int units) { return (units + kUnitPad - 1) / kUnitPad * kUnitPad; }

// Bands of neighbouring pixels: a band's weights stay in the first cache level while all rows of a batch pass by.
inline constexpr int kBandPixels = 112;
constexpr int band_count(int pixels) { return (pixels + kBandPixels - 1) / kBandPixels; }
// Units of a first layer that are computed together; its weights are kept in blocks of so many units,
// [block][input][unit], so that a band of a block is contiguous.
inline constexpr int kPixelUnits = 128;

// Images as their pixels that are not zero, in the order of the pixels.
struct PixelImages {
  // Of an image, zero ones included. Even, since they are taken in pairs: where images have an odd number, the last is
  // one that no image has.
  int pixels = 0;
  std::array<float, 256> value_of_byte{};

  // One by one, for the forward product.
  AlignedVector<std::uint16_t> places;
  AlignedVector<std::uint8_t> bytes;
  AlignedVector<std::uint32_t> begin;  // [image][band], and the end of the last

  // Two neighbours at a time, 2 p and 2 p + 1, for the weights' gradient: where one is not zero, the other seldom is,
  // and both take their products from one load.
  struct Pair {
    std::uint16_t place;
    std::uint8_t left, right;
  };
  AlignedVector<Pair> pairs;
  AlignedVector<std::uint32_t> pairs_begin;  // [image], and the end of the last

  std::size_t count() const { return pairs_begin.empty() ? 0 : pairs_begin.size() - 1; }
  std::size_t bands() const { return static_cast<std::size_t>(band_count(pixels)); }
};

// Rows of images: a row is `parts` images side by side, so that pixel p of part k is input k * pixels + p.
struct PixelRows {
  const PixelImages* images = nullptr;
  const std::uint32_t* numbers = nullptr;  // [row], `stride` apart: the first of `parts` image numbers
  int stride = 1;
  int parts = 1;
  int rows = 0;
};

// y = act(b + x W) of one block of a first layer's units, at most kPixelUnits; rows of y are `y_stride` apart.
template <typename T>
struct PixelForward {
  PixelRows x;
  const T* weights;
  const T* bias;  // or null
  T* y;
  int y_stride;
  int units;  // padded
  bool relu;
};

// The rows of a batch seen from the pairs of inputs: for each pair the rows where it is not zero, ascending. Small
// entries, since they are written in no order: all of a batch's lie in the first cache level.
struct PixelColumns {
  struct Entry {
    std::uint16_t row;
    std::uint8_t left, right;
  };
  const PixelImages* images = nullptr;
  std::vector<std::uint32_t> begin;  // [pair], and the end of the last
  std::vector<Entry> entries;

  int pairs() const { return static_cast<int>(begin.size()) - 1; }
};

// dW = x' dy, or dW += x' dy, of such a block, for the inputs of the pairs [first, last): gradients begin with theirs.
template <typename T>
struct PixelGradient {
  const PixelColumns* columns;
  int first, last;
  const T* dy;
  int dy_stride;
  T* gradients;
  int units;
  bool add;
};

// y = act(b + x W). `in` and `x_stride` tell how much of a row of x is read and how far apart its rows are.
template <typename T>
struct LayerForward {
  const T* x;
  int x_stride;
  const T* weights;
  const T* bias;  // or null
  T* y;
  int rows, in, out;
  bool relu;
};

// dx = dy W', where `transposed` is W as [unit][input], zeroed where the activation x came out of a ReLU at zero.
template <typename T>
struct LayerInputGradient {
  const T* dy;
  const T* transposed;
  const T* x;  // null: no ReLU below
  T* dx;
  int rows, in, out;
};

// dW += x' dy, db += dy.
template <typename T>
struct LayerWeightGradient {
  const T* x;
  int x_stride;
  const T* dy;
  T* weights;
  T* bias;  // or null
  int rows, in, out;
};

// Loss and its gradient, elementwise: for the mean over rows and outputs given by `scale`. Arrays are padded.
template <typename T>
struct OutputLoss {
  const T* z;
  const T* targets;  // 0 or 1
  T* d;              // or null
  T* loss;           // or null; not scaled
  T scale;
  LossKind kind;
  int count;
};

// Standard normals of one stream, where all lanes belong to one network. They come in blocks of kNormalBlock, and a
// number depends on its place alone: the same on every target, however many are asked for.
inline constexpr int kNormalBlock = 64;
struct Normals {
  Words4 key;
  std::uint32_t step;
  std::uint32_t use;  // of several in a step
  float* out;
  int count;  // a multiple of kNormalBlock
};

template <typename T>
struct Kernels {
  const char* target;

  void (*pixel_forward)(const PixelForward<T>&);
  void (*pixel_gradient)(const PixelGradient<T>&);
  void (*layer_forward)(const LayerForward<T>&);
  void (*layer_input_gradient)(const LayerInputGradient<T>&);
  void (*layer_weight_gradient)(const LayerWeightGradient<T>&);
  void (*output_loss)(const OutputLoss<T>&);
  // The sum of a * b over `count` elements, a multiple of kUnitPad.
  T (*dot)(const T* a, const T* b, std::size_t count);
  // y = sigmoid(x) and y = e^x, elementwise on padded arrays.
  void (*sigmoid)(const T* x, T* y, int count);
  void (*exponential)(const T* x, T* y, int count);
  void (*normals)(const Normals&);
};

// Of the same target as the given lane kernels.
const Kernels<float>& kernels_for(const std::string& target);
const Kernels<double>& oracle_kernels();

}  // namespace modlab::engine::solo

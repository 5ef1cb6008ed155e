#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/aligned_vector.h"
#include "core/random.h"
#include "engine/kernels/kernels.h"

// The solo kernels: one network at a time, for networks on images and on rules. A vector holds neighbouring units of
// one layer (attention: samples), rows of activations are [row][unit], and the units of a row are padded to a multiple
// of kUnitPad, so that a row is whole vectors on every target. Weights are [input][unit], padded in the same way.
// Padding stays zero.
//
// As with the lane kernels, a unit's sum runs over inputs or rows in their order, whatever the tile and the width of a
// vector, so the bits are the same on every target. Sums across units (`dot`, scores, what gates are asked) have
// kUnitPad partial sums everywhere.
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
  bool add = false;  // to what dx holds
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

// Attention among the tokens of each sample, every token to all but itself, head by head. Rows are the tokens of a
// sample one after the other, `stride` apart, heads side by side. A sample has two tokens or more.
template <typename T>
struct AttentionShape {
  int samples, length, heads, width, stride;
  T scale;  // of the scores

  // Heads that are turned into lanes together: enough that a row of them is a line of the cache, if there are so many.
  int group() const {
    int count = 1;
    while (count < heads && (count * width < kUnitPad || heads % count != 0)) {
      ++count;
    }
    return count;
  }
  int groups() const { return heads / group(); }
  std::ptrdiff_t path_size() const { return static_cast<std::ptrdiff_t>(length) * group() * width * kUnitPad; }
  std::ptrdiff_t share_size() const { return static_cast<std::ptrdiff_t>(length) * length * kUnitPad; }
  // Numbers of what forward leaves for backward, and of what either needs for itself.
  std::size_t lanes_size() const { return static_cast<std::size_t>(blocks() * groups() * 3 * path_size()); }
  std::size_t shares_size() const { return static_cast<std::size_t>(blocks() * heads * share_size()); }
  std::size_t scratch_size() const { return static_cast<std::size_t>(2 * path_size() + group() * share_size()); }
  // Of samples that fill the lanes.
  std::ptrdiff_t blocks() const { return padded(samples) / kUnitPad; }
};
template <typename T>
struct AttentionForward {
  AttentionShape<T> shape;
  const T* queries;
  const T* keys;
  const T* values;
  T* found;
  T* lanes;   // queries, keys and values with a lane for each sample
  T* shares;  // how much each token attends to each other, in the same way
  T* scratch;
};
template <typename T>
struct AttentionBackward {
  AttentionShape<T> shape;
  const T* dfound;
  T* dqueries;
  T* dkeys;
  T* dvalues;
  T* lanes;  // as forward left them
  T* shares;
  T* scratch;
};

// An LSTM cell, from what input and state say of its 4 h units, [row][padded 4 h], in the order input, forget, output,
// candidate; behind the last row kUnitPad more numbers can be read. Everything else is [row][padded h], `parts` four of
// these. The new c is `memory`, `told` its tanh, and the new h is `hidden` where that is not null.
template <typename T>
struct LstmForward {
  const T* from_input;
  const T* from_state;
  const T* before;  // c
  T* parts;
  T* memory;
  T* told;
  T* hidden;
  int rows, units;
};
// The states of several cells, weighed: mixed = gate * own, or mixed += gate * own.
template <typename T>
struct LstmMix {
  const T* parts;
  const T* memory;
  const T* told;
  const T* gates;  // [row], `gate_stride` apart
  int gate_stride;
  T* mixed_hidden;
  T* mixed_memory;
  int rows, units;
  bool add;
};
// What the gradients of a mixture ask of a cell's gate.
template <typename T>
struct LstmAsk {
  const T* dhidden;
  const T* dmemory;
  const T* parts;
  const T* memory;
  const T* told;
  T* asked;  // [row], `asked_stride` apart
  int asked_stride;
  int rows, units;
};
// Gives d, [row][padded 4 h], whose padding stays as it is, and the gradient of c before.
template <typename T>
struct LstmBackward {
  const T* dhidden;
  const T* dmemory;
  const T* gates;  // or null: 1
  int gate_stride;
  const T* parts;
  const T* told;
  const T* before;
  T* d;
  T* dbefore;
  int rows, units;
  bool add;  // to dbefore
};

// score = sum of weights * max(x, 0) of each row, or score += that; and the way back, which adds to all that it gives.
template <typename T>
struct ReluScore {
  const T* x;  // [row][padded unit]
  const T* weights;
  T* scores;  // [row], `score_stride` apart
  int score_stride;
  int rows, units;
  bool add;
};
template <typename T>
struct ReluScoreGradient {
  const T* x;
  const T* weights;
  const T* dscores;
  int score_stride;
  T* dweights;
  T* dx;
  int rows, units;
};

// Random numbers of one stream, where all lanes belong to one network: standard normals, or standard Gumbel numbers.
// They come in blocks of kNormalBlock, and a number depends on its place alone: the same on every target, however many
// are asked for.
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
  // to[column][row] = from[row][column], with rows of `from` and of `to` so far apart.
  void (*turn)(const T* from, std::ptrdiff_t from_stride, int rows, int columns, T* to, std::ptrdiff_t to_stride);
  void (*attention_forward)(const AttentionForward<T>&);
  void (*attention_backward)(const AttentionBackward<T>&);
  void (*lstm_forward)(const LstmForward<T>&);
  void (*lstm_mix)(const LstmMix<T>&);
  void (*lstm_ask)(const LstmAsk<T>&);
  void (*lstm_backward)(const LstmBackward<T>&);
  void (*relu_score)(const ReluScore<T>&);
  void (*relu_score_gradient)(const ReluScoreGradient<T>&);
  void (*output_loss)(const OutputLoss<T>&);
  // The sum of a * b over `count` elements, a multiple of kUnitPad.
  T (*dot)(const T* a, const T* b, std::size_t count);
  // y = sigmoid(x) and y = e^x, elementwise on padded arrays.
  void (*sigmoid)(const T* x, T* y, int count);
  void (*exponential)(const T* x, T* y, int count);
  void (*normals)(const Normals&);
  void (*gumbels)(const Normals&);
};

// Of the same target as the given lane kernels.
const Kernels<float>& kernels_for(const std::string& target);
const Kernels<double>& oracle_kernels();

}  // namespace modlab::engine::solo

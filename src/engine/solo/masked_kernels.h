#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/random.h"
#include "engine/solo/kernels.h"

// Kernels for one network whose weights are kept or left out by masks, some samples of which are drawn at a time: each
// sample has rows of the batch of its own. Without masks they train the weights themselves.
//
// A mask's bit is used for a few vectors of rows only, so a product must not spend time on it: weights lie in panels of
// kUnitPad neighbouring units, [panel][input][unit], and rows in blocks, [block][unit][row]. A product copies a piece
// of a panel under a sample's bits into the first cache level, and takes its numbers as factors of vectors of rows. The
// same does for sums over inputs and for sums over units, and nothing is turned. Inputs are padded to a multiple of
// kInputPad and units to one of kUnitPad; padding stays zero.
namespace modlab::engine::solo {

inline constexpr int kInputPad = 8;
constexpr int padded_inputs(int inputs) { return (inputs + kInputPad - 1) / kInputPad * kInputPad; }
// Samples of a mask at most: their gradients lie side by side for a tile.
inline constexpr int kMostSamples = 32;
constexpr int panel_count(int units) { return padded(units) / kUnitPad; }

// A logit farther than this from 0 (times tau, where that is larger than 1) has no slope: on average it would be less
// than 3e-12. Most logits of a trained mask are that far down, and what leads nowhere is not computed.
inline constexpr double kFarLogit = 30;
// Below this a bit is never 1: a uniform number has 31 bits.
inline constexpr double kNeverLogit = -22;

// How the rows of a batch are cut: block b of a step belongs to sample b / each, and the blocks of one time step follow
// those of the one before.
struct RowBlocks {
  int width = 32;  // rows of a block: 16 or 32
  int samples = 1;
  int each = 1;  // blocks of a sample, at a time step
  int times = 1;

  int at_once() const { return samples * each; }
  int count() const { return times * at_once(); }
  int padded_rows() const { return count() * width; }
};

template <typename T>
struct MaskedWeights {
  const T* values;            // [panel][padded input][kUnitPad]
  const std::uint16_t* bits;  // [panel][padded input][sample], a bit for each unit; null: all weights are kept
  int inputs, units;

  std::ptrdiff_t panel_size() const { return static_cast<std::ptrdiff_t>(padded_inputs(inputs)) * kUnitPad; }
};

// Of which numbers masks are drawn: those of one use of one tensor in one forward call.
struct MaskNoise {
  Words4 key;  // of seed, stream and stage
  std::uint32_t step;
  std::uint32_t call;
  std::uint32_t tensor;
};
inline Words4 mask_key(std::uint64_t seed, std::uint32_t stage) {
  Words4 key = stream_key(seed, Stream::kMaskNoise);
  key[3] = stage;
  return key;
}
// Four samples share a draw.
inline std::uint32_t mask_use(const MaskNoise& noise, int sample) {
  return noise.call << 16U | noise.tensor << 8U | static_cast<std::uint32_t>(sample / 4);
}
// The uniform number between 0 and 1 of one weight, `index` counted as in the layout: unit * inputs + input. A word
// says how far it is from 1.
inline double mask_uniform(const MaskNoise& noise, int sample, std::uint32_t index) {
  const Words4 words = threefry({index, noise.step, mask_use(noise, sample), 0}, noise.key);
  return 1 - (static_cast<double>(words[static_cast<std::size_t>(sample % 4)] >> 1U) + 0.5) * 0x1p-31;
}

// Bits of some panels: 1 with the probability sigmoid(logit), or where it is positive.
template <typename T>
struct MaskDraw {
  const T* logits;  // [panel][padded input][kUnitPad]
  std::uint16_t* bits;
  int inputs, units, samples;
  MaskNoise noise;
  MaskDrawing kind;  // not kHardConcrete, whose numbers are no bits
  int first_panel, last_panel;
};

// y = act(start + x W) of some panels, for all blocks. `start` is like y; null: the bias.
template <typename T>
struct MaskedForward {
  MaskedWeights<T> weights;
  RowBlocks blocks;
  const T* x;  // [block][padded unit below][row]
  const T* bias;
  const T* start;
  T* y;
  bool relu;
  int first_panel, last_panel;
};

// dx = start + dy W' of the inputs [first, last), multiples of kUnitPad or the end, zeroed where the activation x came
// out of a ReLU at zero.
template <typename T>
struct MaskedInputGradient {
  MaskedWeights<T> weights;
  RowBlocks blocks;
  const T* dy;     // [block][padded unit][row]
  const T* start;  // or null: zero
  const T* x;      // null: no ReLU below
  T* dx;
  int first_input, last_input;
};

// What gradients are asked for: those of the weights, or those of the logits with draws made once more.
template <typename T>
struct MaskSlope {
  const T* logits = nullptr;  // null: the gradient is the weights'
  MaskNoise noise = {};
  MaskDrawing kind = MaskDrawing::kGumbel;
  T inverse_tau = 1;
  T alpha = 0;            // what a logit's gradient begins with: of alpha times the sum of the logits,
  bool of_count = false;  // or of the expected number of kept weights
};
// dW = x' dy, or for logits the sum over samples k of (x' dy)_k * w * s_k (1 - s_k) / tau and alpha; of some panels.
template <typename T>
struct MaskedGradient {
  MaskedWeights<T> weights;
  RowBlocks blocks;
  const T* x;
  const T* dy_rows;  // [block][panel][row][kUnitPad]
  MaskSlope<T> slope;
  T* gradients;    // like the weights
  T* weight_sums;  // beside those of logits: the weights' own, under the bits, are added to it; or null
  bool add;        // to what is there, instead of beginning with alpha
  int first_panel, last_panel;
};

// The same for a layer whose inputs are 0 and 1 and given by the places of the ones.
struct OneHotRows {
  const std::uint16_t* inputs;  // [block][row][active]
  int active;
  std::uint16_t none;  // not an input
};
template <typename T>
struct OneHotForward {
  MaskedWeights<T> weights;
  RowBlocks blocks;
  OneHotRows x;
  const T* bias;
  T* y;
  bool relu;
  int first_panel, last_panel;
};
template <typename T>
struct OneHotGradient {
  MaskedWeights<T> weights;
  RowBlocks blocks;
  OneHotRows x;
  const T* dy_rows;
  MaskSlope<T> slope;
  T* gradients;
  T* weight_sums;
  T* room;  // [sample][input][kUnitPad] for one panel
  bool add;
  int first_panel, last_panel;
};

// [unit][row] of one block becomes [panel][row][kUnitPad], and bias gradients: sums over all rows.
template <typename T>
struct TurnRows {
  const T* from;
  T* to;
  int width, units;
};
template <typename T>
struct RowSums {
  const T* dy_rows;
  T* sums;  // of one panel
  int blocks, width, panels, panel;
  bool add;
};

// The same where passes are made with each sample's weights in turn, which need not be bits times weights then:
// parameters as they lie in memory, and beside them what each sample makes of them, `stride` numbers apart. A multiple
// of kUnitPad numbers; `first_index` is the first one's index.
template <typename T>
struct FlatMaskDraw {
  const T* logits;
  const T* weights;
  T* masked;  // [sample][weight]
  std::size_t count, stride;
  std::uint32_t first_index;
  int samples;
  MaskNoise noise;
  MaskDrawing kind;
  T inverse_tau;
};
template <typename T>
struct FlatMaskGradient {
  const T* weights;
  const T* products;  // [sample][weight]: gradients of the masked weights
  std::size_t count, stride;
  std::uint32_t first_index;
  int samples;
  MaskSlope<T> slope;
  T* gradients;
};

inline constexpr int kLossClasses = 10;  // of a digit
// Ten classes for each digit: the loss of each row, summed over the digits that are read and count, and its gradient.
template <typename T>
struct DigitLoss {
  const T* z;       // [padded unit][row] of one block
  const T* digits;  // [group][row]: the class that is right; negative where the row or the group does not count
  T* d;             // or null
  T* loss;          // [row], added to
  T scale;          // of d
  int width, groups;
};

// An LSTM cell on one block: gates of 4 h units in the order input, forget, cell, output, [gate][unit][row].
template <typename T>
struct CellForward {
  T* gates;         // before the squashing and after it
  const T* before;  // c; null: zero
  T* memory;        // the new c
  T* told;          // its tanh
  T* hidden;
  int width, units;
};
template <typename T>
struct CellBackward {
  const T* gates;
  const T* before;
  const T* told;
  const T* dhidden;
  T* dmemory;  // of the new c, and then of the one before
  T* d;        // [gate][unit][row]
  int width, units;
};

template <typename T>
struct MaskedKernels {
  const char* target;

  void (*draw)(const MaskDraw<T>&);
  void (*flat_draw)(const FlatMaskDraw<T>&);
  void (*flat_gradient)(const FlatMaskGradient<T>&);
  void (*forward)(const MaskedForward<T>&);
  void (*input_gradient)(const MaskedInputGradient<T>&);
  void (*gradient)(const MaskedGradient<T>&);
  void (*one_hot_forward)(const OneHotForward<T>&);
  void (*one_hot_gradient)(const OneHotGradient<T>&);
  void (*turn_rows)(const TurnRows<T>&);
  void (*row_sums)(const RowSums<T>&);
  void (*digit_loss)(const DigitLoss<T>&);
  void (*cell_forward)(const CellForward<T>&);
  void (*cell_backward)(const CellBackward<T>&);
  // x *= factor, of `count` numbers, a multiple of kUnitPad.
  void (*scale)(T factor, T* x, std::size_t count);
};

// Of the same target as the given lane kernels.
const MaskedKernels<float>& masked_kernels_for(const std::string& target);
const MaskedKernels<double>& masked_oracle_kernels();

}  // namespace modlab::engine::solo

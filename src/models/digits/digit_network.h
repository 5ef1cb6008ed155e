#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "core/team.h"
#include "engine/flush_denormals.h"
#include "models/digits/digit_batch.h"
#include "models/digits/digit_shape.h"
#include "models/digits/panel_layout.h"

namespace modlab::models {

// Samples of masks under which a pass is made.
struct DigitMasks {
  int samples = 1;  // each has an equal, contiguous part of the rows
  // By tensor, in the panels of its weights, [panel][padded input][sample]; null or nothing: all weights are kept.
  std::vector<const std::uint16_t*> bits = {};
};

// What the way back is to compute.
template <typename T>
struct DigitGradient {
  T* values = nullptr;               // in panels
  std::vector<std::uint8_t> wanted;  // by tensor
  bool add = false;                  // to what is there
  // With logits (in panels, all tensors): their gradients instead of the weights'. Its noise says which tensor by
  // itself.
  engine::solo::MaskSlope<T> slope = {};
  // With logits: here the gradients of all weights and biases are added; or null.
  T* weight_sums = nullptr;
};

// A network on digits, one at a time on the threads of a team, with its weights and activations.
template <typename T>
class DigitNetworkOf {
 public:
  DigitNetworkOf(const DigitShape& shape, const engine::solo::MaskedKernels<T>& kernels, Team& team);
  virtual ~DigitNetworkOf() = default;
  DigitNetworkOf(const DigitNetworkOf&) = delete;
  DigitNetworkOf& operator=(const DigitNetworkOf&) = delete;

  const DigitShape& shape() const { return shape_; }
  const engine::Layout& layout() const { return layout_; }
  const PanelLayout& panels() const { return panels_; }
  AlignedVector<T>& values() { return values_; }

  // In the order of the layout.
  void load(std::span<const float> flat) { values_ = panels_.template arranged<T>(flat); }
  std::vector<float> save() const { return panels_.template in_order<float>(values_); }

  // What the network says without masks, [row][group][class], each group after the step at which it is read.
  const T* evaluate(const DigitBatch& batch);

  // A pass of training: forward, then loss, then backward. The samples of masks must divide the rows.
  void forward(const DigitBatch& batch, const DigitMasks& masks);
  // The sum of the cross-entropies of all rows and of the groups that count, and its gradient times `scale`.
  double loss(T scale);
  void backward(const DigitGradient<T>& gradient);

 protected:
  using Place = PanelLayout::Place;
  using RowBlocks = engine::solo::RowBlocks;

  // Makes room for activations of the blocks, zero: called when their number changes.
  virtual void make_room() = 0;
  // From inputs_ or x_ to z_, and from dz_ back.
  virtual void run_forward() = 0;
  virtual void run_backward(const DigitGradient<T>& gradient) = 0;

  // Calls work(0) to work(count - 1) on the team.
  template <typename Work>
  void share(int count, const Work& work) const {
    team_.run(static_cast<std::size_t>(count), [&work](std::size_t index) {
      const engine::FlushDenormals flush;
      work(static_cast<int>(index));
    });
  }

  // Calls work(first, last) for stretches of [0, count) that the team shares; where they end makes no difference.
  template <typename Work>
  void share_stretches(int count, const Work& work) const {
    const int parts = std::min(count, team_.threads());
    share(parts, [&](int part) { work(count * part / parts, count * (part + 1) / parts); });
  }

  // Products of one tensor with all blocks, and gradients, shared among the team.
  void multiply(std::size_t tensor, const RowBlocks& blocks, const T* x, const T* bias, const T* start, T* y,
                bool relu) const;
  void gather(std::size_t tensor, const RowBlocks& blocks, const std::uint16_t* inputs, const T* bias, T* y,
              bool relu) const;
  void multiply_back(std::size_t tensor, const RowBlocks& blocks, const T* dy, const T* start, const T* x, T* dx) const;
  // dy of all blocks in rows, for the gradients that follow.
  void turn(const RowBlocks& blocks, int units, const T* dy);
  void add_gradient(std::size_t tensor, const RowBlocks& blocks, const T* x, const DigitGradient<T>& gradient,
                    int first_block = 0) const;
  void add_one_hot_gradient(std::size_t tensor, const RowBlocks& blocks, const std::uint16_t* inputs,
                            const DigitGradient<T>& gradient) const;
  void add_bias_gradient(std::size_t tensor, const RowBlocks& blocks, const DigitGradient<T>& gradient) const;

  const T* value(std::size_t tensor) const { return values_.data() + panels_[tensor].offset; }
  // Numbers of one block of so many units.
  std::size_t block_size(int units) const {
    return static_cast<std::size_t>(engine::solo::padded(units)) * blocks_.width;
  }
  // Numbers of all blocks of one step.
  std::size_t step_size(int units) const { return block_size(units) * blocks_.at_once(); }
  std::size_t one_hot_size() const { return static_cast<std::size_t>(blocks_.at_once()) * blocks_.width * active_; }

  DigitShape shape_;
  engine::Layout layout_;
  PanelLayout panels_;
  const engine::solo::MaskedKernels<T>& kernels_;
  Team& team_;
  AlignedVector<T> values_;

  // The pass that is being made.
  RowBlocks blocks_;  // of one step
  DigitMasks masks_;
  int steps_ = 1;
  int active_ = 0;
  std::vector<int> reads_;             // steps after which some outputs are read, ascending
  std::vector<std::uint16_t> inputs_;  // [step][block][row][active]
  AlignedVector<T> x_;                 // [block][padded input][row], where inputs are numbers; otherwise empty
  AlignedVector<T> z_, dz_;            // [read][block][padded output][row]
  AlignedVector<T> dy_rows_;

 private:
  void begin(const DigitBatch& batch, int first_row, int rows, const DigitMasks& masks);
  engine::solo::MaskedWeights<T> weights_of(std::size_t tensor) const;
  // What is asked of one tensor: nothing, its own gradient, or no more than to add the weights' to the sums.
  struct Asked {
    T* gradients = nullptr;  // null: nothing
    T* weight_sums = nullptr;
    engine::solo::MaskSlope<T> slope = {};
    bool add = false;
  };
  Asked asked_of(std::size_t tensor, const DigitGradient<T>& gradient) const;

  std::vector<int> read_of_group_;
  AlignedVector<T> digits_;  // [read][block][group][row]
  AlignedVector<T> losses_;  // [block][row]
  int groups_ = 0;           // of outputs
  int asked_ = 0;            // groups of the batch
  std::vector<T> said_;
};
using DigitNetwork = DigitNetworkOf<float>;

template <typename T>
std::unique_ptr<DigitNetworkOf<T>> make_digit_network(const DigitShape& shape,
                                                      const engine::solo::MaskedKernels<T>& kernels, Team& team);

}  // namespace modlab::models

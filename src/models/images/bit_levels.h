#pragma once

#include <vector>

#include "models/images/selector.h"
#include "models/images/shape.h"
#include "models/layer_stack.h"

namespace modlab::models {

// The levels of a modular network above its image slots: modules that read a few of the values below. Values are
// columns, [value][row], `kColumnStride` apart.
template <typename T>
class BitLevels {
 public:
  static constexpr int kColumnStride = engine::solo::kChunkRows;

  BitLevels(const ImageModularShape& shape, const ImageModularLayout& places, engine::solo::Parameters<T>& parameters,
            const engine::solo::Kernels<T>& kernels);

  void choose(const T* noise);
  void begin_backward();
  // Logits, [output][row]. In training every member of a pool that is learned is run, since each has a say in the
  // gradient.
  const T* forward(const T* inputs, int rows, bool training);
  // From the logits' gradient to that of the inputs, which is overwritten.
  void backward(const T* inputs, const T* dlogits, int rows, T* dinputs);
  void end_step(const engine::solo::Step<T>& step);

 private:
  bool has_pool() const { return shape_.pool > 0; }
  int module_of(std::size_t level, int slot) const;
  // The column that candidate `candidate` of a level is.
  const T* below(std::size_t level, const T* inputs, int candidate) const;
  T* value(int slot) { return values_.data() + static_cast<std::size_t>(slot) * kColumnStride; }
  const T* value(int slot) const { return values_.data() + static_cast<std::size_t>(slot) * kColumnStride; }
  T* dvalue(int slot) { return dvalues_.data() + static_cast<std::size_t>(slot) * kColumnStride; }
  int first_output_slot() const { return shape_.outputs_from_all ? 0 : first_slot_.back(); }
  // What a selection learns from: upstream times each candidate.
  void collect(Selector<T>& selector, int column, const T* upstream, std::size_t level, const T* inputs, int rows);
  // Sums over rows, in whole vectors: columns are zero beyond the last row.
  T sum_of_products(const T* a, const T* b, int rows) const;
  void slot_backward(std::size_t level, int slot, const T* inputs, int rows, T* dinputs);

  ModularShape shape_;
  engine::solo::Parameters<T>& parameters_;
  const engine::solo::Kernels<T>& kernels_;
  std::vector<int> first_slot_;
  std::vector<Selector<T>> inputs_;   // [level]
  std::vector<Selector<T>> members_;  // [level]; empty without a pool
  Selector<T> outputs_;
  std::vector<LayerStack<T>> modules_;
  struct Slot {
    AlignedVector<T> z;                             // [row][padded position]
    std::vector<typename LayerStack<T>::Use> uses;  // of its own module, or of every member of the pool
  };
  std::vector<Slot> slots_;
  AlignedVector<T> values_, dvalues_;   // [slot][row]
  AlignedVector<T> members_values_;     // [slot][member][row]
  AlignedVector<T> logits_, upstream_;  // [output][row]; [row]
};

}  // namespace modlab::models

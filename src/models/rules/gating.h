#pragma once

#include "models/rules/rule_route.h"

namespace modlab::models {

// How much each module of a mixture counts, row by row: scores become shares (a softmax), shares become gates, and what
// gates are asked comes back to the scores. An oracle's gates need no scores.
template <typename T>
class Gating {
 public:
  Gating(const RuleShape& shape, const engine::solo::Kernels<T>& kernels);

  // Before the scores of a batch come in.
  void begin_forward(const RuleBatch& batch);
  // Where the scores of a row are to be put, [padded module].
  T* scores(int row) { return shares_.data() + place(row); }
  // The scores of the rows [first, first + count) become gates.
  void choose(int first, int count);

  // [row][padded module]; of kTopK they need not sum to 1.
  const T* gates() const { return gates_are_shares_ ? shares_.data() : gates_.data(); }
  const T* gates(int row) const { return gates() + place(row); }

  // After all rows have been chosen.
  void begin_backward();
  // What the gates of a row are asked becomes what its scores are asked, in place.
  void ask_scores(int row, T* asked) const;

 private:
  std::ptrdiff_t place(int row) const { return static_cast<std::ptrdiff_t>(row) * engine::solo::padded(modules_); }
  void harden(int row);

  int modules_;
  bool is_oracle_;
  GateSettings settings_;
  const engine::solo::Kernels<T>& kernels_;
  RuleRoute route_;
  int rows_ = 0;
  bool rule_decides_ = false;  // of this batch
  bool gates_are_shares_ = true;
  T temperature_ = 1;
  AlignedVector<T> shares_, gates_;
  AlignedVector<T> logits_;     // what the shares are the softmax of, where the entropy is asked for
  AlignedVector<float> noise_;  // [row][padded module]
  AlignedVector<T> even_;       // what the balancing loss asks of every row's shares
};

}  // namespace modlab::models

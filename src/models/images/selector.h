#pragma once

#include <span>
#include <vector>

#include "engine/solo/network.h"

namespace modlab::models {

// The selection vectors of one tensor [candidate][column] of a network that is trained alone: hard picks in the forward
// pass, and a straight-through gradient for every candidate.
template <typename T>
class Selector {
 public:
  enum class Soft { kSigmoid, kSoftmax };

  // `first`: the tensor's first number among all structural parameters, where its noise lies.
  Selector(std::size_t tensor, std::size_t first, int candidates, int columns, int k, Soft soft, bool learned);

  // Picks the k best of every column, ties to the lower index.
  void choose(engine::solo::Parameters<T>& parameters, const T* noise);
  std::span<const int> picks(int column) const { return std::span(picks_).subspan(column * k_, k_); }
  int pick(int column) const { return picks_[column * k_]; }

  bool learned() const { return learned_; }
  int candidates() const { return candidates_; }
  // Adds sum over rows of the upstream gradient times the candidate's value.
  void add(int column, int candidate, T product) { sums_[candidate * columns_ + column] += product; }
  // Turns the sums of a step into gradients.
  void finish(engine::solo::Parameters<T>& parameters, const engine::solo::Step<T>& step,
              const engine::solo::Kernels<T>& kernels);

 private:
  // (logit + noise) / tau, largest of the column taken away for the softmax.
  void fill_scores(const T* logits, const engine::solo::Step<T>& step);

  std::size_t tensor_;
  std::size_t first_;
  int candidates_;
  int columns_;
  int k_;
  Soft soft_;
  bool learned_;
  std::vector<int> picks_;  // [column][position]
  AlignedVector<T> sums_;   // [candidate][column]
  AlignedVector<T> scores_, soft_values_;
};

}  // namespace modlab::models

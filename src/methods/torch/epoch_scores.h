#pragma once

#include <span>

#include "engine/training.h"

namespace modlab::methods {

// What answers that are bits come to: a logit says 1 if it is above 0.
class BitSums {
 public:
  // Answers and labels of some samples, [sample][column].
  void add(std::span<const float> said, std::span<const float> labels, int columns);
  engine::PartScore score() const;

 private:
  double loss_ = 0;
  std::size_t columns_ = 0;  // of all samples together
  engine::PartScore counts_;
};

// What is kept of a network's epochs: the curve, the first one with the best validation accuracy, and the last.
class KeptEpochs {
 public:
  explicit KeptEpochs(int epochs) : epochs_(epochs) {}

  void add(engine::Snapshot&& now);
  engine::LaneResult take() { return std::move(result_); }

 private:
  int epochs_;
  int next_of_curve_ = 1;
  engine::LaneResult result_;
};

}  // namespace modlab::methods

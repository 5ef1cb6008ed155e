#pragma once

#include <vector>

#include "engine/network.h"

namespace modlab::models {

// What a stretch of selection vectors chooses: `columns` choosers (the slots of a level) each pick `k` of `candidates`.
// The logits are one tensor [task][candidate][column] at `offset`.
struct SelectionShape {
  std::size_t offset = 0;
  std::size_t noise_unit = 0;  // where the per-sample noise of one task's logits begins
  std::size_t structural_begin = 0;
  int candidates = 0;
  int columns = 0;
  int k = 1;
  int tasks = 1;
  bool softmax = false;     // pool members: softmax and the best one; otherwise sigmoid and the best k
  bool learned = true;      // fixed selections get no noise and no gradient
  bool per_sample = false;  // Gumbel noise of its own for each sample
};

// Hard selection in the forward pass, soft gradients in the backward pass (straight-through). Where all rows of a lane
// share a choice (one task, noise per batch at most) picks are made once a step; with several tasks once a step for
// each task, and a row takes those of its own; with noise of its own each row picks for itself.
template <typename T>
class Selection {
 public:
  Selection(const SelectionShape& shape, int max_rows, const engine::Kernels<T>& kernels);

  void begin_step(const engine::Step<T>& step);
  // Instead of begin_step: the picks of the last evaluation, of the only task.
  void adopt_evaluation() { picks_.swap(evaluated_.front()); }
  void begin_chunk(const engine::Step<T>& step, const engine::Samples<T>& samples);
  // z[position] = the picked candidates of x.
  void read(int column, engine::Units<const T> x, engine::Units<T> z, int rows) const;
  // Sends dz back to the picked candidates.
  void write(int column, engine::Units<const T> dz, engine::Units<T> dx, int rows) const;
  // Collects the logits' gradient from the gradient `dz` of the selected values.
  void collect(int column, const engine::Step<T>& step, const engine::Samples<T>& samples, engine::Units<const T> dz,
               engine::Units<const T> x, T* gradients);
  void end_step(const engine::Step<T>& step, T* gradients);

  void begin_evaluation(const T* parameters);
  void read_evaluated(int column, int task, engine::Units<const T> x, engine::Units<T> z, int rows) const;

  bool per_row() const { return shape_.tasks > 1 || shape_.per_sample; }
  // One pick for the whole step, [position][lane]: for blending weights.
  engine::Units<const T> step_picks(int column) const { return column_of(picks_, column); }
  engine::Units<const T> evaluated_picks(int column, int task) const { return column_of(evaluated_[task], column); }
  const SelectionShape& shape() const { return shape_; }

 private:
  std::size_t vectors() const { return static_cast<std::size_t>(shape_.candidates) * shape_.columns; }
  std::size_t column_stride() const { return static_cast<std::size_t>(shape_.columns) * kernels_.lanes; }
  engine::Units<const T> column_of(const AlignedVector<T>& picks, int column) const {
    return {picks.data() + static_cast<std::size_t>(column) * kernels_.lanes, column_stride()};
  }
  engine::Units<const T> row_picks(int column) const;
  void pick(const T* logits, const T* noise, T* picks) const;
  void begin_tasks(const engine::Step<T>& step, const T* logits, const T* noise);
  void pick_by_row(int column, const engine::Samples<T>& samples);
  void soften_rows(int column, const engine::Step<T>& step, int rows);

  const engine::Kernels<T>& kernels_;
  SelectionShape shape_;
  AlignedVector<T> picks_;                   // [position][column][lane]
  std::vector<AlignedVector<T>> evaluated_;  // the same for each task, without noise
  AlignedVector<T> sums_;                    // [candidate][column][lane]
  engine::UnitBuffer<T> row_picks_;          // [column, position][row][lane]
  // Of several tasks without noise by row. What is soft are slopes of sigmoids, or shares of a softmax.
  AlignedVector<T> task_picks_;  // [task][position][column][lane]
  AlignedVector<T> task_soft_;   // [task][candidate][column][lane]
  // Where every row has noise of its own.
  AlignedVector<T> noisy_;            // logits plus batch noise, [task][candidate][column][lane]
  engine::UnitBuffer<T> row_scores_;  // [column, candidate][row][lane]
  engine::UnitBuffer<T> row_soft_;    // [candidate][row][lane]
};

}  // namespace modlab::models

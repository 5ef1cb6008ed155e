#include "models/selection.h"

#include <algorithm>

namespace modlab::models {

using engine::Samples;
using engine::Step;
using engine::UnitBuffer;
using engine::Units;

template <typename T>
Selection<T>::Selection(const SelectionShape& shape, int max_rows, const engine::Kernels<T>& kernels)
    : kernels_(kernels), shape_(shape) {
  const std::size_t lanes = kernels.lanes;
  evaluated_.resize(shape.tasks);
  for (AlignedVector<T>& picks : evaluated_) {
    picks.resize(shape.k * shape.columns * lanes);
  }
  if (per_row()) {
    noisy_.resize(shape.tasks * vectors() * lanes);
    row_scores_ = UnitBuffer<T>(static_cast<int>(vectors()), max_rows, kernels.lanes);
    row_picks_ = UnitBuffer<T>(shape.k * shape.columns, max_rows, kernels.lanes);
    slopes_ = UnitBuffer<T>(shape.candidates, max_rows, kernels.lanes);
  } else {
    picks_.resize(shape.k * shape.columns * lanes);
    sums_.resize(vectors() * lanes);
  }
}

template <typename T>
Units<const T> Selection<T>::row_picks(int column) const {
  return const_cast<UnitBuffer<T>&>(row_picks_).from(static_cast<std::size_t>(column) * shape_.k);
}

template <typename T>
void Selection<T>::pick(const T* logits, const T* noise, AlignedVector<T>& picks) const {
  kernels_.top_k({.scores = {logits, column_stride()},
                  .noise = noise,
                  .picks = {picks.data(), column_stride()},
                  .candidates = shape_.candidates,
                  .columns = shape_.columns,
                  .k = shape_.k});
}

template <typename T>
void Selection<T>::begin_step(const Step<T>& step) {
  const std::size_t lanes = kernels_.lanes;
  const T* logits = step.parameters + shape_.offset * lanes;
  const T* noise = step.noise == nullptr || !shape_.learned
                       ? nullptr
                       : step.noise + (shape_.offset - shape_.structural_begin) * lanes;
  if (!per_row()) {
    pick(logits, noise, picks_);
    return;
  }
  std::copy_n(logits, noisy_.size(), noisy_.data());
  if (noise != nullptr) {
    kernels_.add_to(noise, noisy_.data(), static_cast<int>(noisy_.size() / lanes));
  }
}

template <typename T>
void Selection<T>::begin_chunk(const Step<T>& /*step*/, const Samples<T>& samples) {
  if (!per_row()) {
    return;
  }
  const std::size_t lanes = kernels_.lanes;
  for (int column = 0; column < shape_.columns; ++column) {
    const std::size_t first = static_cast<std::size_t>(column) * shape_.candidates;
    for (int candidate = 0; candidate < shape_.candidates; ++candidate) {
      const std::size_t vector = static_cast<std::size_t>(candidate) * shape_.columns + column;
      const bool noisy = samples.noise.data != nullptr && shape_.learned;
      kernels_.take_task({.values = noisy_.data() + vector * lanes,
                          .task_stride = vectors() * lanes,
                          .row_task = samples.row_task,
                          .noise = noisy ? samples.noise.unit(shape_.noise_unit + vector) : nullptr,
                          .out = row_scores_.unit(first + candidate),
                          .rows = samples.rows,
                          .tasks = shape_.tasks});
    }
    kernels_.top_k({.scores = row_scores_.from(first),
                    .noise = nullptr,
                    .picks = row_picks_.from(static_cast<std::size_t>(column) * shape_.k),
                    .candidates = shape_.candidates,
                    .columns = samples.rows,
                    .k = shape_.k});
  }
}

template <typename T>
void Selection<T>::read(int column, Units<const T> x, Units<T> z, int rows) const {
  kernels_.gather({.x = x,
                   .candidates = shape_.candidates,
                   .picks = per_row() ? row_picks(column) : step_picks(column),
                   .pick_per_row = per_row(),
                   .z = z,
                   .rows = rows,
                   .k = shape_.k});
}

template <typename T>
void Selection<T>::write(int column, Units<const T> dz, Units<T> dx, int rows) const {
  kernels_.scatter({.dz = dz,
                    .picks = per_row() ? row_picks(column) : step_picks(column),
                    .pick_per_row = per_row(),
                    .dx = dx,
                    .candidates = shape_.candidates,
                    .rows = rows,
                    .k = shape_.k});
}

template <typename T>
void Selection<T>::collect(int column, const Step<T>& step, const Samples<T>& samples, Units<const T> dz,
                           Units<const T> x, T* gradients) {
  if (!shape_.learned) {
    return;
  }
  const std::size_t lanes = kernels_.lanes;
  if (!per_row()) {
    kernels_.correlate({.d = dz,
                        .positions = shape_.k,
                        .x = x,
                        .slope = {},
                        .row_task = nullptr,
                        .task = T{0},
                        .sums = sums_.data() + column * lanes,
                        .sum_stride = column_stride(),
                        .candidates = shape_.candidates,
                        .rows = samples.rows});
    return;
  }
  const std::size_t first = static_cast<std::size_t>(column) * shape_.candidates;
  if (!shape_.softmax) {
    for (int candidate = 0; candidate < shape_.candidates; ++candidate) {
      kernels_.sigmoid_slope({.scores = row_scores_.unit(first + candidate),
                              .noise = nullptr,
                              .inverse_tau = step.inverse_tau,
                              .slope = slopes_.unit(candidate),
                              .count = samples.rows});
    }
  }
  for (int task = 0; task < shape_.tasks; ++task) {
    T* target = gradients + (shape_.offset + task * vectors() + column) * lanes;
    const T* row_task = shape_.tasks > 1 ? samples.row_task : nullptr;
    if (shape_.softmax) {
      kernels_.softmax_rows({.scores = row_scores_.from(first),
                             .inverse_tau = step.inverse_tau,
                             .d = dz.data,
                             .o = x,
                             .row_task = row_task,
                             .task = static_cast<T>(task),
                             .gradients = target,
                             .gradient_stride = column_stride(),
                             .members = shape_.candidates,
                             .rows = samples.rows});
    } else {
      kernels_.correlate({.d = dz,
                          .positions = shape_.k,
                          .x = x,
                          .slope = slopes_.view(),
                          .row_task = row_task,
                          .task = static_cast<T>(task),
                          .sums = target,
                          .sum_stride = column_stride(),
                          .candidates = shape_.candidates,
                          .rows = samples.rows});
    }
  }
}

template <typename T>
void Selection<T>::end_step(const Step<T>& step, T* gradients) {
  if (!shape_.learned || per_row()) {
    return;
  }
  const std::size_t lanes = kernels_.lanes;
  const T* logits = step.parameters + shape_.offset * lanes;
  const T* noise = step.noise == nullptr ? nullptr : step.noise + (shape_.offset - shape_.structural_begin) * lanes;
  if (shape_.softmax) {
    kernels_.softmax_finish({.scores = {logits, column_stride()},
                             .noise = noise,
                             .inverse_tau = step.inverse_tau,
                             .sums = {sums_.data(), column_stride()},
                             .gradients = {gradients + shape_.offset * lanes, column_stride()},
                             .members = shape_.candidates,
                             .columns = shape_.columns});
  } else {
    kernels_.sigmoid_finish({.scores = logits,
                             .noise = noise,
                             .inverse_tau = step.inverse_tau,
                             .sums = sums_.data(),
                             .gradients = gradients + shape_.offset * lanes,
                             .count = static_cast<int>(vectors())});
  }
  std::fill(sums_.begin(), sums_.end(), T{0});
}

template <typename T>
void Selection<T>::begin_evaluation(const T* parameters) {
  for (int task = 0; task < shape_.tasks; ++task) {
    pick(parameters + (shape_.offset + task * vectors()) * kernels_.lanes, nullptr, evaluated_[task]);
  }
}

template <typename T>
void Selection<T>::read_evaluated(int column, int task, Units<const T> x, Units<T> z, int rows) const {
  kernels_.gather({.x = x,
                   .candidates = shape_.candidates,
                   .picks = evaluated_picks(column, task),
                   .pick_per_row = false,
                   .z = z,
                   .rows = rows,
                   .k = shape_.k});
}

template class Selection<float>;
template class Selection<double>;

}  // namespace modlab::models

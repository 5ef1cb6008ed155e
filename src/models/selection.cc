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
    row_picks_ = UnitBuffer<T>(shape.k * shape.columns, max_rows, kernels.lanes);
  }
  if (shape.per_sample) {
    noisy_.resize(shape.tasks * vectors() * lanes);
    row_scores_ = UnitBuffer<T>(static_cast<int>(vectors()), max_rows, kernels.lanes);
    row_soft_ = UnitBuffer<T>(shape.candidates, max_rows, kernels.lanes);
  } else if (shape.tasks > 1) {
    task_picks_.resize(shape.tasks * shape.k * shape.columns * lanes);
    task_soft_.resize(shape.tasks * vectors() * lanes);
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
void Selection<T>::pick(const T* logits, const T* noise, T* picks) const {
  kernels_.top_k({.scores = {logits, column_stride()},
                  .noise = noise,
                  .picks = {picks, column_stride()},
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
  if (shape_.per_sample) {
    std::copy_n(logits, noisy_.size(), noisy_.data());
    if (noise != nullptr) {
      kernels_.add_to(noise, noisy_.data(), static_cast<int>(noisy_.size() / lanes));
    }
  } else if (shape_.tasks > 1) {
    begin_tasks(step, logits, noise);
  } else {
    pick(logits, noise, picks_.data());
  }
}

template <typename T>
void Selection<T>::begin_tasks(const Step<T>& step, const T* logits, const T* noise) {
  const std::size_t lanes = kernels_.lanes;
  for (int task = 0; task < shape_.tasks; ++task) {
    const std::size_t first = task * vectors() * lanes;
    const T* task_noise = noise == nullptr ? nullptr : noise + first;
    pick(logits + first, task_noise, task_picks_.data() + task * shape_.k * column_stride());
    if (shape_.learned && shape_.softmax) {
      kernels_.softmax_shares({.scores = {logits + first, column_stride()},
                               .noise = task_noise,
                               .inverse_tau = step.inverse_tau,
                               .shares = {task_soft_.data() + first, column_stride()},
                               .members = shape_.candidates,
                               .columns = shape_.columns});
    }
  }
  if (shape_.learned && !shape_.softmax) {
    kernels_.sigmoid_slope({.scores = logits,
                            .noise = noise,
                            .inverse_tau = step.inverse_tau,
                            .slope = task_soft_.data(),
                            .count = static_cast<int>(task_soft_.size() / lanes)});
  }
}

template <typename T>
void Selection<T>::begin_chunk(const Step<T>& /*step*/, const Samples<T>& samples) {
  for (int column = 0; column < shape_.columns && per_row(); ++column) {
    if (shape_.per_sample) {
      pick_by_row(column, samples);
      continue;
    }
    for (int position = 0; position < shape_.k; ++position) {
      kernels_.take_task({.values = task_picks_.data() + position * column_stride() + column * kernels_.lanes,
                          .task_stride = shape_.k * column_stride(),
                          .row_task = samples.row_task,
                          .noise = nullptr,
                          .out = row_picks_.unit(static_cast<std::size_t>(column) * shape_.k + position),
                          .rows = samples.rows,
                          .tasks = shape_.tasks});
    }
  }
}

template <typename T>
void Selection<T>::pick_by_row(int column, const Samples<T>& samples) {
  const std::size_t lanes = kernels_.lanes;
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
                        .slope_per_row = false,
                        .row_task = nullptr,
                        .task = T{0},
                        .sums = sums_.data() + column * lanes,
                        .sum_stride = column_stride(),
                        .candidates = shape_.candidates,
                        .rows = samples.rows});
    return;
  }
  if (shape_.per_sample) {
    soften_rows(column, step, samples.rows);
  }
  for (int task = 0; task < shape_.tasks; ++task) {
    const std::size_t first = (task * vectors() + column) * lanes;
    T* target = gradients + shape_.offset * lanes + first;
    const T* row_task = shape_.tasks > 1 ? samples.row_task : nullptr;
    const Units<const T> soft = shape_.per_sample ? Units<const T>(row_soft_.view())
                                                  : Units<const T>{task_soft_.data() + first, column_stride()};
    if (shape_.softmax) {
      kernels_.softmax_rows({.shares = soft,
                             .share_per_row = shape_.per_sample,
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
                          .slope = soft,
                          .slope_per_row = shape_.per_sample,
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
void Selection<T>::soften_rows(int column, const Step<T>& step, int rows) {
  const std::size_t first = static_cast<std::size_t>(column) * shape_.candidates;
  if (shape_.softmax) {
    kernels_.softmax_shares({.scores = row_scores_.from(first),
                             .noise = nullptr,
                             .inverse_tau = step.inverse_tau,
                             .shares = row_soft_.view(),
                             .members = shape_.candidates,
                             .columns = rows});
    return;
  }
  for (int candidate = 0; candidate < shape_.candidates; ++candidate) {
    kernels_.sigmoid_slope({.scores = row_scores_.unit(first + candidate),
                            .noise = nullptr,
                            .inverse_tau = step.inverse_tau,
                            .slope = row_soft_.unit(candidate),
                            .count = rows});
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
    pick(parameters + (shape_.offset + task * vectors()) * kernels_.lanes, nullptr, evaluated_[task].data());
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

#pragma once

#include <cmath>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/network.h"
#include "models/blueprint.h"

namespace modlab::test {

// One batch as given numbers, in lane-free form: what a fixture holds.
struct Batch {
  int rows = 0;
  std::vector<double> inputs;   // [row][input]
  std::vector<double> targets;  // [row][output]
  std::vector<double> task;     // [row]; empty with one task
  std::vector<double> noise;    // Gumbel noise: [structural], or [row][structural of one task]; empty without
  bool noise_per_sample = false;
};

// Takes optimiser steps on given batches with every lane the same, through the calls that train_block makes.
template <typename T>
class StepRunner {
 public:
  StepRunner(const models::Blueprint& blueprint, const models::RunSpec& spec, const engine::Kernels<T>& kernels,
             const std::vector<double>& parameters, const std::vector<double>& mask = {})
      : kernels_(kernels),
        data_(blueprint.data),
        block_(blueprint.block),
        spec_(spec),
        network_(models::make_network<T>(blueprint, kernels)),
        parameters_(spread(parameters)),
        mask_(spread(mask)),
        gradients_(parameters_.size()),
        first_(parameters_.size()),
        second_(parameters_.size()) {}

  // Loss of the batch and, in `gradients_`, its gradient.
  double forward_backward(const Batch& batch) {
    const AlignedVector<T> inverse_tau = same(spec_.tau ? 1.0 / *spec_.tau : 1.0);
    AlignedVector<T> batch_noise;
    if (!batch.noise_per_sample) {
      batch_noise = spread(batch.noise);
    }
    const engine::Step<T> step{parameters_.data(), inverse_tau.data(),
                               batch_noise.empty() ? nullptr : batch_noise.data()};
    network_->begin_step(step);
    outputs_.clear();
    AlignedVector<T> loss = same(0);
    const int chunk = network_->chunk_rows();
    for (int first = 0; first < batch.rows; first += chunk) {
      const int rows = std::min(chunk, batch.rows - first);
      auto inputs = columns(batch.inputs, data_.inputs.size(), first, rows);
      auto targets = columns(batch.targets, data_.outputs, first, rows);
      auto task = columns(batch.task, 1, first, rows);
      engine::Samples<T> samples;
      samples.inputs = inputs.view();
      samples.row_task = batch.task.empty() ? nullptr : task.unit(0);
      samples.rows = rows;
      engine::UnitBuffer<T> noise;
      if (batch.noise_per_sample) {
        noise = columns(batch.noise, network_->layout().structural_count / data_.tasks, first, rows);
        samples.noise = noise.view();
      }
      const engine::Units<const T> outputs = network_->forward(step, samples);
      for (int row = 0; row < rows; ++row) {
        for (int output = 0; output < data_.outputs; ++output) {
          outputs_.push_back(outputs.unit(output)[row * kernels_.lanes]);
        }
      }
      engine::UnitBuffer<T> doutputs(data_.outputs, rows, kernels_.lanes);
      kernels_.loss_gradient({.z = outputs,
                              .targets = targets.view(),
                              .d = doutputs.view(),
                              .scale = static_cast<T>(1.0 / (batch.rows * data_.outputs)),
                              .loss = loss.data(),
                              .kind = block_.loss,
                              .rows = rows,
                              .outputs = data_.outputs});
      network_->backward(step, samples, doutputs.view(), gradients_.data());
    }
    network_->end_step(step, gradients_.data());
    return loss[0];
  }

  void update() {
    ++steps_;
    for (const engine::Tensor& tensor : network_->layout().tensors) {
      if (tensor.rate == engine::Rate::kFrozen) {
        continue;
      }
      const double rate = tensor.rate == engine::Rate::kFunctional ? spec_.lr
                          : tensor.rate == engine::Rate::kInput    ? spec_.lr_input
                                                                   : spec_.lr_module;
      const AlignedVector<T> rates = same(rate);
      const AlignedVector<T> decay = same(spec_.weight_decay);
      const std::size_t at = tensor.offset * kernels_.lanes;
      kernels_.update({.kind = block_.optimizer,
                       .parameters = parameters_.data() + at,
                       .gradients = gradients_.data() + at,
                       .first = first_.data() + at,
                       .second = second_.data() + at,
                       .mask = mask_.empty() ? nullptr : mask_.data() + at,
                       .rate = rates.data(),
                       .weight_decay = decay.data(),
                       .scales = engine::AdamScales::after(steps_),
                       .count = static_cast<int>(tensor.count)});
    }
  }

  std::vector<double> parameters() const { return lane(parameters_); }
  std::vector<double> gradients() const { return lane(gradients_); }
  // Logits of the last batch, [row][output].
  const std::vector<double>& outputs() const { return outputs_; }
  void set_parameter(std::size_t index, double value) {
    for (int at = 0; at < kernels_.lanes; ++at) {
      parameters_[index * kernels_.lanes + at] = static_cast<T>(value);
    }
  }
  void clear_gradients() { std::fill(gradients_.begin(), gradients_.end(), T{0}); }

 private:
  AlignedVector<T> same(double value) const { return AlignedVector<T>(kernels_.lanes, static_cast<T>(value)); }
  AlignedVector<T> spread(const std::vector<double>& values) const {
    AlignedVector<T> spread_values;
    for (const double value : values) {
      spread_values.insert(spread_values.end(), kernels_.lanes, static_cast<T>(value));
    }
    return spread_values;
  }
  std::vector<double> lane(const AlignedVector<T>& values) const {
    std::vector<double> one;
    for (std::size_t at = 0; at < values.size(); at += kernels_.lanes) {
      one.push_back(values[at]);
    }
    return one;
  }
  engine::UnitBuffer<T> columns(const std::vector<double>& table, std::size_t units, int first, int rows) const {
    engine::UnitBuffer<T> buffer(static_cast<int>(units), network_->chunk_rows(), kernels_.lanes);
    if (table.empty()) {
      return buffer;
    }
    for (std::size_t unit = 0; unit < units; ++unit) {
      for (int row = 0; row < rows; ++row) {
        for (int at = 0; at < kernels_.lanes; ++at) {
          buffer.unit(unit)[row * kernels_.lanes + at] = static_cast<T>(table[(first + row) * units + unit]);
        }
      }
    }
    return buffer;
  }

  const engine::Kernels<T>& kernels_;
  const engine::Data& data_;
  const engine::BlockSettings& block_;
  const models::RunSpec& spec_;
  std::unique_ptr<engine::Network<T>> network_;
  AlignedVector<T> parameters_, mask_, gradients_, first_, second_;
  int steps_ = 0;
  std::vector<double> outputs_;
};

}  // namespace modlab::test

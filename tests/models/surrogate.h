#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "models/blueprint.h"
#include "models/step_runner.h"

namespace modlab::test {

// The loss whose ordinary derivative is the straight-through gradient, one row and one unit at a time in double
// precision. At the base parameters every choice is hard; its picks, its soft vector q0 and its candidates x0 are
// remembered. At other parameters the chosen value is x[pick] + sum_j (q_j - q0_j) x0_j: the pick stays, and only q's
// change counts.
class Surrogate {
 public:
  Surrogate(const models::Blueprint& blueprint, const models::RunSpec& spec, const Batch& batch,
            const std::vector<double>& base)
      : blueprint_(blueprint), spec_(spec), batch_(batch) {
    is_base_ = true;
    loss(base);
    is_base_ = false;
  }

  double loss(const std::vector<double>& parameters) {
    next_choice_ = 0;
    double sum = 0;
    const int outputs = blueprint_.data.outputs;
    for (int row = 0; row < batch_.rows; ++row) {
      const std::vector<double> z = forward(parameters, row);
      for (int output = 0; output < outputs; ++output) {
        const double target = batch_.targets[row * outputs + output];
        const double p = 1.0 / (1.0 + std::exp(-z[output]));
        sum += spec_.loss == engine::LossKind::kMse ? (p - target) * (p - target)
                                                    : -(target * std::log(p) + (1 - target) * std::log(1 - p));
      }
    }
    return sum / (batch_.rows * outputs);
  }

 private:
  struct Choice {
    std::vector<int> picks;
    std::vector<double> soft;
    std::vector<double> candidates;
  };

  std::vector<double> forward(const std::vector<double>& parameters, int row) {
    const std::size_t inputs = blueprint_.data.inputs.size();
    std::vector<double> x(batch_.inputs.begin() + row * inputs, batch_.inputs.begin() + (row + 1) * inputs);
    if (const auto* mlp = std::get_if<models::MlpShape>(&blueprint_.shape)) {
      return layers(parameters, 0, mlp->widths, x);
    }
    const auto& shape = std::get<models::ModularShape>(blueprint_.shape);
    const models::ModularLayout places = models::modular_layout(shape);
    const int task = batch_.task.empty() ? 0 : static_cast<int>(batch_.task[row]);
    std::vector<double> all;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      const int slots = shape.levels[level];
      std::vector<double> values;
      for (int slot = 0; slot < slots; ++slot) {
        std::vector<double> z = choose(parameters, places.inputs[level], x, slots, slot, task, row, shape.picks(level),
                                       shape.known_inputs, false);
        z.resize(shape.fan_in, 0.0);
        if (shape.pool == 0) {
          values.push_back(
              layers(parameters, places.modules[all.size() + values.size()], shape.module_widths, z).front());
          continue;
        }
        std::vector<double> said;
        for (int member = 0; member < shape.pool; ++member) {
          said.push_back(layers(parameters, places.modules[member], shape.module_widths, z).front());
        }
        values.push_back(
            choose(parameters, places.members[level], said, slots, slot, task, row, 1, shape.known_modules, true)
                .front());
      }
      all.insert(all.end(), values.begin(), values.end());
      x = values;
    }
    return choose(parameters, places.outputs, shape.outputs_from_all ? all : x, 1, 0, task, row, shape.outputs,
                  shape.known_outputs, false);
  }

  std::vector<double> choose(const std::vector<double>& parameters, std::size_t offset, const std::vector<double>& x,
                             int columns, int column, int task, int row, int k, bool known, bool softmax) {
    const std::size_t count = x.size();
    const double tau = spec_.tau.value_or(1.0);
    std::vector<double> scores;
    for (std::size_t candidate = 0; candidate < count; ++candidate) {
      const std::size_t within = candidate * columns + column;
      scores.push_back(parameters[offset + task * count * columns + within] +
                       (known ? 0.0 : noise(offset, task, count * columns, within, row)));
    }
    std::vector<double> soft;
    double total = 0;
    for (const double score : scores) {
      soft.push_back(softmax ? std::exp(score / tau) : 1.0 / (1.0 + std::exp(-score / tau)));
      total += soft.back();
    }
    for (double& weight : soft) {
      weight = softmax ? weight / total : weight;
    }
    if (is_base_) {
      std::vector<int> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int a, int b) { return scores[a] > scores[b]; });
      order.resize(k);
      choices_.push_back({order, soft, x});
    }
    const Choice& choice = choices_[next_choice_++];
    std::vector<double> chosen;
    for (const int pick : choice.picks) {
      double value = x[pick];
      for (std::size_t candidate = 0; !known && candidate < count; ++candidate) {
        value += (soft[candidate] - choice.soft[candidate]) * choice.candidates[candidate];
      }
      chosen.push_back(value);
    }
    return chosen;
  }

  double noise(std::size_t offset, int task, std::size_t of_task, std::size_t within, int row) const {
    if (batch_.noise.empty()) {
      return 0;
    }
    const engine::Layout& layout = blueprint_.layout;
    const std::size_t first = offset - layout.structural_begin;
    if (!batch_.noise_per_sample) {
      return batch_.noise[first + task * of_task + within];
    }
    const std::size_t tasks = blueprint_.data.tasks;
    return batch_.noise[row * (layout.structural_count / tasks) + first / tasks + within];
  }

  static std::vector<double> layers(const std::vector<double>& parameters, std::size_t offset,
                                    const std::vector<int>& widths, std::vector<double> x) {
    for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
      const int in = widths[layer];
      const int out = widths[layer + 1];
      std::vector<double> y;
      for (int unit_out = 0; unit_out < out; ++unit_out) {
        double sum = parameters[offset + static_cast<std::size_t>(in) * out + unit_out];
        for (int unit_in = 0; unit_in < in; ++unit_in) {
          sum += parameters[offset + static_cast<std::size_t>(unit_out) * in + unit_in] * x[unit_in];
        }
        y.push_back(layer + 2 < widths.size() ? std::max(0.0, sum) : sum);
      }
      x = y;
      offset += static_cast<std::size_t>(in + 1) * out;
    }
    return x;
  }

  const models::Blueprint& blueprint_;
  const models::RunSpec& spec_;
  const Batch& batch_;
  bool is_base_ = false;
  std::vector<Choice> choices_;
  std::size_t next_choice_ = 0;
};

}  // namespace modlab::test

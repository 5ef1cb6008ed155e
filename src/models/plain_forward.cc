#include "models/plain_forward.h"
#include "models/learned_routing.h"

#include <algorithm>

namespace modlab::models {
namespace {

// Layers of `widths` at `offset`, ReLU between them.
std::vector<double> run_layers(const std::vector<float>& parameters, std::size_t offset, const std::vector<int>& widths,
                               std::vector<double> x) {
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const int in = widths[layer];
    const int out = widths[layer + 1];
    const std::size_t bias = offset + static_cast<std::size_t>(in) * out;
    std::vector<double> y(out);
    for (int unit_out = 0; unit_out < out; ++unit_out) {
      y[unit_out] = parameters[bias + unit_out];
      for (int unit_in = 0; unit_in < in; ++unit_in) {
        y[unit_out] += parameters[offset + static_cast<std::size_t>(unit_out) * in + unit_in] * x[unit_in];
      }
      if (layer + 2 < widths.size()) {
        y[unit_out] = std::max(0.0, y[unit_out]);
      }
    }
    x = std::move(y);
    offset = bias + out;
  }
  return x;
}

}  // namespace

PlainValues plain_forward(const Blueprint& blueprint, const std::vector<float>& parameters,
                          const tasks::TaskSuite& suite, int task) {
  const std::size_t rows = suite.tasks[task].table.rows.size();
  PlainValues result;
  result.outputs.assign(blueprint.data.outputs, std::vector<double>(rows));
  const auto* mlp = std::get_if<MlpShape>(&blueprint.shape);
  const auto* modular = std::get_if<ModularShape>(&blueprint.shape);
  const tasks::Routing routing = modular != nullptr ? learned_routing(*modular, parameters)[task] : tasks::Routing{};
  const ModularLayout places = modular != nullptr ? modular_layout(*modular) : ModularLayout{};
  if (modular != nullptr) {
    result.slots.assign(modular->slots(), std::vector<double>(rows));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t word = blueprint.data.input_words[task * rows + row];
    std::vector<double> x;
    for (const engine::Field& field : blueprint.data.inputs) {
      x.push_back((word >> field.shift) & field.mask);
    }
    if (mlp != nullptr) {
      const std::vector<double> y = run_layers(parameters, 0, mlp->widths, x);
      for (std::size_t output = 0; output < y.size(); ++output) {
        result.outputs[output][row] = y[output];
      }
      continue;
    }
    std::vector<double> all;
    for (std::size_t level = 0; level < modular->levels.size(); ++level) {
      std::vector<double> values;
      for (int slot = 0; slot < modular->levels[level]; ++slot) {
        std::vector<double> z;
        for (const int pick : routing.inputs[level][slot]) {
          z.push_back(x[pick]);
        }
        z.resize(modular->fan_in, 0.0);
        const std::size_t index = all.size() + values.size();
        const std::size_t module = modular->pool > 0 ? routing.modules[level][slot] : index;
        values.push_back(run_layers(parameters, places.modules[module], modular->module_widths, z).front());
        result.slots[index][row] = values.back();
      }
      all.insert(all.end(), values.begin(), values.end());
      x = std::move(values);
    }
    const std::vector<double>& readable = modular->outputs_from_all ? all : x;
    for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
      result.outputs[output][row] = readable[routing.outputs[output]];
    }
  }
  return result;
}

double bit_accuracy(const PlainValues& values, const tasks::TruthTable& table) {
  std::size_t right = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (int output = 0; output < table.outputs; ++output) {
      right += (values.outputs[output][row] > 0) == tasks::output_bit(table, static_cast<int>(row), output) ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(table.rows.size() * table.outputs);
}

}  // namespace modlab::models

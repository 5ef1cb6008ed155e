#include "measures/modular_view.h"

#include <algorithm>

#include "models/learned_routing.h"
#include "tasks/truth_table.h"

namespace modlab::measures {

std::size_t ModularView::module_of(int task, std::size_t level, int slot, int slot_index) const {
  return places.modules[shape.pool > 0 ? routings[task].modules[level][slot] : slot_index];
}

std::optional<ModularView> view_modular(const models::Blueprint& blueprint, const std::vector<float>& parameters) {
  const auto* shape = std::get_if<models::ModularShape>(&blueprint.shape);
  if (shape == nullptr) {
    return std::nullopt;
  }
  return ModularView{*shape, models::modular_layout(*shape), parameters, models::learned_routing(*shape, parameters)};
}

std::vector<double> module_values(const ModularView& view, std::size_t module,
                                  const std::vector<const std::vector<double>*>& inputs) {
  const std::vector<int>& widths = view.shape.module_widths;
  const std::size_t rows = inputs.front()->size();
  std::vector<const double*> x;
  for (const std::vector<double>* input : inputs) {
    x.push_back(input->data());
  }
  std::vector<double> values;  // of the layer below, [unit][row]
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const std::size_t in = widths[layer];
    const std::size_t out = widths[layer + 1];
    const float* weights = view.parameters.data() + module;
    const float* bias = weights + in * out;
    std::vector<double> next(out * rows);
    for (std::size_t unit_out = 0; unit_out < out; ++unit_out) {
      double* y = next.data() + unit_out * rows;
      std::fill_n(y, rows, static_cast<double>(bias[unit_out]));
      for (std::size_t unit_in = 0; unit_in < in; ++unit_in) {
        const double weight = weights[unit_out * in + unit_in];
        for (std::size_t row = 0; row < rows; ++row) {
          y[row] += weight * x[unit_in][row];
        }
      }
      for (std::size_t row = 0; layer + 2 < widths.size() && row < rows; ++row) {
        y[row] = std::max(0.0, y[row]);
      }
    }
    values = std::move(next);
    x.clear();
    for (std::size_t unit = 0; unit < out; ++unit) {
      x.push_back(values.data() + unit * rows);
    }
    module += (in + 1) * out;
  }
  return values;
}

std::vector<std::vector<double>> slot_values(const ModularView& view, int task) {
  const int inputs = view.shape.inputs;
  std::vector<std::vector<double>> bits(inputs, std::vector<double>(std::size_t{1} << inputs));
  for (int input = 0; input < inputs; ++input) {
    for (int row = 0; row < 1 << inputs; ++row) {
      bits[input][row] = tasks::input_bit(inputs, row, input) ? 1 : 0;
    }
  }
  const std::vector<double> zeros(std::size_t{1} << inputs, 0.0);
  const tasks::Routing& routing = view.routings[task];
  std::vector<std::vector<double>> values;
  std::size_t first_below = 0;
  for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
    const std::size_t first = values.size();
    for (std::size_t slot = 0; slot < routing.inputs[level].size(); ++slot) {
      std::vector<const std::vector<double>*> read;
      for (const int pick : routing.inputs[level][slot]) {
        read.push_back(level == 0 ? &bits[pick] : &values[first_below + pick]);
      }
      read.resize(view.shape.fan_in, &zeros);
      const std::size_t module = view.module_of(task, level, static_cast<int>(slot), static_cast<int>(values.size()));
      values.push_back(module_values(view, module, read));
    }
    first_below = first;
  }
  return values;
}

}  // namespace modlab::measures

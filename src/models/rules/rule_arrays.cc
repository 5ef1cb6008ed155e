#include "models/rules/rule_arrays.h"

#include <algorithm>

namespace modlab::models {
namespace {

io::NamedTensor array_of(std::string name, std::vector<std::size_t> shape, const std::vector<double>& values) {
  io::NamedTensor array{std::move(name), std::move(shape), {}};
  std::ranges::transform(values, std::back_inserter(array.values),
                         [](double value) { return static_cast<float>(value); });
  return array;
}

}  // namespace

std::vector<io::NamedTensor> rule_arrays(const tasks::RuleTask& task, const RuleBatch& batch) {
  std::vector<std::size_t> shape = {static_cast<std::size_t>(batch.samples)};
  if (task.is_sequence()) {
    shape.push_back(static_cast<std::size_t>(batch.length));
  }
  const auto with = [&](int last) {
    std::vector<std::size_t> longer = shape;
    longer.push_back(static_cast<std::size_t>(last));
    return longer;
  };
  io::NamedTensor inputs{"inputs", with(task.inputs()), {}};
  io::NamedTensor rules{"rules", shape, {}};
  io::NamedTensor targets{"targets", with(task.outputs()), {}};
  for (int sample = 0; sample < batch.samples; ++sample) {
    for (int token = 0; token < batch.length; ++token) {
      const std::ptrdiff_t row = batch.row_of(sample, token);
      const int rule = batch.rules[static_cast<std::size_t>(row)];
      const float* data = batch.data.data() + row * batch.columns;
      inputs.values.insert(inputs.values.end(), data, data + task.data_columns());
      for (int column = 0; column < task.settings.rules; ++column) {
        inputs.values.push_back(column == rule ? 1.0F : 0.0F);
      }
      rules.values.push_back(static_cast<float>(rule));
      const float* wanted = batch.targets.data() + row * batch.outputs;
      targets.values.insert(targets.values.end(), wanted, wanted + task.outputs());
    }
  }
  std::vector<io::NamedTensor> arrays = {std::move(inputs), std::move(rules), std::move(targets)};
  const auto count = static_cast<std::size_t>(task.settings.rules);
  if (task.settings.family != tasks::RuleFamily::kRnn) {
    arrays.push_back(array_of("alpha", {count}, task.alpha));
    arrays.push_back(array_of("beta", {count}, task.beta));
    return arrays;
  }
  const auto size = static_cast<std::size_t>(task.settings.dimension);
  arrays.push_back(array_of("A", {count, static_cast<std::size_t>(task.settings.order), size, size}, task.transition));
  arrays.push_back(array_of("B", {count, size, size}, task.drive));
  if (!task.readout.empty()) {
    arrays.push_back(array_of("w", {size}, task.readout));
  }
  return arrays;
}

}  // namespace modlab::models

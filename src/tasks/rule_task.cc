#include "tasks/rule_task.h"

#include <cmath>
#include <numbers>

#include "core/numpy_random.h"

namespace modlab::tasks {
namespace {

std::vector<double> drawn(NumpyRandom& random, int count, double divisor) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index) {
    values.push_back(random.normal() / divisor);
  }
  return values;
}

}  // namespace

int RuleTaskSettings::data_columns() const {
  switch (family) {
    case RuleFamily::kMlp:
      return 2;
    case RuleFamily::kMha:
      return (search == 1 ? 4 : 6) * rules;
    case RuleFamily::kRnn:
      break;
  }
  return dimension;
}

int RuleTaskSettings::outputs() const {
  const bool is_state = family == RuleFamily::kRnn && output == RuleOutput::kRegression;
  return is_state ? dimension : 1;
}

RuleTask draw_rules(const RuleTaskSettings& settings) {
  RuleTask task{settings, {}, {}, {}, {}, {}};
  NumpyRandom random(settings.task_seed);
  if (settings.family != RuleFamily::kRnn) {
    task.alpha = drawn(random, settings.rules, 1);
    task.beta = drawn(random, settings.rules, 1);
    return task;
  }
  const int square = settings.dimension * settings.dimension;
  task.transition = drawn(random, settings.rules * settings.order * square,
                          std::sqrt(static_cast<double>(settings.order) * settings.dimension));
  task.drive = drawn(random, settings.rules * square, std::sqrt(static_cast<double>(settings.dimension)));
  if (settings.output == RuleOutput::kClassification) {
    task.readout = drawn(random, settings.dimension, 1);
  }
  return task;
}

std::optional<double> zero_loss(const RuleTask& task) {
  if (task.settings.family == RuleFamily::kRnn || task.settings.output == RuleOutput::kClassification) {
    return std::nullopt;
  }
  // What a rule says is normal with the deviation |(alpha, beta)|.
  double sum = 0;
  for (std::size_t rule = 0; rule < task.alpha.size(); ++rule) {
    sum += std::hypot(task.alpha[rule], task.beta[rule]);
  }
  return std::sqrt(2 / std::numbers::pi) * sum / task.settings.rules;
}

}  // namespace modlab::tasks

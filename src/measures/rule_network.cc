#include "measures/rule_network.h"

#include <algorithm>
#include <cmath>

#include "engine/flush_denormals.h"
#include "engine/kernels/kernels.h"
#include "models/rules/train_rules.h"

namespace modlab::measures {
namespace {

// As many as are published, and as a file may ask for.
constexpr int kMostTestSamples = 100'000;

}  // namespace

std::optional<ModuleUse> rule_use(int rules, int modules, const std::vector<double>& activation) {
  for (int rule = 0; rule < rules; ++rule) {
    const auto begin = activation.begin() + static_cast<std::ptrdiff_t>(rule) * modules;
    if (!std::all_of(begin, begin + modules, [](double value) { return std::isfinite(value); }) ||
        std::all_of(begin, begin + modules, [](double value) { return value <= 0; })) {
      return std::nullopt;
    }
  }
  return ModuleUse(rules, modules, activation);
}

RuleNetworkMeasures measure_snapshot(const models::SavedRuleSnapshot& snapshot) {
  const engine::FlushDenormals flush;
  const models::RuleSpec& spec = snapshot.network.spec;
  const models::RuleShape& shape = snapshot.network.shape;
  const engine::solo::Kernels<float>& kernels = engine::solo::kernels_for(engine::kernels().target);
  const std::unique_ptr<models::RuleNetwork<float>> network = models::make_rule_network<float>(shape, kernels);
  network->parameters().load(snapshot.parameters());
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  models::RuleSampler sampler(task, kernels, spec.seed);
  const models::RuleScore score = models::judge_rules(*network, sampler, shape, spec.task.output, kernels,
                                                      {.use = models::SampleUse::kTest,
                                                       .samples = std::min(spec.test_samples, kMostTestSamples),
                                                       .length = spec.length,
                                                       .rule_noise = spec.rule_noise,
                                                       .iteration = snapshot.iteration()});
  RuleNetworkMeasures measured;
  measured.loss = score.loss;
  if (spec.task.output == tasks::RuleOutput::kClassification) {
    measured.error = score.error;
  }
  if (shape.has_modules()) {
    measured.use = rule_use(shape.rules, shape.modules, score.activation);
  }
  return measured;
}

}  // namespace modlab::measures

#include <gtest/gtest.h>

#include "models/rule_network_check.h"

namespace modlab::models {
namespace {

using test::RuleCase;

constexpr RuleCase kSums[] = {
    {"monolithic", RuleModel::kMonolithic, 3, 3, 5},
    {"modular", RuleModel::kModular, 3, 3, 5},
    {"modular_more_modules", RuleModel::kModular, 2, 5, 6},
    {"modular_one_module", RuleModel::kModular, 3, 1, 4},
    {"modular_wide", RuleModel::kModular, 4, 4, 17},
    {"modular_op", RuleModel::kModularOp, 3, 3, 5},
    {"modular_op_fewer_modules", RuleModel::kModularOp, 5, 2, 4},
    {"gt_modular", RuleModel::kGtModular, 3, 3, 5},
    {"gt_modular_fewer_modules", RuleModel::kGtModular, 4, 2, 5},
    {"one_rule", RuleModel::kModular, 1, 1, 3},
    {"modular_scorer", RuleModel::kScorer, 3, 3, 5},
    {"modular_scorer_more_modules", RuleModel::kScorer, 2, 4, 5},
};

class RuleMlpTest : public test::RuleNetworkTest {
 protected:
  // One sample, as the paper's Table 1 has it; `gates` takes how much each module counts.
  double said(int row, Vector& gates) const {
    const auto e = static_cast<std::size_t>(shape_.width);
    const std::size_t d = 4 * e;
    Vector z = mlp2("encoder_x", {data_of(row)[0]}, e, e);
    const Vector second = mlp2("encoder_x", {data_of(row)[1]}, e, e);
    const Vector code = mlp2("encoder_c", one_hot(rule_of(row)), e, e);
    z.insert(z.end(), second.begin(), second.end());
    z.insert(z.end(), code.begin(), code.end());
    if (!shape_.has_modules()) {
      return mlp2("decoder", mlp2("core", z, d, d), e, 1)[0];
    }
    const auto modules = static_cast<std::size_t>(shape_.modules);
    const auto units = static_cast<std::size_t>(module_units(shape_));
    const Vector h = layer("modules.layer0", z, units * modules, true);
    // Each module's own output, whatever the gate makes of it.
    std::vector<Vector> outputs(modules, Vector(d));
    Vector scores(modules);
    for (std::size_t module = 0; module < modules; ++module) {
      for (std::size_t unit = 0; unit < d; ++unit) {
        const float* weights = at("modules.layer1.weight") + unit * (units + 1) * modules;
        outputs[module][unit] = weights[units * modules + module];
        for (std::size_t input = module * units; input < (module + 1) * units; ++input) {
          outputs[module][unit] += weights[input] * h[input];
        }
      }
      if (shape_.model == RuleModel::kModular) {
        scores[module] = at("scores.bias")[module];
        for (std::size_t input = module * units; input < (module + 1) * units; ++input) {
          scores[module] += at("scores.weight")[input] * h[input];
        }
      }
    }
    if (shape_.model == RuleModel::kModularOp) {
      scores = layer("gate", code, modules, false);
    }
    for (std::size_t module = 0; module < modules && shape_.model == RuleModel::kScorer; ++module) {
      Vector seen = outputs[module];
      const Vector token = token_of(row);
      seen.insert(seen.end(), token.begin(), token.end());
      scores[module] = mlp2("scorer", seen, e, 1)[0];
    }
    gates = softmax(scores);
    if (shape_.model == RuleModel::kGtModular) {
      gates.assign(modules, 0);
      gates[rule_of(row) % modules] = 1;
    }
    Vector mixture(d);
    for (std::size_t module = 0; module < modules; ++module) {
      for (std::size_t unit = 0; unit < d; ++unit) {
        mixture[unit] += gates[module] * outputs[module][unit];
      }
    }
    return mlp2("decoder", mixture, e, 1)[0];
  }
};

TEST_P(RuleMlpTest, SaysWhatTheFormulasSay) {
  std::vector<Vector> expected;
  std::vector<Vector> gates(static_cast<std::size_t>(batch_.rows()));
  for (int row = 0; row < batch_.rows(); ++row) {
    expected.push_back({said(row, gates[static_cast<std::size_t>(row)])});
  }
  expect_said(make_rule_network<double>, expected, gates);
}

TEST_P(RuleMlpTest, Gradients) { expect_gradients(make_rule_network<double>); }

TEST_P(RuleMlpTest, TheSameBitsOnEveryTarget) { expect_same_bits(make_rule_network<float>); }

TEST_P(RuleMlpTest, WhatNoRowNeedsChangesNoBit) {
  const engine::solo::Kernels<float>& kernels = engine::solo::kernels_for("scalar");
  expect_equal(*make_rule_mlp<float>(shape_, kernels, true), *make_rule_mlp<float>(shape_, kernels));
}

INSTANTIATE_TEST_SUITE_P(All, RuleMlpTest, testing::ValuesIn(kSums), test::case_name);

}  // namespace
}  // namespace modlab::models

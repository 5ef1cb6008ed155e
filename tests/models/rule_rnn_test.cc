#include <gtest/gtest.h>

#include "models/rule_network_check.h"

namespace modlab::models {
namespace {

using tasks::RuleFamily;
using tasks::RuleOutput;
using test::RuleCase;

constexpr tasks::RuleTaskSettings kStates{.family = RuleFamily::kRnn, .dimension = 3};
constexpr tasks::RuleTaskSettings kClasses{
    .family = RuleFamily::kRnn, .output = RuleOutput::kClassification, .dimension = 4};

constexpr RuleCase kSystems[] = {
    {"monolithic", RuleModel::kMonolithic, 2, 2, 3, kStates, 4},
    {"monolithic_classes", RuleModel::kMonolithic, 3, 3, 2, kClasses, 3},
    {"modular", RuleModel::kModular, 3, 3, 3, kStates, 4},
    {"modular_classes", RuleModel::kModular, 2, 2, 4, kClasses, 3},
    {"modular_more_modules", RuleModel::kModular, 2, 4, 3, kStates, 3},
    {"modular_op", RuleModel::kModularOp, 3, 3, 3, kStates, 4},
    {"modular_op_fewer_modules", RuleModel::kModularOp, 4, 2, 3, kStates, 3},
    {"gt_modular", RuleModel::kGtModular, 3, 3, 3, kStates, 4},
    {"gt_modular_fewer_modules", RuleModel::kGtModular, 3, 2, 3, kClasses, 4},
};

class RuleRnnTest : public test::RuleNetworkTest {
 protected:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  // One sequence, step by step.
  void say(int sample, std::vector<Vector>& said, std::vector<Vector>& gates) const {
    const auto e = static_cast<std::size_t>(shape_.width);
    const auto size = static_cast<std::size_t>(shape_.has_modules() ? shared_state(shape_) : shape_.second_width());
    const std::size_t cells = shape_.has_modules() ? static_cast<std::size_t>(shape_.modules) : 1;
    Vector h(size);
    Vector c(size);
    for (int token = 0; token < batch_.length; ++token) {
      const int row = batch_.row_of(sample, token);
      const Vector code = mlp2("encoder", token_of(row), e, e);
      Vector scores(cells);
      std::vector<Vector> hs(cells, Vector(size));
      std::vector<Vector> cs(cells, Vector(size));
      for (std::size_t cell = 0; cell < cells; ++cell) {
        const std::string name = shape_.has_modules() ? "module" + std::to_string(cell) : "cell";
        Vector from_input = product(name + ".input", code, 4 * size);
        Vector from_state = product(name + ".state", h, 4 * size);
        for (std::size_t unit = 0; !shape_.has_modules() && unit < 4 * size; ++unit) {
          from_input[unit] += at("cell.input.bias")[unit];
          from_state[unit] += at("cell.state.bias")[unit];
        }
        for (std::size_t unit = 0; unit < size; ++unit) {
          const auto pre = [&](std::size_t slice) {
            return from_input[slice * size + unit] + from_state[slice * size + unit];
          };
          cs[cell][unit] = sigmoid(pre(1)) * c[unit] + sigmoid(pre(0)) * std::tanh(pre(3));
          hs[cell][unit] = sigmoid(pre(2)) * std::tanh(cs[cell][unit]);
        }
        if (shape_.model == RuleModel::kModular) {
          const float* weights = at("scores.weight") + cell * 8 * size;
          for (std::size_t unit = 0; unit < 4 * size; ++unit) {
            scores[cell] += weights[unit] * std::max(from_input[unit], 0.0) +
                            weights[4 * size + unit] * std::max(from_state[unit], 0.0);
          }
        }
      }
      if (shape_.model == RuleModel::kModularOp) {
        Vector hidden = product("gate.layer0", one_hot(rule_of(row)), size);
        for (double& unit : hidden) {
          unit = std::max(unit, 0.0);
        }
        scores = product("gate.layer1", hidden, cells);
      }
      Vector& gate = gates[static_cast<std::size_t>(row)];
      gate = softmax(scores);
      if (shape_.model == RuleModel::kGtModular) {
        gate.assign(cells, 0);
        gate[rule_of(row) % cells] = 1;
      }
      for (std::size_t unit = 0; unit < size; ++unit) {
        h[unit] = 0;
        c[unit] = 0;
        for (std::size_t cell = 0; cell < cells; ++cell) {
          h[unit] += gate[cell] * hs[cell][unit];
          c[unit] += gate[cell] * cs[cell][unit];
        }
      }
      said[static_cast<std::size_t>(row)] = mlp2("decoder", h, size, static_cast<std::size_t>(shape_.outputs));
    }
  }
};

TEST_P(RuleRnnTest, SaysWhatTheFormulasSay) {
  std::vector<Vector> said(static_cast<std::size_t>(batch_.rows()));
  std::vector<Vector> gates(said.size());
  for (int sample = 0; sample < batch_.samples; ++sample) {
    say(sample, said, gates);
  }
  expect_said(make_rule_network<double>, said, gates);
}

TEST_P(RuleRnnTest, Gradients) { expect_gradients(make_rule_network<double>); }

TEST_P(RuleRnnTest, TheSameBitsOnEveryTarget) { expect_same_bits(make_rule_network<float>); }

TEST_P(RuleRnnTest, WhatNoRowNeedsChangesNoBit) {
  const engine::solo::Kernels<float>& kernels = engine::solo::kernels_for("scalar");
  expect_equal(*make_rule_rnn<float>(shape_, kernels, true), *make_rule_rnn<float>(shape_, kernels));
}

INSTANTIATE_TEST_SUITE_P(All, RuleRnnTest, testing::ValuesIn(kSystems), test::case_name);

}  // namespace
}  // namespace modlab::models

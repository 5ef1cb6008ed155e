#include <gtest/gtest.h>

#include "models/rule_network_check.h"

namespace modlab::models {
namespace {

using tasks::RuleFamily;
using test::RuleCase;

constexpr tasks::RuleTaskSettings kNumbers{.family = RuleFamily::kMha};
constexpr tasks::RuleTaskSettings kDirections{.family = RuleFamily::kMha, .search = 2};

constexpr RuleCase kSearches[] = {
    {"monolithic", RuleModel::kMonolithic, 2, 2, 3, kNumbers, 4},
    {"monolithic_directions", RuleModel::kMonolithic, 3, 3, 6, kDirections, 3},
    {"modular", RuleModel::kModular, 2, 2, 4, kNumbers, 4},
    {"modular_more_modules", RuleModel::kModular, 2, 4, 4, kDirections, 3},
    {"modular_two_tokens", RuleModel::kModular, 3, 3, 3, kNumbers, 2},
    {"modular_op", RuleModel::kModularOp, 2, 2, 4, kNumbers, 4},
    {"modular_op_fewer_modules", RuleModel::kModularOp, 4, 2, 3, kNumbers, 3},
    {"gt_modular", RuleModel::kGtModular, 2, 2, 4, kDirections, 5},
    {"gt_modular_fewer_modules", RuleModel::kGtModular, 3, 2, 3, kNumbers, 3},
    {"gt_modular_wide", RuleModel::kGtModular, 4, 4, 20, kNumbers, 6},
};

class RuleMhaTest : public test::RuleNetworkTest {
 protected:
  static Vector part_of(const Vector& all, std::size_t first, std::size_t count) {
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }

  // One sample, token by token.
  void say(int sample, std::vector<Vector>& said, std::vector<Vector>& gates) const {
    const auto e = static_cast<std::size_t>(shape_.width);
    const std::size_t a = 4 * e;
    const auto head = static_cast<std::size_t>(head_width(shape_));
    const std::size_t heads = a / head;
    const std::size_t modules = heads / 2;
    std::vector<Vector> codes;
    std::vector<Vector> queries;
    std::vector<Vector> keys;
    std::vector<Vector> values;
    for (int token = 0; token < batch_.length; ++token) {
      codes.push_back(mlp2("encoder", token_of(batch_.row_of(sample, token)), e, e));
      queries.push_back(layer("query", codes.back(), a, false));
      keys.push_back(layer("key", codes.back(), a, false));
      values.push_back(layer("value", codes.back(), a, false));
    }
    for (std::size_t token = 0; token < codes.size(); ++token) {
      const int row = batch_.row_of(sample, static_cast<int>(token));
      Vector found(a);
      for (std::size_t number = 0; number < heads; ++number) {
        Vector scores;
        std::vector<std::size_t> others;
        for (std::size_t other = 0; other < codes.size(); ++other) {
          if (other != token) {
            double score = 0;
            for (std::size_t unit = number * head; unit < (number + 1) * head; ++unit) {
              score += queries[token][unit] * keys[other][unit];
            }
            scores.push_back(score / std::sqrt(static_cast<double>(head)));
            others.push_back(other);
          }
        }
        const Vector shares = softmax(scores);
        for (std::size_t place = 0; place < others.size(); ++place) {
          for (std::size_t unit = number * head; unit < (number + 1) * head; ++unit) {
            found[unit] += shares[place] * values[others[place]][unit];
          }
        }
      }
      Vector feature(e);
      if (!shape_.has_modules()) {
        const Vector self = layer("self", codes[token], head, false);
        found.insert(found.end(), self.begin(), self.end());
        feature = mlp2("core", found, 2 * e, e);
      } else {
        const auto units = static_cast<std::size_t>(module_units_behind_heads(shape_));
        const Vector self = layer("self", codes[token], head * modules, false);
        std::vector<Vector> outputs(modules, Vector(e));
        Vector scores(modules);
        for (std::size_t module = 0; module < modules; ++module) {
          Vector reads = part_of(found, 2 * head * module, 2 * head);
          const Vector own = part_of(self, head * module, head);
          reads.insert(reads.end(), own.begin(), own.end());
          const Vector h = layer("module" + std::to_string(module) + ".layer0", reads, units, true);
          for (std::size_t unit = 0; unit < e; ++unit) {
            const float* weights = at("modules.layer1.weight") + unit * (units + 1) * modules;
            outputs[module][unit] = weights[units * modules + module];
            for (std::size_t input = 0; input < units; ++input) {
              outputs[module][unit] += weights[module * units + input] * h[input];
            }
          }
          if (shape_.model == RuleModel::kModular) {
            scores[module] = at("scores.bias")[module];
            for (std::size_t input = 0; input < units; ++input) {
              scores[module] += at("scores.weight")[module * units + input] * h[input];
            }
          }
        }
        if (shape_.model == RuleModel::kModularOp) {
          scores = mlp2("gate", one_hot(rule_of(row)), head, modules);
        }
        Vector& gate = gates[static_cast<std::size_t>(row)];
        gate = softmax(scores);
        if (shape_.model == RuleModel::kGtModular) {
          gate.assign(modules, 0);
          gate[rule_of(row) % modules] = 1;
        }
        for (std::size_t module = 0; module < modules; ++module) {
          for (std::size_t unit = 0; unit < e; ++unit) {
            feature[unit] += gate[module] * outputs[module][unit];
          }
        }
      }
      said[static_cast<std::size_t>(row)] = mlp2("decoder", feature, e, 1);
    }
  }
};

TEST_P(RuleMhaTest, SaysWhatTheFormulasSay) {
  std::vector<Vector> said(static_cast<std::size_t>(batch_.rows()));
  std::vector<Vector> gates(said.size());
  for (int sample = 0; sample < batch_.samples; ++sample) {
    say(sample, said, gates);
  }
  expect_said(make_rule_network<double>, said, gates);
}

TEST_P(RuleMhaTest, Gradients) { expect_gradients(make_rule_network<double>); }

TEST_P(RuleMhaTest, TheSameBitsOnEveryTarget) { expect_same_bits(make_rule_network<float>); }

TEST_P(RuleMhaTest, WhatNoRowNeedsChangesNoBit) {
  const engine::solo::Kernels<float>& kernels = engine::solo::kernels_for("scalar");
  expect_equal(*make_rule_mha<float>(shape_, kernels, true), *make_rule_mha<float>(shape_, kernels));
}

INSTANTIATE_TEST_SUITE_P(All, RuleMhaTest, testing::ValuesIn(kSearches), test::case_name);

}  // namespace
}  // namespace modlab::models

#include "models/rules/training_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "models/initial_weights.h"
#include "models/rules/rule_route.h"
#include "models/rules/rule_settings.h"
#include "models/rules/train_rules.h"

namespace modlab::models {
namespace {

RuleSpec small_spec() {
  RuleSpec spec;
  spec.task.rules = 4;
  spec.model = RuleModel::kGtModular;
  spec.width = 8;
  spec.iterations = 60;
  spec.evaluate_every = 30;
  spec.batch_size = 32;
  spec.lr = 0.01;
  spec.test_samples = 100;
  return spec;
}

RuleBatch drawn(const RuleSpec& spec, int iteration) {
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  RuleSampler sampler(task, engine::solo::kernels_for("scalar"), spec.seed);
  RuleBatch batch;
  TrainingSamples(spec, sampler).draw(iteration, batch);
  return batch;
}

TEST(TrainingSamples, AFiniteSetComesOverAndOver) {
  RuleSpec spec = resolve(small_spec());
  spec.train_samples = 300;
  spec.batch_size = 200;
  std::set<float> seen;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const RuleBatch batch = drawn(spec, iteration);
    for (int row = 0; row < batch.rows(); ++row) {
      seen.insert(batch.data[static_cast<std::size_t>(row) * batch.columns]);
    }
  }
  EXPECT_EQ(seen.size(), 300U);
}

// A token's target belongs to its own sample, whatever the order in which rows stand.
TEST(TrainingSamples, SequencesStayTogether) {
  RuleSpec spec = small_spec();
  spec.task.family = tasks::RuleFamily::kRnn;
  spec.task.dimension = 2;
  spec.length = 3;
  spec.train_samples = 5;
  spec = resolve(spec);
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  const RuleBatch batch = drawn(spec, 3);
  ASSERT_EQ(batch.length, 3);
  const auto number = [](const AlignedVector<float>& values, int row, int stride, int column) {
    return static_cast<double>(values[static_cast<std::size_t>(row) * stride + column]);
  };
  for (int sample = 0; sample < batch.samples; ++sample) {
    for (int token = 0; token < 3; ++token) {
      const int row = batch.row_of(sample, token);
      const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
      for (int column = 0; column < 2; ++column) {
        double state = 0;
        for (int from = 0; from < 2; ++from) {
          const std::size_t weight = rule * 4 + static_cast<std::size_t>(from * 2 + column);
          state += number(batch.data, row, batch.columns, from) * task.drive[weight];
          state += token == 0 ? 0
                              : number(batch.targets, batch.row_of(sample, token - 1), batch.outputs, from) *
                                    task.transition[weight];
        }
        EXPECT_NEAR(number(batch.targets, row, batch.outputs, column), state, 1e-4);
      }
    }
  }
}

TEST(TrainingSamples, RulesAsOftenAsTheirSkewSays) {
  RuleSpec spec = resolve(small_spec());
  spec.rule_skew = 1;
  spec.batch_size = 20000;
  std::vector<double> counts(4);
  for (const std::uint16_t rule : drawn(spec, 0).rules) {
    counts[rule] += 1;
  }
  const double whole = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
  for (std::size_t rule = 0; rule < 4; ++rule) {
    EXPECT_NEAR(counts[rule] / 20000, 1 / (static_cast<double>(rule + 1) * whole), 0.02);
  }
}

TEST(TrainingSamples, SomeSayAnotherRuleThanTheirOwn) {
  RuleSpec spec = resolve(small_spec());
  spec.rule_noise = 0.3;
  spec.batch_size = 20000;
  const RuleBatch batch = drawn(spec, 0);
  std::vector<double> others(4);
  double wrong = 0;
  for (std::size_t row = 0; row < batch.rules.size(); ++row) {
    wrong += batch.rules[row] != batch.said[row] ? 1 : 0;
    others[static_cast<std::size_t>((batch.said[row] - batch.rules[row] + 4) % 4)] += 1;
  }
  EXPECT_NEAR(wrong / 20000, 0.3, 0.02);
  for (std::size_t other = 1; other < 4; ++other) {
    EXPECT_NEAR(others[other] / 20000, 0.1, 0.01);
  }
  // Everything else is as without it.
  spec.rule_noise = 0;
  const RuleBatch clean = drawn(spec, 0);
  EXPECT_EQ(clean.rules, batch.rules);
  EXPECT_EQ(clean.data, batch.data);
  EXPECT_EQ(clean.said, clean.rules);
}

std::vector<double> losses(const RuleSpec& spec) {
  RuleProgress progress;
  const auto trained = train_rules(spec, tasks::draw_rules(spec.task), engine::kernels(), progress);
  std::vector<double> found;
  for (const RulePoint& point : trained->curve) {
    found.push_back(point.validation.loss);
  }
  return found;
}

// Modules all begin alike where they have no weights yet to tell them apart: then which module serves which rule
// changes no bit. With weights of their own they are other networks of the same kind.
TEST(TrainRules, APermutedOracleIsTheOracleWithItsModulesExchanged) {
  const RuleSpec own = resolve(small_spec());
  RuleSpec permuted = own;
  permuted.gates.oracle = OracleKind::kPermuted;
  const tasks::RuleTask task = tasks::draw_rules(own.task);
  const RuleShape shapes[] = {rule_shape(own), rule_shape(permuted)};
  const engine::Layout layout = rule_layout(shapes[0]);
  RuleBatch batch;
  RuleSampler(task, engine::solo::kernels_for("scalar"), 1).draw({.samples = 64}, batch);
  RuleRoute route(shapes[1]);
  route.find(batch);
  std::vector<int> module_of(4);
  for (int row = 0; row < batch.rows(); ++row) {
    module_of[batch.rules[static_cast<std::size_t>(row)]] = route[row];
  }
  EXPECT_NE(module_of, (std::vector<int>{0, 1, 2, 3}));
  // Parameters of module m of the first network go to the module that the second one takes for the same rule.
  std::vector<float> values[2];
  for (std::size_t place = 0; place < layout.count; ++place) {
    values[0].push_back(0.2F * static_cast<float>(std::sin(1.0 + 0.37 * static_cast<double>(place))));
  }
  values[1] = values[0];
  const int units = module_units(shapes[0]);
  const int hidden = 4 * units;
  for (const engine::Tensor& tensor : layout.tensors) {
    const bool first = tensor.name.starts_with("modules.layer0");
    const bool second = tensor.name == "modules.layer1.weight";
    if (!first && !second) {
      continue;
    }
    // Hidden units are rows of the first layer's [unit][input] and columns of the second's [output][unit], behind which
    // come the modules' biases.
    const std::size_t inputs = first ? tensor.count / static_cast<std::size_t>(hidden) : 1;
    const std::size_t columns = first ? static_cast<std::size_t>(hidden) : static_cast<std::size_t>(hidden + 4);
    const std::size_t repeats = tensor.count / (inputs * columns);
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      for (int column = 0; column < static_cast<int>(columns); ++column) {
        const int to = column < hidden ? module_of[static_cast<std::size_t>(column / units)] * units + column % units
                                       : hidden + module_of[static_cast<std::size_t>(column - hidden)];
        for (std::size_t input = 0; input < inputs; ++input) {
          values[1][tensor.offset + (repeat * columns + static_cast<std::size_t>(to)) * inputs + input] =
              values[0][tensor.offset + (repeat * columns + static_cast<std::size_t>(column)) * inputs + input];
        }
      }
    }
  }
  std::vector<float> said[2];
  for (const int which : {0, 1}) {
    const auto network = make_rule_network<float>(shapes[which], engine::solo::kernels_for("scalar"));
    network->parameters().load(values[which]);
    const float* found = network->forward(batch);
    said[which].assign(found, found + static_cast<std::ptrdiff_t>(batch.rows()) * engine::solo::padded(1));
  }
  EXPECT_EQ(said[0], said[1]);
  EXPECT_NE(losses(own), losses(permuted));
}

TEST(TrainRules, GatesHaveALearningRateOfTheirOwn) {
  RuleSpec spec = small_spec();
  spec.model = RuleModel::kModularOp;
  spec.gate_rate = 0;
  spec = resolve(spec);
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  RuleProgress progress;
  const auto trained = train_rules(spec, task, engine::kernels(), progress);
  const engine::Layout layout = rule_layout(rule_shape(spec));
  const std::vector<float> initial = initial_parameters(layout, Init::kTorch, spec.seed);
  for (const engine::Tensor& tensor : layout.tensors) {
    const bool same = std::equal(initial.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                                 initial.begin() + static_cast<std::ptrdiff_t>(tensor.offset + tensor.count),
                                 trained->last.parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset));
    EXPECT_EQ(same, tensor.name.starts_with("gate")) << tensor.name;
  }
}

}  // namespace
}  // namespace modlab::models

#include "models/rules/rule_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace modlab::models {
namespace {

using tasks::RuleFamily;
using tasks::RuleOutput;
using tasks::RuleTask;

const engine::solo::Kernels<float>& kernels() { return engine::solo::kernels_for(engine::supported_targets().front()); }

RuleBatch drawn(const RuleTask& task, const RuleDraw& draw, std::uint64_t seed = 0) {
  RuleBatch batch;
  RuleSampler(task, kernels(), seed).draw(draw, batch);
  return batch;
}

const float* row_of(const RuleBatch& batch, int row) {
  return batch.data.data() + static_cast<std::ptrdiff_t>(row) * batch.columns;
}

double mean_target(const RuleBatch& batch, int outputs) {
  double sum = 0;
  for (int row = 0; row < batch.rows(); ++row) {
    for (int output = 0; output < outputs; ++output) {
      sum += std::abs(batch.targets[static_cast<std::size_t>(row) * batch.outputs + output]);
    }
  }
  return sum / batch.rows() / outputs;
}

TEST(RuleSamples, SumsOfTwoNumbers) {
  const RuleTask task = tasks::draw_rules({.rules = 4, .task_seed = 1});
  const RuleBatch batch = drawn(task, {.samples = 500});
  for (int row = 0; row < batch.rows(); ++row) {
    const float* x = row_of(batch, row);
    const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
    ASSERT_LT(rule, 4U);
    EXPECT_FLOAT_EQ(batch.targets[static_cast<std::size_t>(row) * batch.outputs],
                    static_cast<float>(task.alpha[rule] * x[0] + task.beta[rule] * x[1]));
  }
}

// A token looks for its nearest among the others, by the numbers of its own rule.
TEST(RuleSamples, Searches) {
  for (const int search : {1, 2}) {
    const RuleTask task = tasks::draw_rules({.family = RuleFamily::kMha, .rules = 3, .task_seed = 2, .search = search});
    const RuleBatch batch = drawn(task, {.samples = 40, .length = 5});
    const int q_size = search;
    const int block = 2 * q_size + 2;
    for (int sample = 0; sample < batch.samples; ++sample) {
      for (int own = 0; own < batch.length; ++own) {
        const int row = batch.row_of(sample, own);
        const int rule = batch.rules[static_cast<std::size_t>(row)];
        double expected = 0;
        for (const int which : {0, 1}) {
          std::map<double, int> by_distance;
          for (int other = 0; other < batch.length; ++other) {
            double distance = 0;
            for (int part = 0; part < q_size; ++part) {
              const int column = block * rule + which * q_size + part;
              const double difference = row_of(batch, row)[column] - row_of(batch, batch.row_of(sample, other))[column];
              distance += difference * difference;  // of directions, the nearest has the largest product
            }
            if (other != own) {
              by_distance.emplace(distance, other);
            }
          }
          const float* found = row_of(batch, batch.row_of(sample, by_distance.begin()->second));
          expected += (which == 0 ? task.alpha : task.beta)[static_cast<std::size_t>(rule)] *
                      found[block * rule + 2 * q_size + which];
        }
        EXPECT_NEAR(batch.targets[static_cast<std::size_t>(row) * batch.outputs], expected, 1e-5);
      }
    }
  }
}

TEST(RuleSamples, DirectionsHaveLengthOne) {
  const RuleTask task = tasks::draw_rules({.family = RuleFamily::kMha, .rules = 2, .search = 2});
  const RuleBatch batch = drawn(task, {.samples = 10, .length = 4});
  for (int row = 0; row < batch.rows(); ++row) {
    for (const int column : {0, 2, 6, 8}) {
      EXPECT_NEAR(std::hypot(row_of(batch, row)[column], row_of(batch, row)[column + 1]), 1, 1e-6);
    }
  }
}

TEST(RuleSamples, StatesOfASwitchingSystem) {
  const RuleTask task =
      tasks::draw_rules({.family = RuleFamily::kRnn, .rules = 3, .task_seed = 4, .dimension = 5, .order = 2});
  const RuleBatch batch = drawn(task, {.samples = 20, .length = 6});
  for (int sample = 0; sample < batch.samples; ++sample) {
    std::vector<std::vector<double>> states;
    for (int token = 0; token < batch.length; ++token) {
      const int row = batch.row_of(sample, token);
      const int rule = batch.rules[static_cast<std::size_t>(row)];
      std::vector<double> state(5);
      for (int to = 0; to < 5; ++to) {
        for (int from = 0; from < 5; ++from) {
          state[to] += row_of(batch, row)[from] * task.drive[(rule * 5 + from) * 5 + to];
          for (int lag = 0; lag < 2 && lag < token; ++lag) {
            state[to] += states[token - 1 - lag][from] * task.transition[((rule * 2 + lag) * 5 + from) * 5 + to];
          }
        }
        EXPECT_NEAR(batch.targets[static_cast<std::size_t>(row) * batch.outputs + to], state[to], 1e-5);
      }
      states.push_back(state);
    }
  }
}

TEST(RuleSamples, ClassesAreSigns) {
  for (const RuleFamily family : {RuleFamily::kMlp, RuleFamily::kMha, RuleFamily::kRnn}) {
    const RuleTask numbers = tasks::draw_rules({.family = family, .rules = 4, .dimension = 6});
    const RuleTask classes =
        tasks::draw_rules({.family = family, .output = RuleOutput::kClassification, .rules = 4, .dimension = 6});
    const RuleDraw draw{.samples = 200, .length = family == RuleFamily::kMlp ? 1 : 3};
    const RuleBatch said = drawn(numbers, draw);
    const RuleBatch signs = drawn(classes, draw);
    int ones = 0;
    for (int row = 0; row < said.rows(); ++row) {
      double value = said.targets[static_cast<std::size_t>(row) * said.outputs];
      if (family == RuleFamily::kRnn) {
        value = 0;
        for (int place = 0; place < 6; ++place) {
          value += classes.readout[place] * said.targets[static_cast<std::size_t>(row) * said.outputs + place];
        }
      }
      const float sign = signs.targets[static_cast<std::size_t>(row) * signs.outputs];
      EXPECT_EQ(sign, value >= 0 ? 1.0F : 0.0F);
      ones += sign > 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(ones) / said.rows(), 0.5, 0.15);
  }
}

// Searching does not ask how long things are, and the system is linear.
TEST(RuleSamples, TwiceTheInputIsTwiceTheTarget) {
  for (const auto& [family, search] : {std::pair{RuleFamily::kMlp, 1}, std::pair{RuleFamily::kMha, 1},
                                       std::pair{RuleFamily::kMha, 2}, std::pair{RuleFamily::kRnn, 1}}) {
    const RuleTask task = tasks::draw_rules({.family = family, .rules = 4, .search = search, .dimension = 6});
    const int length = family == RuleFamily::kMlp ? 1 : 4;
    const RuleBatch once = drawn(task, {.samples = 50, .length = length});
    const RuleBatch twice = drawn(task, {.samples = 50, .length = length, .scale = 2});
    EXPECT_EQ(once.rules, twice.rules);
    for (std::size_t place = 0; place < once.targets.size(); ++place) {
      EXPECT_NEAR(twice.targets[place], 2 * once.targets[place], 1e-5 * (1 + std::abs(once.targets[place])));
    }
  }
}

TEST(RuleSamples, AlwaysSayingZeroMissesWhatItShould) {
  for (const int rules : {2, 8}) {
    const RuleTask sums = tasks::draw_rules({.rules = rules, .task_seed = 3});
    EXPECT_NEAR(mean_target(drawn(sums, {.samples = 20000}), 1), tasks::zero_loss(sums).value(), 0.04);
    const RuleTask searches = tasks::draw_rules({.family = RuleFamily::kMha, .rules = rules, .task_seed = 3});
    EXPECT_NEAR(mean_target(drawn(searches, {.samples = 2000, .length = 10}), 1), tasks::zero_loss(searches).value(),
                0.04);
  }
  // Means over the five tasks: 1.70 for two rules, 1.76 for eight, single ones from 1.53 to 1.86.
  for (const auto& [rules, expected] : {std::pair{2, 1.70}, std::pair{8, 1.76}}) {
    double mean = 0;
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const RuleTask task = tasks::draw_rules({.family = RuleFamily::kRnn, .rules = rules, .task_seed = seed});
      const double one = mean_target(drawn(task, {.samples = 100, .length = 10}), 32);
      EXPECT_NEAR(one, 1.70, 0.25);
      mean += one / 5;
    }
    EXPECT_NEAR(mean, expected, 0.1);
  }
}

TEST(RuleSamples, RulesAreAsFrequentAsIsAskedFor) {
  const RuleTask task = tasks::draw_rules({.rules = 4});
  const auto shares = [&](const RuleDraw& draw) {
    const RuleBatch batch = drawn(task, draw);
    std::vector<double> found(4);
    for (const std::uint16_t rule : batch.rules) {
      found[rule] += 1.0 / batch.rows();
    }
    return found;
  };
  const std::vector<double> wanted = {0.5, 0, 0.2, 0.3};
  const std::vector<double> drawn_shares = shares({.samples = 40000, .frequencies = wanted});
  const std::vector<double> equal = shares({.samples = 40000});
  for (std::size_t rule = 0; rule < 4; ++rule) {
    EXPECT_NEAR(drawn_shares[rule], wanted[rule], 0.012);
    EXPECT_NEAR(equal[rule], 0.25, 0.012);
  }
  EXPECT_EQ(drawn_shares[1], 0);
}

TEST(RuleSamples, AFunctionOfSeedUseAndStep) {
  const RuleTask task = tasks::draw_rules({.family = RuleFamily::kRnn, .rules = 8, .dimension = 7});
  const RuleDraw draw{.use = SampleUse::kTest, .step = 3, .samples = 30, .length = 4};
  const RuleBatch expected = drawn(task, draw);
  for (const std::string& target : engine::supported_targets()) {
    RuleBatch other;
    RuleSampler(task, engine::solo::kernels_for(target), 0).draw(draw, other);
    EXPECT_EQ(other.data, expected.data) << target;
    EXPECT_EQ(other.targets, expected.targets) << target;
    EXPECT_EQ(other.rules, expected.rules) << target;
  }
  RuleDraw next = draw;
  next.step = 4;
  EXPECT_NE(drawn(task, next).data, expected.data);
  next = draw;
  next.use = SampleUse::kTraining;
  EXPECT_NE(drawn(task, next).data, expected.data);
  EXPECT_NE(drawn(task, draw, 1).rules, expected.rules);
}

}  // namespace
}  // namespace modlab::models

#include "models/rules/gating.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/rules/rule_settings.h"
#include "models/rules/rule_spec.h"

// Gates by themselves: scores in, gates out, and gradients against central differences of what each kind stands for.
namespace modlab::models {
namespace {

constexpr int kRows = 9;
constexpr int kModules = 5;

struct GateCase {
  const char* name;
  GateSettings gates;
  int iteration = 0;
};

GateSettings with(const std::function<void(GateSettings&)>& change) {
  GateSettings gates;
  gates.iterations = 100;
  gates.seed = 3;
  change(gates);
  return gates;
}

RuleBatch batch_at(int iteration, SampleUse use = SampleUse::kTraining) {
  const tasks::RuleTask task = tasks::draw_rules({.rules = kModules});
  RuleBatch batch;
  RuleSampler(task, engine::solo::kernels_for("scalar"), 5)
      .draw({.use = use, .step = static_cast<std::uint32_t>(iteration), .samples = kRows, .iteration = iteration},
            batch);
  return batch;
}

RuleShape shape_with(const GateSettings& gates, RuleModel model = RuleModel::kModular) {
  RuleShape shape = rule_shape({.rules = kModules}, model, kModules, 8);
  shape.gates = gates;
  return shape;
}

class GatingTest : public testing::TestWithParam<GateCase> {
 protected:
  GatingTest()
      : gating_(shape_with(GetParam().gates), engine::solo::oracle_kernels()), batch_(batch_at(GetParam().iteration)) {
    for (int row = 0; row < kRows; ++row) {
      for (int module = 0; module < kModules; ++module) {
        scores_.push_back(std::sin(1.7 * row + 2.9 * module * module));
        factors_.push_back(std::cos(0.3 + row * 1.1 + module * 0.7));
      }
    }
  }

  // [row][module]
  std::vector<double> gates_of(const std::vector<double>& scores) {
    gating_.begin_forward(batch_);
    for (int row = 0; row < kRows; ++row) {
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(row) * kModules, kModules, gating_.scores(row));
    }
    gating_.choose(0, kRows);
    std::vector<double> gates;
    for (int row = 0; row < kRows; ++row) {
      gates.insert(gates.end(), gating_.gates(row), gating_.gates(row) + kModules);
    }
    return gates;
  }

  // The gradient of sum(factors * gates) and of what else the settings ask for.
  std::vector<double> asked() {
    gates_of(scores_);
    gating_.begin_backward();
    std::vector<double> asked = factors_;
    for (int row = 0; row < kRows; ++row) {
      gating_.ask_scores(row, asked.data() + static_cast<std::ptrdiff_t>(row) * kModules);
    }
    return asked;
  }

  // What the shares of the scores would be, written out.
  std::vector<double> shares_of(const std::vector<double>& scores) {
    const GateSettings& gates = GetParam().gates;
    const double temperature =
        gates.temperature * std::pow(gates.cooling, GetParam().iteration / static_cast<double>(gates.iterations));
    AlignedVector<float> noise(64 * 4);
    engine::solo::oracle_kernels().gumbels({stream_key(gates.seed, Stream::kGumbel),
                                            static_cast<std::uint32_t>(GetParam().iteration), 0, noise.data(),
                                            static_cast<int>(noise.size())});
    std::vector<double> shares;
    for (int row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int module = 0; module < kModules; ++module) {
        const double score =
            scores[static_cast<std::size_t>(row * kModules + module)] +
            gates.gumbel * noise[static_cast<std::size_t>(row * engine::solo::padded(kModules) + module)];
        shares.push_back(std::exp(score / temperature));
        sum += shares.back();
      }
      std::for_each(shares.end() - kModules, shares.end(), [&](double& share) { share /= sum; });
    }
    return shares;
  }

  // Gates as their kind says, with the choice of modules made at the scores themselves: the function whose gradient is
  // asked for. Straight through, that is the shares.
  double surrogate(const std::vector<double>& scores) {
    const GateSettings& gates = GetParam().gates;
    const std::vector<double> chosen = gates_of(scores_);
    const std::vector<double> at_rest = shares_of(scores_);
    const std::vector<double> shares = shares_of(scores);
    double loss = 0;
    std::vector<double> most(kModules);
    for (int row = 0; row < kRows; ++row) {
      const auto first = at_rest.begin() + static_cast<std::ptrdiff_t>(row) * kModules;
      most[static_cast<std::size_t>(std::max_element(first, first + kModules) - first)] += 1.0 / kRows;
    }
    for (std::size_t at = 0; at < shares.size(); ++at) {
      const bool counts = gates.kind != GateKind::kTopK || chosen[at] > 0;
      loss += counts ? factors_[at] * shares[at] : 0;
      loss += gates.balance * kModules * most[at % kModules] * shares[at] / kRows;
      loss += gates.entropy * shares[at] * std::log(shares[at]) / kRows;
    }
    return loss;
  }

  Gating<double> gating_;
  RuleBatch batch_;
  std::vector<double> scores_, factors_;
};

TEST_P(GatingTest, GradientsAreThoseOfWhatTheKindStandsFor) {
  const std::vector<double> found = asked();
  constexpr double kStep = 1e-6;
  for (std::size_t at = 0; at < scores_.size(); ++at) {
    std::vector<double> more = scores_;
    std::vector<double> less = scores_;
    more[at] += kStep;
    less[at] -= kStep;
    const double expected = (surrogate(more) - surrogate(less)) / (2 * kStep);
    EXPECT_NEAR(found[at], expected, 1e-7 + 1e-5 * std::abs(expected)) << at;
  }
}

TEST_P(GatingTest, GatesAreSharesOrThoseOfTheLargest) {
  const std::vector<double> gates = gates_of(scores_);
  const std::vector<double> shares = shares_of(scores_);
  const GateSettings& settings = GetParam().gates;
  for (std::ptrdiff_t row = 0; row < kRows; ++row) {
    std::vector<double> own(gates.begin() + row * kModules, gates.begin() + (row + 1) * kModules);
    std::vector<double> share(shares.begin() + row * kModules, shares.begin() + (row + 1) * kModules);
    std::vector<double> sorted = share;
    std::ranges::sort(sorted, std::greater<>());
    for (std::size_t module = 0; module < kModules; ++module) {
      const bool is_first = share[module] == sorted[0];
      const bool is_kept = share[module] >= sorted[static_cast<std::size_t>(settings.top_k) - 1];
      const double expected = settings.kind == GateKind::kSoft   ? share[module]
                              : settings.kind == GateKind::kTopK ? (is_kept ? share[module] : 0)
                                                                 : (is_first ? 1 : 0);
      EXPECT_NEAR(own[module], expected, 1e-12);
    }
  }
}

const GateCase kCases[] = {
    {"soft", with([](GateSettings&) {})},
    {"warm", with([](GateSettings& gates) { gates.temperature = 3; })},
    {"cooled", with([](GateSettings& gates) { gates.cooling = 0.25; }), 50},
    {"gumbel", with([](GateSettings& gates) { gates.gumbel = 0.7; }), 4},
    {"balanced", with([](GateSettings& gates) { gates.balance = 1.3; })},
    {"spread", with([](GateSettings& gates) { gates.entropy = 0.8; })},
    {"decided", with([](GateSettings& gates) {
       gates.entropy = -0.8;
       gates.temperature = 0.5;
     })},
    {"top_one", with([](GateSettings& gates) { gates.kind = GateKind::kTopK; })},
    {"top_two", with([](GateSettings& gates) {
       gates.kind = GateKind::kTopK;
       gates.top_k = 2;
       gates.balance = 0.5;
     })},
    {"straight_through", with([](GateSettings& gates) {
       gates.kind = GateKind::kStraightThrough;
       gates.gumbel = 0.5;
       gates.entropy = 0.1;
     }),
     7},
};
INSTANTIATE_TEST_SUITE_P(All, GatingTest, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Gating, NoiseIsOfTrainingAlone) {
  const RuleShape shape = shape_with(with([](GateSettings& gates) { gates.gumbel = 5; }));
  Gating<float> noisy(shape, engine::solo::kernels_for("scalar"));
  const auto gate = [&](int iteration, SampleUse use) {
    noisy.begin_forward(batch_at(iteration, use));
    for (int row = 0; row < kRows; ++row) {
      std::fill_n(noisy.scores(row), kModules, 0.0F);
    }
    noisy.choose(0, kRows);
    return noisy.gates(2)[1];
  };
  EXPECT_FLOAT_EQ(gate(3, SampleUse::kTest), 1.0F / kModules);
  EXPECT_NE(gate(3, SampleUse::kTraining), 1.0F / kModules);
  EXPECT_NE(gate(3, SampleUse::kTraining), gate(4, SampleUse::kTraining));
  EXPECT_EQ(gate(3, SampleUse::kTraining), gate(3, SampleUse::kTraining));
}

TEST(Gating, TheRuleDecidesAtFirstAndInTrainingAlone) {
  const RuleShape shape = shape_with(with([](GateSettings& gates) { gates.oracle_steps = 10; }));
  Gating<double> gating(shape, engine::solo::oracle_kernels());
  const auto largest = [&](const RuleBatch& batch) {
    gating.begin_forward(batch);
    for (int row = 0; row < kRows; ++row) {
      std::fill_n(gating.scores(row), kModules, 0.0);
    }
    gating.choose(0, kRows);
    gating.begin_backward();
    return gating.gates(4)[batch.rules[4]];
  };
  EXPECT_EQ(largest(batch_at(9)), 1);
  double asked[kModules] = {1, 2, 3, 4, 5};
  gating.ask_scores(4, asked);
  EXPECT_EQ(std::accumulate(asked, asked + kModules, 0.0), 0);
  EXPECT_DOUBLE_EQ(largest(batch_at(10)), 1.0 / kModules);
  EXPECT_DOUBLE_EQ(largest(batch_at(9, SampleUse::kValidation)), 1.0 / kModules);
}

TEST(RuleRoute, OfARulePermutedOrRandom) {
  const RuleBatch batch = batch_at(0);
  RuleRoute own(shape_with(with([](GateSettings&) {})));
  RuleRoute permuted(shape_with(with([](GateSettings& gates) { gates.oracle = OracleKind::kPermuted; })));
  RuleRoute random(shape_with(with([](GateSettings& gates) { gates.oracle = OracleKind::kRandom; })));
  own.find(batch);
  permuted.find(batch);
  std::vector<int> images(kModules, -1);
  bool moves = false;
  for (int row = 0; row < kRows; ++row) {
    const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
    EXPECT_EQ(own[row], static_cast<int>(rule));
    EXPECT_TRUE(images[rule] < 0 || images[rule] == permuted[row]);
    images[rule] = permuted[row];
    moves = moves || permuted[row] != own[row];
  }
  EXPECT_TRUE(moves);
  // Every module is taken for every rule, about equally often.
  std::vector<int> counts(kModules * kModules);
  for (int step = 0; step < 1000; ++step) {
    const RuleBatch drawn = batch_at(step);
    random.find(drawn);
    for (int row = 0; row < kRows; ++row) {
      ++counts[static_cast<std::size_t>(drawn.rules[static_cast<std::size_t>(row)] * kModules + random[row])];
    }
  }
  const double mean = 1000.0 * kRows / (kModules * kModules);
  for (const int count : counts) {
    EXPECT_NEAR(count, mean, 5 * std::sqrt(mean));
  }
}

}  // namespace
}  // namespace modlab::models

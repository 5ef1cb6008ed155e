// A run's bits are a function of its settings alone: not of its neighbours, its lane, the threads or the instruction
// set.

#include <gtest/gtest.h>

#include <cstring>

#include "models/population.h"
#include "models/training_settings.h"

namespace modlab {
namespace {

using engine::LaneResult;
using models::RunSpec;

std::vector<LaneResult> train(const std::vector<RunSpec>& runs, int threads, const std::string& target) {
  const models::Plan plan = models::make_plan(runs);
  std::vector<LaneResult> results(runs.size());
  engine::Progress progress;
  models::train_population(
      plan, threads, engine::kernels_for(target), progress,
      [&](std::size_t run, const models::Blueprint&, LaneResult&& result) { results[run] = std::move(result); });
  return results;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && !a.empty() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool same_bits(const LaneResult& a, const LaneResult& b) {
  return a.best.epoch == b.best.epoch && same_bits(a.best.parameters, b.best.parameters) &&
         same_bits(a.last.parameters, b.last.parameters) && a.curve.size() == b.curve.size() && !a.curve.empty() &&
         std::memcmp(a.curve.data(), b.curve.data(), a.curve.size() * sizeof(engine::Scores)) == 0;
}

struct Case {
  const char* name;
  std::vector<std::pair<const char*, const char*>> settings;
};

std::vector<Case> cases() {
  return {
      {"shared", {{"model", "modular-shared"}}},
      {"shared_batch_4", {{"model", "modular-shared"}, {"batch_size", "4"}}},
      {"shared_gumbel_batch", {{"model", "modular-shared"}, {"gumbel", "batch"}}},
      {"shared_gumbel_sample", {{"model", "modular-shared"}, {"gumbel", "sample"}, {"batch_size", "8"}}},
      {"shared_two_tasks", {{"model", "modular-shared"}, {"task", "A+B"}, {"batch_size", "16"}}},
      {"shared_deep_modules", {{"model", "modular-shared"}, {"module_widths", "2,5,3,1"}}},
      {"shared_fcms", {{"model", "modular-shared-fcms"}, {"task", "depth3"}}},
      {"modular", {{"model", "modular"}, {"task", "depth3"}}},
      {"modular_fc", {{"model", "modular-fc"}, {"batch_size", "5"}}},
      {"modular_fan_in_3", {{"model", "modular"}, {"fan_in", "3"}, {"modules", "4,3"}}},
      {"dense", {{"model", "dense"}}},
      {"dense_batch_4", {{"model", "dense"}, {"batch_size", "4"}}},
      {"dense_two_tasks", {{"model", "dense"}, {"task", "A+B"}}},
      {"sparse", {{"model", "sparse"}, {"density", "0.2"}, {"task", "depth1"}}},
      {"dense_adamw_cosine", {{"model", "dense"}, {"optimizer", "adamw"}, {"schedule", "cosine"}}},
      {"shared_rmsprop", {{"model", "modular-shared"}, {"optimizer", "rmsprop"}, {"loss", "mse"}}},
      {"shared_momentum", {{"model", "modular-shared"}, {"optimizer", "momentum"}, {"lr", "0.1"}}},
      {"shared_sgd_diverging", {{"model", "modular-shared"}, {"optimizer", "sgd"}, {"lr", "100000"}}},
  };
}

RunSpec spec_of(const Case& test_case) {
  RunSpec spec;
  spec.epochs = 30;
  spec.seed = 11;
  for (const auto& [name, value] : test_case.settings) {
    models::bit_settings().set(spec, name, value);
  }
  return spec;
}

class DeterminismTest : public testing::TestWithParam<Case> {};

TEST_P(DeterminismTest, SameBitsOnEveryTargetAndBesideOthers) {
  const RunSpec spec = spec_of(GetParam());
  const std::string best = engine::supported_targets().front();
  const LaneResult alone = train({spec}, 1, best).front();
  for (const std::string& target : engine::supported_targets()) {
    EXPECT_TRUE(same_bits(alone, train({spec}, 1, target).front())) << target;
  }
  // Neighbours of every kind of difference a lane may have, before and behind.
  std::vector<RunSpec> crowd;
  for (int index = 0; index < 37; ++index) {
    RunSpec neighbour = spec;
    neighbour.seed = 1000 + index;
    neighbour.split_seed = 40 + index % 3;
    neighbour.lr = 0.001 * (1 + index);
    neighbour.weight_decay = index % 2 == 0 ? 0 : 0.01;
    neighbour.tau = 1 + index % 5;
    neighbour.noise = 0.05 * (index % 4);
    crowd.push_back(neighbour);
  }
  crowd.insert(crowd.begin() + 21, spec);
  for (const std::string& target : engine::supported_targets()) {
    if (target != "scalar") {
      EXPECT_TRUE(same_bits(alone, train(crowd, 2, target)[21])) << target;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeterminismTest, testing::ValuesIn(cases()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(Determinism, InTheMiddleOf5000OthersOnOneAndTwoThreads) {
  std::vector<RunSpec> crowd;
  const models::ModelKind kinds[] = {models::ModelKind::kShared, models::ModelKind::kModular,
                                     models::ModelKind::kSharedFcms, models::ModelKind::kModularFc};
  for (int index = 0; index < 5000; ++index) {
    RunSpec spec;
    spec.epochs = 40;
    spec.seed = index;
    spec.model = kinds[index % 4];
    spec.batch_size = index % 8 < 4 ? 64 : 8;
    spec.ratio = 0.3 + 0.1 * (index % 5);
    crowd.push_back(spec);
  }
  const std::string best = engine::supported_targets().front();
  const std::vector<LaneResult> on_one = train(crowd, 1, best);
  const std::vector<LaneResult> on_two = train(crowd, 2, best);
  for (std::size_t run = 0; run < crowd.size(); ++run) {
    ASSERT_TRUE(same_bits(on_one[run], on_two[run])) << "run " << run;
  }
  for (const std::size_t run :
       {std::size_t{0}, std::size_t{2500}, std::size_t{2501}, std::size_t{2503}, std::size_t{4999}}) {
    for (const std::string& target : engine::supported_targets()) {
      EXPECT_TRUE(same_bits(on_one[run], train({crowd[run]}, 1, target).front())) << "run " << run << " on " << target;
    }
  }
}

TEST(Determinism, OtherSettingsGiveOtherBits) {
  RunSpec spec;
  spec.epochs = 5;
  const LaneResult first = train({spec}, 1, engine::supported_targets().front()).front();
  spec.seed = 1;
  EXPECT_FALSE(same_bits(first, train({spec}, 1, engine::supported_targets().front()).front()));
}

}  // namespace
}  // namespace modlab

#include "models/initial_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/blueprint.h"
#include "models/learned_routing.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

struct Example {
  tasks::TaskSuite suite;
  RunSpec spec;
  Blueprint blueprint;
};

Example example(const std::string& task, ModelKind model) {
  RunSpec spec;
  spec.task = task;
  spec.model = model;
  tasks::TaskSuite suite = tasks::load_task(task);
  spec = resolve(spec, suite);
  Blueprint blueprint = make_blueprint(spec, suite);
  return {std::move(suite), std::move(spec), std::move(blueprint)};
}

// The initial parameters of many seeds.
std::vector<std::vector<float>> draw_seeds(const engine::Layout& layout, Init init) {
  constexpr std::uint64_t kSeeds = 400;
  std::vector<std::vector<float>> drawn;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    drawn.push_back(initial_parameters(layout, init, seed));
    EXPECT_EQ(drawn.back().size(), layout.count);
  }
  return drawn;
}

// One tensor's numbers over all of them.
std::vector<double> values_of(const engine::Tensor& tensor, const std::vector<std::vector<float>>& drawn) {
  std::vector<double> values;
  for (const std::vector<float>& parameters : drawn) {
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
    values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(tensor.count));
  }
  return values;
}

// Within the bound, near it on both sides, and with the spread of a uniform variable (five standard errors).
void expect_uniform(const std::vector<double>& values, double bound, const std::string& name) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    ASSERT_LE(std::abs(value), bound * (1 + 1e-6)) << name;
    sum += value / bound;
    squares += value * value / (bound * bound);
  }
  EXPECT_GT(*std::ranges::max_element(values), bound * (1 - 20 / count)) << name;
  EXPECT_LT(*std::ranges::min_element(values), -bound * (1 - 20 / count)) << name;
  EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1.0 / 3 / count)) << name;
  EXPECT_NEAR(squares / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count)) << name;
}

void expect_standard_normal(const std::vector<double>& values, const std::string& name) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
  }
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count)) << name;
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count)) << name;
  EXPECT_NEAR(fourths / count, 3, 5 * std::sqrt(96 / count)) << name;
}

TEST(InitialWeights, AreUniformByFanInBiasesToo) {
  for (const ModelKind model : {ModelKind::kDense, ModelKind::kModular, ModelKind::kShared}) {
    const engine::Layout layout = example("depth2", model).blueprint.layout;
    const std::vector<std::vector<float>> drawn = draw_seeds(layout, Init::kTorch);
    for (const engine::Tensor& tensor : layout.tensors) {
      const std::vector<double> values = values_of(tensor, drawn);
      if (tensor.fan_in == 0) {
        expect_standard_normal(values, tensor.name);
      } else {
        expect_uniform(values, 1 / std::sqrt(tensor.fan_in), tensor.name);
      }
    }
  }
}

TEST(InitialWeights, XavierIsUniformByBothWidthsWithZeroBiases) {
  for (const ModelKind model : {ModelKind::kDense, ModelKind::kShared}) {
    const engine::Layout layout = example("depth2", model).blueprint.layout;
    const std::vector<std::vector<float>> drawn = draw_seeds(layout, Init::kXavier);
    for (const engine::Tensor& tensor : layout.tensors) {
      const std::vector<double> values = values_of(tensor, drawn);
      if (tensor.fan_in == 0) {
        expect_standard_normal(values, tensor.name);
      } else if (tensor.shape.size() == 2) {
        expect_uniform(values, std::sqrt(6.0 / (tensor.shape[0] + tensor.shape[1])), tensor.name);
      } else {
        EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return value == 0; })) << tensor.name;
      }
    }
  }
}

TEST(InitialWeights, FanInIsThatOfTheLayer) {
  const engine::Layout module = example("depth2", ModelKind::kModular).blueprint.layout;
  std::vector<int> fan_ins;
  for (const engine::Tensor& tensor : module.tensors) {
    if (tensor.name.starts_with("level1.module0")) {
      fan_ins.push_back(tensor.fan_in);
    }
  }
  // A 2-12-1 module: weights and bias of both layers (bounds 0.7071 and 0.2887).
  EXPECT_EQ(fan_ins, (std::vector<int>{2, 2, 12, 12}));
}

TEST(InitialWeights, DependOnTheSeedAlone) {
  const engine::Layout layout = example("depth2", ModelKind::kShared).blueprint.layout;
  EXPECT_EQ(initial_parameters(layout, Init::kTorch, 5), initial_parameters(layout, Init::kTorch, 5));
  EXPECT_NE(initial_parameters(layout, Init::kTorch, 5), initial_parameters(layout, Init::kTorch, 6));
}

TEST(KnownSelections, ReadTheTrueRoutingAndLeaveTheRest) {
  for (const ModelKind model : {ModelKind::kModularFc, ModelKind::kSharedFcms}) {
    const Example fixed = example("depth3", model);
    const engine::LaneSettings lane = make_lane(fixed.spec, fixed.blueprint, fixed.suite);
    const auto& shape = std::get<ModularShape>(fixed.blueprint.shape);
    const tasks::Routing learned = learned_routing(shape, lane.initial).front();
    const tasks::Routing truth = tasks::true_routing(fixed.suite, shape.pool > 0, 2).front();
    EXPECT_EQ(learned.inputs, truth.inputs);
    EXPECT_EQ(learned.outputs, truth.outputs);
    EXPECT_EQ(learned.modules, truth.modules);
    const std::vector<float> random = initial_parameters(fixed.blueprint.layout, fixed.spec.init, fixed.spec.seed);
    for (const engine::Tensor& tensor : fixed.blueprint.layout.tensors) {
      for (std::size_t index = tensor.offset; index < tensor.offset + tensor.count; ++index) {
        if (tensor.rate == engine::Rate::kFunctional) {
          EXPECT_EQ(lane.initial[index], random[index]);
        } else {
          const float value = lane.initial[index];
          EXPECT_TRUE(value == 0.0F || value == 1.0F || value == 1.1F) << tensor.name << " " << value;
        }
      }
    }
  }
}

// How many weights of an MLP a mask keeps.
std::size_t kept_weights(const engine::Layout& layout, const std::vector<float>& mask) {
  std::size_t kept = 0;
  for (const engine::Tensor& tensor : layout.tensors) {
    for (std::size_t index = tensor.offset; index < tensor.offset + tensor.count; ++index) {
      EXPECT_TRUE(mask[index] == 0.0F || mask[index] == 1.0F);
      kept += tensor.shape.size() == 2 && mask[index] == 1.0F ? 1 : 0;
    }
  }
  return kept;
}

TEST(RandomMask, KeepsTheModularNetworksWeightCounts) {
  struct Match {
    const char* task;
    int kept;
    int of;
  };
  for (const Match& match : {Match{"depth1", 86, 288}, Match{"depth2", 206, 2880}, Match{"depth3", 323, 5472}}) {
    const engine::Layout layout = example(match.task, ModelKind::kSparse).blueprint.layout;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(kept_weights(layout, random_mask(layout, static_cast<double>(match.kept) / match.of, seed)),
                static_cast<std::size_t>(match.kept))
          << match.task;
    }
  }
}

TEST(RandomMask, KeepsAsManyAsThePublishedPercentile) {
  const engine::Layout layout = example("depth2", ModelKind::kSparse).blueprint.layout;
  constexpr double kWeights = 2880;
  for (const double density : {0.5, 0.25, 0.1, 0.0715, 0.013, 0.999}) {
    const double expected = kWeights - (std::floor((kWeights - 1) * (1 - density)) + 1);
    EXPECT_EQ(static_cast<double>(kept_weights(layout, random_mask(layout, density, 3))), expected) << density;
  }
  EXPECT_EQ(kept_weights(layout, random_mask(layout, 1.0, 3)), 2880U);
}

TEST(RandomMask, DropsTheBiasOfAUnitWithoutInputsAndNoOther) {
  const engine::Layout layout = example("depth2", ModelKind::kSparse).blueprint.layout;
  int dropped = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<float> mask = random_mask(layout, 0.05, seed);
    for (std::size_t index = 0; index < layout.tensors.size(); index += 2) {
      const engine::Tensor& weights = layout.tensors[index];
      const engine::Tensor& bias = layout.tensors[index + 1];
      ASSERT_EQ(weights.shape.size(), 2U);
      ASSERT_EQ(bias.shape.size(), 1U);
      for (int out = 0; out < weights.shape[0]; ++out) {
        const auto first = mask.begin() + static_cast<std::ptrdiff_t>(weights.offset) + out * weights.shape[1];
        const bool has_input = std::any_of(first, first + weights.shape[1], [](float kept) { return kept == 1.0F; });
        ASSERT_EQ(mask[bias.offset + out], has_input ? 1.0F : 0.0F);
        dropped += has_input ? 0 : 1;
      }
    }
  }
  EXPECT_GT(dropped, 0);
}

TEST(RandomMask, IsGlobalAndDependsOnTheSeed) {
  const engine::Layout layout = example("depth2", ModelKind::kSparse).blueprint.layout;
  EXPECT_NE(random_mask(layout, 0.25, 1), random_mask(layout, 0.25, 2));
  // Not the same share in every layer: over seeds the first layer's 216 weights vary as a random sample does.
  std::set<float> shares;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> mask = random_mask(layout, 0.25, seed);
    const engine::Tensor& first = layout.tensors.front();
    float kept = 0;
    for (std::size_t index = first.offset; index < first.offset + first.count; ++index) {
      kept += mask[index];
    }
    EXPECT_NEAR(kept, 54, 5 * std::sqrt(216 * 0.25 * 0.75));
    shares.insert(kept);
  }
  EXPECT_GT(shares.size(), 3U);
}

TEST(RandomMask, PrunedWeightsStartAtZeroAndTheOthersAsDense) {
  const Example sparse = example("depth2", ModelKind::kSparse);
  const engine::LaneSettings lane = make_lane(sparse.spec, sparse.blueprint, sparse.suite);
  const std::vector<float> dense = initial_parameters(sparse.blueprint.layout, Init::kTorch, sparse.spec.seed);
  for (std::size_t index = 0; index < dense.size(); ++index) {
    ASSERT_EQ(lane.initial[index], lane.mask[index] == 1.0F ? dense[index] : 0.0F);
  }
}

}  // namespace
}  // namespace modlab::models

#include "methods/mask/mask_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/mask/masked_bits.h"
#include "models/initial_weights.h"
#include "models/table_data.h"
#include "tasks/task_cache.h"

namespace modlab {
namespace {

using methods::BitsMasking;
using methods::MaskJob;
using methods::MaskOutcome;
using methods::MaskSpec;

// A network of layers on a built-in task.
models::Blueprint layers_on(const std::string& task, std::vector<int> widths) {
  models::Blueprint blueprint;
  blueprint.shape = models::MlpShape{std::move(widths)};
  blueprint.layout = models::mlp_layout(std::get<models::MlpShape>(blueprint.shape));
  blueprint.data = models::table_data(tasks::cached_task(task)->tasks.front());
  return blueprint;
}

MaskSpec short_spec() {
  MaskSpec spec;
  spec.steps = 30;
  spec.batch_size = 32;
  return spec;
}

std::vector<std::uint32_t> all_rows(const models::Blueprint& blueprint) {
  std::vector<std::uint32_t> rows;
  for (int row = 0; row < blueprint.data.samples(); ++row) {
    rows.push_back(static_cast<std::uint32_t>(row));
  }
  return rows;
}

std::vector<std::vector<float>> train(const models::Blueprint& blueprint, const MaskSpec& spec,
                                      const std::vector<MaskJob>& jobs,
                                      const engine::Kernels<float>& kernels = engine::kernels()) {
  methods::MaskProgress progress;
  const auto network = models::make_network<float>(blueprint, kernels);
  return methods::train_mask_block(kernels, *network, blueprint.data,
                                   methods::masked_parameters(blueprint.layout, spec), spec, jobs, progress);
}

// Where no loss asks for a weight, its logit falls by the learning rate in every step, but for Adam's epsilon.
TEST(MaskBlock, WithoutALossLogitsFallEvenly) {
  const models::Blueprint blueprint = layers_on("depth1", {4, 3, 2});
  const std::vector<float> nothing(blueprint.layout.count, 0.0F);
  MaskSpec spec = short_spec();
  for (const double beta : {1e-4, 1e-6}) {
    const auto logits = train(
        blueprint, spec, {{.weights = &nothing, .rows = all_rows(blueprint), .outputs = 3, .lr = 0.01, .beta = beta}});
    const double alpha = beta / spec.batch_size;
    for (const float logit : logits.front()) {
      EXPECT_NEAR(logit, 2 - 0.01 * spec.steps * alpha / (alpha + 1e-8), 1e-4);
    }
  }
}

TEST(MaskBlock, AMaskDependsOnItselfAlone) {
  const models::Blueprint blueprint = layers_on("depth2", {6, 8, 8, 2});
  std::vector<std::vector<float>> networks;
  std::vector<MaskJob> jobs;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    networks.push_back(models::initial_parameters(blueprint.layout, models::Init::kTorch, seed));
  }
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    jobs.push_back({.weights = &networks[seed],
                    .rows = all_rows(blueprint),
                    .outputs = 1U + static_cast<std::uint32_t>(seed % 3),
                    .seed = seed,
                    .stage = 2,
                    .lr = 0.05,
                    .beta = 1e-3});
  }
  const auto together = train(blueprint, short_spec(), jobs);
  for (const std::string& target : engine::supported_targets()) {
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      EXPECT_EQ(train(blueprint, short_spec(), {jobs[at]}, engine::kernels_for(target)).front(), together[at])
          << target << " " << at;
    }
  }
  jobs[0].stage = 3;
  EXPECT_NE(train(blueprint, short_spec(), {jobs[0]}).front(), together[0]) << "another stage draws other noise";
}

// Two halves that know nothing of each other: XOR of the first pair of inputs, and of the second.
struct TwoHalves {
  models::Blueprint blueprint = layers_on("sculpt/4-2-4", {4, 8, 4});
  std::vector<float> weights = std::vector<float>(blueprint.layout.count, 0.0F);

  TwoHalves() {
    for (int half = 0; half < 2; ++half) {
      const int x = 2 * half;
      const int h = 4 * half;
      const int y = 2 * half;
      // Units that say "only the first", "only the second".
      set_first(h, x, 4, x + 1, -4);
      set_first(h + 1, x, -4, x + 1, 4);
      for (int unit = h; unit < h + 2; ++unit) {
        // A unit that is exactly at zero could not learn that it is needed.
        weights[static_cast<std::size_t>(32 + unit)] = 0.5F;
        set_last(y, unit, 4);
        set_last(y + 1, unit, -4);
      }
      bias(y) = -8;
      bias(y + 1) = 8;
    }
    // Weights that lead across, and do nothing but disturb a little.
    set_first(2, 0, 0.1F, 3, 0.1F);
    set_last(3, 2, 0.1F);
  }
  void set_first(int unit, int one, float weight, int other, float other_weight) {
    weights[static_cast<std::size_t>(unit * 4 + one)] = weight;
    weights[static_cast<std::size_t>(unit * 4 + other)] = other_weight;
  }
  void set_last(int output, int unit, float weight) {
    weights[static_cast<std::size_t>(32 + 8 + output * 8 + unit)] = weight;
  }
  float& bias(int output) { return weights[static_cast<std::size_t>(32 + 8 + 32 + output)]; }
};

MaskOutcome masks_of(const TwoHalves& network, int threads, const char* targets = "outputs") {
  const auto suite = tasks::cached_task("sculpt/4-2-4");
  BitsMasking masking{.blueprint = &network.blueprint,
                      .whole = methods::whole_target(*suite),
                      .targets = methods::mask_targets(targets, *suite),
                      .spec = {},
                      .controls = true};
  masking.spec.steps = 600;
  masking.spec.beta = 1e-2;
  masking.spec.lr = 0.05;
  methods::MaskProgress progress;
  return methods::mask_networks(masking, {{network.weights, {}, 7}}, threads, engine::kernels(), progress).front();
}

TEST(MaskedBits, AMaskKeepsTheHalfThatItsTargetNeeds) {
  const TwoHalves network;
  const MaskOutcome outcome = masks_of(network, 1, "y1+y2/y3+y4");
  EXPECT_EQ(outcome.unmasked, (std::vector<double>{100, 100}));
  ASSERT_EQ(outcome.stages.size(), 3U);
  for (std::size_t target = 0; target < 2; ++target) {
    const methods::MaskStage& stage = outcome.stages[target + 1];
    EXPECT_EQ(stage.accuracy[target], 100);
    EXPECT_LT(stage.accuracy[1 - target], 60) << "what it does not keep is gone";
    EXPECT_LT(stage.inverse[target], 60);
    EXPECT_EQ(stage.inverse[1 - target], 100) << "the other half is as it was";
    EXPECT_EQ(methods::kept_count(stage.mask.tensors[0]), 4U) << "two units with two inputs each";
    EXPECT_EQ(methods::kept_count(stage.mask.tensors[1]), 4U);
    EXPECT_EQ(stage.live, (std::vector<std::size_t>{4, 4}));
    EXPECT_EQ(stage.again->iou(), 1);
    EXPECT_FALSE(stage.untrained.has_value()) << "nobody knows what it was before its training";
  }
  const auto pairs = methods::sharing_of(outcome);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs.front().all.iou(), 0);
  EXPECT_EQ(pairs.front().all.iomin(), 0);
}

TEST(MaskedBits, OutputsOfOneHalfShareItsUnits) {
  const MaskOutcome outcome = masks_of(TwoHalves(), 2);
  const auto pairs = methods::sharing_of(outcome);
  const std::vector<bool> related = methods::need_common_gate(
      methods::mask_targets("outputs", *tasks::cached_task("sculpt/4-2-4")), *tasks::cached_task("sculpt/4-2-4"));
  EXPECT_EQ(related, (std::vector<bool>{true, false, false, false, false, true}));
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (related[pair]) {
      EXPECT_EQ(pairs[pair].tensors[0].iou(), 1) << "y1 and y2 read the same units";
      EXPECT_EQ(pairs[pair].tensors[1].iou(), 0) << "and have weights of their own";
    } else {
      EXPECT_EQ(pairs[pair].all.iou(), 0);
    }
  }
}

TEST(MaskedBits, ThreadsChangeNothing) {
  const TwoHalves network;
  const MaskOutcome one = masks_of(network, 1);
  const MaskOutcome two = masks_of(network, 2);
  for (std::size_t stage = 0; stage < one.stages.size(); ++stage) {
    EXPECT_EQ(one.stages[stage].logits, two.stages[stage].logits);
  }
}

TEST(MaskedBits, TheLargestBetaThatLosesLittleIsTaken) {
  const std::vector<methods::BetaPoint> table = {
      {1e-3, 50, 100, 0}, {1e-2, 30, 96, 0}, {1e-1, 10, 80, 0}, {1, 0, 100, 0}};
  EXPECT_EQ(methods::chosen_beta(table, 100), 1e-2) << "what comes after a drop is luck";
  EXPECT_EQ(methods::chosen_beta(table, 84), 1);
  EXPECT_EQ(methods::chosen_beta({{1e-3, 50, 10, 0}}, 100), 1e-3);
}

}  // namespace
}  // namespace modlab

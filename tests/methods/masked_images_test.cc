#include "methods/mask/masked_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "io/file.h"

namespace modlab {
namespace {

using methods::ImageMaskingSpec;
using methods::MaskedImages;

// Ten classes of 6 by 6 pixels: each lights pixels of its own, and a few more are noise.
tasks::PermutedImages striped_images() {
  auto data = std::make_shared<tasks::ImageData>();
  data->train.rows = data->train.columns = 6;
  std::mt19937 random(3);
  for (int image = 0; image < 400; ++image) {
    const int digit = image % 10;
    for (int pixel = 0; pixel < 36; ++pixel) {
      const bool is_lit = pixel / 3 == digit || random() % 10 == 0;
      data->train.pixels.push_back(static_cast<std::uint8_t>(is_lit ? 128 + random() % 128 : random() % 32));
    }
    data->train.labels.push_back(static_cast<std::uint8_t>(digit));
  }
  return tasks::permuted_images(data);
}

ImageMaskingSpec three_tasks() {
  ImageMaskingSpec spec;
  spec.tasks = 3;
  spec.hidden = {40, 24};
  spec.mask.steps = 400;
  spec.mask.batch_size = 64;
  spec.seed = 1;
  return spec;
}

MaskedImages masked(const ImageMaskingSpec& spec, int threads = 1, const char* target = engine::kernels().target) {
  static const tasks::PermutedImages images = striped_images();
  methods::DigitProgress progress;
  std::optional<MaskedImages> made = methods::mask_images(spec, images, threads, engine::kernels_for(target), progress);
  EXPECT_EQ(progress.steps.load(), methods::all_steps(spec));
  return std::move(*made);
}

engine::Layout image_layout(const ImageMaskingSpec& spec) {
  return models::digit_layout(methods::image_shape(spec, 36));
}

// The published initial logits: 2 where an earlier mask keeps a weight, another number elsewhere and in the first
// layer.
TEST(KeptByEarlierTest, LogitsAndWeightsOfTheNextTask) {
  engine::Layout layout;
  for (const char* name : {"layers.0", "layers.1"}) {
    layout.add(std::string(name) + ".weight", {2, 2}, engine::Rate::kFunctional, 2, 2);
    layout.add(std::string(name) + ".bias", {2}, engine::Rate::kFunctional, 2, 2);
  }
  const methods::MaskedParameters all = methods::masked_parameters(layout, ImageMaskingSpec{}.mask);
  ASSERT_EQ(all.tensors.size(), 4U) << "biases are masked too";
  methods::KeptByEarlier kept(layout);
  EXPECT_EQ(kept.initial_logits(2, 2), std::vector<float>(12, 2.0F));
  const std::vector<float> ones(12, 1.0F);
  const auto mask_of = [&](const std::vector<float>& logits) { return methods::kept_weights(all, logits, ones, ""); };
  kept.add(all, mask_of({1, -1, -1, -1, 1, -1, /**/ 1, -1, -1, -1, -1, -1}));
  kept.add(all, mask_of({-1, 1, -1, -1, -1, -1, /**/ -1, 1, -1, -1, -1, 1}));
  EXPECT_EQ(kept.used(), (std::vector<std::uint8_t>{1, 1, 0, 0, 1, 0, /**/ 1, 1, 0, 0, 0, 1}))
      << "of all earlier tasks, not of the last one alone";
  EXPECT_EQ(kept.initial_logits(2, -1), (std::vector<float>{2, 2, -1, -1, 2, -1, /**/ 2, 2, -1, -1, -1, 2}));
  kept.forget_first_layer(layout);
  EXPECT_EQ(kept.initial_logits(2, -1), (std::vector<float>{-1, -1, -1, -1, -1, -1, /**/ 2, 2, -1, -1, -1, 2}));
  EXPECT_EQ(kept.restored(ones, std::vector<float>(12, 5.0F)),
            (std::vector<float>{5, 5, 5, 5, 5, 5, /**/ 1, 1, 5, 5, 5, 1}));
  EXPECT_EQ(kept.restored({}, std::vector<float>(12, 5.0F)), std::vector<float>(12, 5.0F)) << "the first task";
  EXPECT_EQ(kept.as_mask(all).tensors[3].kept, (std::vector<std::uint8_t>{0, 1}));
}

TEST(MaskedImagesTest, EveryTaskIsLearnedAndMasked) {
  const MaskedImages made = masked(three_tasks());
  EXPECT_FALSE(made.outcome.has_control);
  EXPECT_EQ(made.outcome.targets, (std::vector<std::string>{"T1", "T2", "T3"}));
  ASSERT_EQ(made.outcome.stages.size(), 3U);
  for (std::size_t task = 0; task < 3; ++task) {
    const methods::MaskStage& stage = made.outcome.stages[task];
    ASSERT_EQ(stage.accuracy.size(), task + 1);
    EXPECT_GT(stage.accuracy.back(), 90) << task;
    EXPECT_LT(stage.inverse.back(), 60) << task;
    EXPECT_GT(methods::kept_count(stage.mask), 0U);
    EXPECT_EQ(stage.earlier.empty(), task == 0);
  }
  EXPECT_LT(made.outcome.stages[2].accuracy[0], 60) << "the first layer is another task's by then";
  EXPECT_EQ(made.outcome.stages[1].earlier[0].second, 0U) << "of the first layer nothing can be taken over";
  EXPECT_GT(made.outcome.stages[1].earlier[2].second, 0U);
}

// What an earlier mask keeps behind the first layer is the same to the last bit after later tasks; what none keeps is
// not.
TEST(MaskedImagesTest, WeightsOfEarlierMasksStay) {
  const ImageMaskingSpec spec = three_tasks();
  const MaskedImages made = masked(spec);
  const engine::Layout layout = image_layout(spec);
  const methods::MaskedParameters all = methods::masked_parameters(layout, spec.mask);
  const std::vector<float>& before = made.outcome.stages[0].weights;
  ASSERT_EQ(made.outcome.stages[2].weights, made.weights);
  for (std::size_t tensor = 2; tensor < all.tensors.size(); ++tensor) {
    const std::vector<std::uint8_t>& kept = made.outcome.stages[0].mask.tensors[tensor].kept;
    std::size_t changed = 0;
    for (std::size_t place = 0; place < kept.size(); ++place) {
      const std::size_t at = all.tensors[tensor].offset + place;
      if (kept[place] != 0) {
        ASSERT_EQ(made.weights[at], before[at]) << all.tensors[tensor].name << " " << place;
      } else {
        changed += made.weights[at] != before[at] ? 1 : 0;
      }
    }
    EXPECT_EQ(changed, kept.size() - methods::kept_count(made.outcome.stages[0].mask.tensors[tensor]));
  }
  std::size_t same = 0;
  for (std::size_t place = 0; place < all.tensors[0].count; ++place) {
    same += made.weights[place] == before[place] ? 1 : 0;
  }
  EXPECT_EQ(same, 0U) << "of the first layer nothing stays";
}

// With the first layer kept as well, the first task's mask finds its network again after all others.
TEST(MaskedImagesTest, WithoutAResetEarlierTasksStayAsTheyAre) {
  ImageMaskingSpec spec = three_tasks();
  spec.reset_first = false;
  const MaskedImages made = masked(spec);
  const methods::MaskedParameters all = methods::masked_parameters(image_layout(spec), spec.mask);
  for (std::size_t task = 0; task < 2; ++task) {
    const methods::MaskStage& stage = made.outcome.stages[task];
    EXPECT_EQ(methods::masked_weights(all, stage.mask, made.weights),
              methods::masked_weights(all, stage.mask, stage.weights));
  }
  EXPECT_GT(made.outcome.stages[1].earlier[0].second, 0U);
  EXPECT_TRUE(made.outcome.own_tensors.empty());
}

TEST(MaskedImagesTest, LogitsBeginWhereTheyAreToldTo) {
  ImageMaskingSpec spec = three_tasks();
  spec.tasks = 2;
  spec.mask.steps = 1;
  spec.prefer_old = -1;
  const MaskedImages made = masked(spec);
  const methods::MaskedParameters all = methods::masked_parameters(image_layout(spec), spec.mask);
  const models::WeightMask& before = made.outcome.stages[0].mask;
  // One step of Adam moves a logit by the learning rate.
  constexpr float kStep = 0.0101F;
  for (std::size_t tensor = 0; tensor < all.tensors.size(); ++tensor) {
    for (std::size_t place = 0; place < all.tensors[tensor].count; ++place) {
      const auto at = static_cast<std::size_t>(all.logit_of[all.tensors[tensor].offset + place]);
      EXPECT_NEAR(made.outcome.stages[0].logits[at], 2, kStep);
      const bool is_old = tensor > 1 && before.tensors[tensor].kept[place] != 0;
      EXPECT_NEAR(made.outcome.stages[1].logits[at], is_old ? 2 : -1, kStep) << all.tensors[tensor].name;
    }
  }
}

TEST(MaskedImagesTest, PreferringOldWeightsTakesMoreOfThemOver) {
  ImageMaskingSpec spec = three_tasks();
  spec.tasks = 2;
  const auto shared = [&] {
    const MaskedImages made = masked(spec);
    measures::MaskOverlap all;
    for (const measures::MaskOverlap& overlap : made.outcome.stages[1].earlier) {
      all += overlap.second > 0 ? overlap : measures::MaskOverlap{};
    }
    return all.of_first();
  };
  const double plain = shared();
  spec.prefer_old = 0;
  const double some = shared();
  spec.prefer_old = -1;
  EXPECT_GT(some, plain);
  EXPECT_GT(shared(), some);
}

TEST(MaskedImagesTest, ThreadsAndTargetsChangeNothing) {
  ImageMaskingSpec spec = three_tasks();
  spec.tasks = 2;
  spec.steps = 5;
  spec.mask.steps = 15;
  const MaskedImages one = masked(spec);
  const auto expect_the_same = [&](const MaskedImages& other) {
    EXPECT_EQ(other.weights, one.weights);
    for (std::size_t stage = 0; stage < 2; ++stage) {
      EXPECT_EQ(other.outcome.stages[stage].logits, one.outcome.stages[stage].logits);
      EXPECT_EQ(other.outcome.stages[stage].accuracy, one.outcome.stages[stage].accuracy);
    }
  };
  expect_the_same(masked(spec, 2));
  expect_the_same(masked(spec, 3));
  expect_the_same(masked(spec, 1, "scalar"));
  spec.seed = 2;
  EXPECT_NE(masked(spec).weights, one.weights);
}

// Tasks that were learned are not learned again, and the rest comes out as if nothing had happened.
TEST(MaskedImagesTest, GoesOnWhereItWas) {
  ImageMaskingSpec spec = three_tasks();
  spec.mask.steps = 15;
  const MaskedImages whole = masked(spec);
  const io::TemporaryFolder folder(testing::TempDir(), "masked-images");
  const io::Unfinished unfinished(folder.path(), "run");
  const tasks::PermutedImages images = striped_images();
  const auto made = [&] {
    methods::DigitProgress progress;
    auto result = methods::mask_images(spec, images, 1, engine::kernels(), progress, unfinished);
    EXPECT_EQ(progress.steps.load() + progress.found.load(), methods::all_steps(spec));
    return std::move(*result);
  };
  const auto expect_the_same = [&](const MaskedImages& other) {
    EXPECT_EQ(other.weights, whole.weights);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      EXPECT_EQ(other.outcome.stages[stage].logits, whole.outcome.stages[stage].logits);
      EXPECT_EQ(other.outcome.stages[stage].accuracy, whole.outcome.stages[stage].accuracy);
      EXPECT_EQ(other.outcome.stages[stage].weights, whole.outcome.stages[stage].weights);
    }
  };
  expect_the_same(made());
  std::filesystem::remove(folder.path() + "/run.task-2");
  std::filesystem::remove(folder.path() + "/run.task-3");
  expect_the_same(made());
  std::vector<float> other = whole.weights;
  other.resize(2 * other.size(), 1.0F);
  unfinished.keep("task-3", other);
  EXPECT_EQ(made().outcome.stages[2].logits.front(), 1.0F) << "a part that is there is taken";
}

TEST(MaskedImagesTest, StopsWhenItIsAsked) {
  methods::DigitProgress progress;
  progress.stop = true;
  EXPECT_FALSE(methods::mask_images(three_tasks(), striped_images(), 1, engine::kernels(), progress).has_value());
}

TEST(MaskedImagesTest, SharingLeavesOutWhatEachTaskHasForItself) {
  ImageMaskingSpec spec = three_tasks();
  spec.mask.steps = 20;
  const std::vector<methods::MaskSharing> pairs = methods::sharing_of(masked(spec).outcome);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].names,
            (std::vector<std::string>{"layers.1.weight", "layers.1.bias", "layers.2.weight", "layers.2.bias"}));
  EXPECT_EQ(pairs[0].tensors.size(), 4U);
  EXPECT_EQ(pairs[2].first, 1U);
  EXPECT_EQ(pairs[2].second, 2U);
}

}  // namespace
}  // namespace modlab

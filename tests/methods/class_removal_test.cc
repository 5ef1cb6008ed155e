#include "methods/torch/class_removal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/errors.h"
#include "tasks/published_split.h"

namespace modlab::methods {
namespace {

ClassTask three_classes() {
  return {
      .names = {"cat", "dog", "ship"}, .labels = {0, 1, 2, 0, 1, 2, 0, 0}, .train = {0, 1, 2, 3}, .test = {4, 5, 6, 7}};
}

TEST(ClassRemoval, LearnsFromAllOtherClasses) {
  const std::vector<ClassTarget> targets = without_classes(three_classes(), {0, 2}, false);
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].target.name, "without cat");
  EXPECT_EQ(targets[0].target.rows, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(targets[0].target.outputs.empty()) << "every class may be answered";
  EXPECT_EQ(without_classes(three_classes(), {0}, true)[0].target.outputs, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(ClassRemoval, DrawsEachPairOnce) {
  const std::vector<ClassTarget> all = class_pairs(three_classes(), 10, 4);
  std::set<std::string> names;
  for (const ClassTarget& pair : all) {
    names.insert(pair.target.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"cat or dog", "cat or ship", "dog or ship"}));
  EXPECT_EQ(class_pairs(three_classes(), 1, 4)[0].target.name, all[0].target.name);
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    first.insert(class_pairs(three_classes(), 1, seed)[0].target.name);
  }
  EXPECT_EQ(first.size(), 3U) << "and any of them can be the first";
}

TEST(ClassRemoval, JudgesEachClass) {
  const ClassTask task = three_classes();
  const std::vector<ClassTarget> targets = without_classes(task, {0, 2}, false);
  // Tests are dog, ship, cat, cat; said are dog, ship, cat, ship.
  const TorchJudgement judgement = judge_classes({0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1}, task, targets);
  EXPECT_EQ(judgement.everything, 75);
  EXPECT_EQ(judgement.accuracy[0], 100);
  EXPECT_NEAR(judgement.accuracy[1], 200.0 / 3, 1e-9);
  EXPECT_EQ(judgement.classes[0], (std::vector<double>{50, 0, 50}));
}

TEST(ClassRemoval, AsksForImages) {
  ClassTask task = three_classes();
  task.train = {0, 3};
  EXPECT_THROW(check(task, without_classes(task, {0}, false)), ConfigError);
  task = three_classes();
  task.test = {6};
  EXPECT_THROW(check(task, without_classes(task, {0}, false)), ConfigError);
}

TEST(ClassRemoval, ComparesWithTheControl) {
  const std::vector<std::vector<double>> control = {{80, 10, 10}, {0, 50, 50}, {0, 0, 100}};
  const std::vector<std::vector<double>> without = {{20, 40, 40}, {0, 45, 55}, {0, 0, 100}};
  const RemovedClass found = removed_class(control, without, 0);
  EXPECT_EQ(found.drop, 60);
  EXPECT_EQ(found.relative_drop, 75);
  EXPECT_NEAR(*found.worst_other, 100 * 10 / 75.0, 1e-9) << "dogs lose a tenth";
  EXPECT_EQ(removed_class(control, control, 0).relative_drop, 0);
  EXPECT_FALSE(removed_class(control, control, 0).worst_other.has_value()) << "of nothing";
  EXPECT_FALSE(removed_class({{0, 100}, {0, 100}}, {{0, 100}, {0, 100}}, 0).relative_drop.has_value());
}

TEST(ClassRemoval, HalvesLayersWithTheirVectors) {
  models::WeightMask mask;
  for (int layer = 0; layer < 3; ++layer) {
    mask.tensors.push_back({"weight", {2, 1}, {0, 1}});
    mask.tensors.push_back({"bias", {2}, {0, 1}});
  }
  const auto masked = [](const models::WeightMask& half) {
    std::vector<bool> found;
    for (const models::MaskTensor& tensor : half.tensors) {
      found.push_back(tensor.kept[0] == 0);
    }
    return found;
  };
  EXPECT_EQ(masked(half_of_layers(mask, true)), (std::vector<bool>{true, true, true, true, false, false}));
  EXPECT_EQ(masked(half_of_layers(mask, false)), (std::vector<bool>{false, false, false, false, true, true}));
}

// Half the square of the sum of all weights, whatever the samples: every gradient is that sum.
class SquaredSum : public models::TorchNetwork {
 public:
  SquaredSum() {
    layout_.add("first.weight", {2, 1}, engine::Rate::kFunctional, 1, 2);
    layout_.add("last.weight", {1, 2}, engine::Rate::kFunctional, 2, 1);
  }
  const engine::Layout& layout() const override { return layout_; }
  std::vector<float> initial() const override { return {3, -1, -4, 1}; }
  std::vector<float> buffers() const override { return {}; }
  void set_buffers(std::span<const float> /*buffers*/) override {}
  double gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                  std::span<const std::uint8_t> /*wanted*/, std::span<float> gradients) override {
    EXPECT_FALSE(batch.trains_weights);
    rows_ += batch.rows.size();
    const float sum = std::accumulate(parameters.begin(), parameters.end(), 0.0F);
    std::ranges::fill(gradients, sum);
    return sum * sum / 2;
  }
  int answers() const override { return 1; }
  std::vector<float> say(std::span<const float> /*parameters*/, std::span<const std::uint32_t> /*rows*/) override {
    return {};
  }

  std::size_t rows_ = 0;

 private:
  engine::Layout layout_;
};

// The sum is -1; masked from the end it is first -1 + 4 and then 3 + 1, or -2 and then 3 - 4.
TEST(GradientCosines, MaskLayersFromTheEnd) {
  SquaredSum network;
  const MaskedParameters masked = masked_parameters(network.layout(), {});
  const std::vector<std::uint32_t> rows(300);
  const auto cosines = [&](std::vector<std::uint8_t> first, std::vector<std::uint8_t> last) {
    const models::WeightMask mask{
        "", {{"first.weight", {2, 1}, std::move(first)}, {"last.weight", {1, 2}, std::move(last)}}};
    return gradient_cosines(network, network.initial(), masked, mask, rows);
  };
  EXPECT_EQ(cosines({1, 0}, {0, 1}), (std::vector<double>{-1, -1}));
  EXPECT_EQ(cosines({1, 0}, {1, 0}), (std::vector<double>{1, 1}));
  EXPECT_EQ(cosines({0, 1}, {0, 1}), (std::vector<double>{-1, 0})) << "where nothing is left there is no direction";
  EXPECT_EQ(network.rows_, 3 * 3 * rows.size()) << "every sample each time";
}

TEST(PublishedSplit, HasThePublishedSizes) {
  EXPECT_EQ(tasks::published_split(50'000).train.size(), 40'053U);
  EXPECT_EQ(tasks::published_split(50'000).test.size(), 9'947U);
  EXPECT_EQ(tasks::published_split(60'000).train.size(), 48'017U);
}

}  // namespace
}  // namespace modlab::methods

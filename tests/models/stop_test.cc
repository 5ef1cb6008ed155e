// An epoch may take minutes, and Ctrl-C is answered within a second: blocks look whether to stop before every chunk.

#include <gtest/gtest.h>

#include "engine/train_block.h"
#include "models/blueprint.h"
#include "models/population.h"
#include "models/training.h"

namespace modlab {
namespace {

// A network that asks for the end of its own training after so many passes, and counts those that follow.
class StoppingNetwork : public engine::Network<float> {
 public:
  StoppingNetwork(engine::Network<float>& network, engine::Progress& progress, int forwards, int evaluations)
      : network_(network), progress_(progress), forwards_(forwards), evaluations_(evaluations) {}

  const engine::Layout& layout() const override { return network_.layout(); }
  int chunk_rows() const override { return 4; }
  void begin_step(const engine::Step<float>& step) override { network_.begin_step(step); }
  engine::Units<const float> forward(const engine::Step<float>& step, const engine::Samples<float>& samples) override {
    count(forwards_);
    return network_.forward(step, samples);
  }
  void backward(const engine::Step<float>& step, const engine::Samples<float>& samples,
                engine::Units<const float> doutputs, float* gradients) override {
    network_.backward(step, samples, doutputs, gradients);
  }
  void end_step(const engine::Step<float>& step, float* gradients) override { network_.end_step(step, gradients); }
  void begin_evaluation(const float* parameters) override { network_.begin_evaluation(parameters); }
  engine::Units<const float> evaluate(const float* parameters, const engine::EvaluationRows<float>& rows) override {
    count(evaluations_);
    return network_.evaluate(parameters, rows);
  }
  int passes_after_stop() const { return passes_after_stop_; }

 private:
  void count(int& left) {
    passes_after_stop_ += progress_.stop ? 1 : 0;
    if (--left == 0) {
      progress_.stop = true;
    }
  }

  engine::Network<float>& network_;
  engine::Progress& progress_;
  int forwards_;
  int evaluations_;
  int passes_after_stop_ = 0;
};

void expect_stop(const std::vector<std::pair<const char*, const char*>>& values, int forwards, int evaluations) {
  models::RunSpec spec;
  for (const auto& [name, value] : values) {
    models::bit_settings().set(spec, name, value);
  }
  const models::Plan plan = models::make_plan(std::vector{spec});
  const models::Blueprint& blueprint = plan.groups.front().blueprint;
  const auto network = models::make_network<float>(blueprint, engine::kernels());
  engine::Progress progress;
  StoppingNetwork stopping(*network, progress, forwards, evaluations);
  const std::vector<engine::LaneSettings> lanes = {
      models::make_lane(plan.runs.front(), blueprint, plan.suite_of(plan.runs.front()))};
  EXPECT_TRUE(
      engine::train_block(engine::kernels(), stopping, blueprint.data, blueprint.block, lanes, progress).empty());
  EXPECT_TRUE(progress.stop);
  EXPECT_EQ(stopping.passes_after_stop(), 0);
}

TEST(Stop, EndsABlockWithinAnEpoch) {
  constexpr int kNever = 0;
  // Depth 2 has 64 rows, of which 32 are learned from.
  expect_stop({{"model", "dense"}, {"batch_size", "1"}}, 3, kNever);
  expect_stop({{"model", "modular-shared"}, {"batch_size", "64"}}, 3, kNever);
  expect_stop({{"model", "dense"}}, kNever, 5);
}

TEST(Curve, OfALongTrainingIsThinnedAndKeepsItsEnds) {
  EXPECT_EQ(engine::curve_epochs(1), std::vector<int>{1});
  EXPECT_EQ(engine::curve_epochs(3), (std::vector<int>{1, 2, 3}));
  const std::vector<int> all = engine::curve_epochs(4000);
  ASSERT_EQ(all.size(), 4000U) << "which is every epoch";
  EXPECT_EQ(all.back(), 4000);
  const std::vector<int> some = engine::curve_epochs(10'000'000);
  EXPECT_LT(some.size(), 25'000U);
  EXPECT_EQ(some.front(), 1);
  EXPECT_EQ(some[3999], 4000);
  EXPECT_EQ(some[4000], 4002);
  EXPECT_EQ(some.back(), 10'000'000);

  const test::Trained trained = test::train_seeds({{"model", "modular"}, {"task", "depth1"}, {"epochs", "4101"}}, 1);
  const engine::LaneResult& result = trained.results.front();
  const std::vector<int> epochs = engine::curve_epochs(4101);
  EXPECT_EQ(epochs.size(), 4051U);
  ASSERT_EQ(result.curve.size(), epochs.size());
  EXPECT_EQ(result.curve.back()[engine::Part::kTest].right_bits, result.last.scores[engine::Part::kTest].right_bits);
  // The same as a shorter training of the same network, epoch by epoch.
  const test::Trained shorter = test::train_seeds({{"model", "modular"}, {"task", "depth1"}, {"epochs", "4002"}}, 1);
  EXPECT_EQ(shorter.results.front().curve.back()[engine::Part::kTrain].loss,
            result.curve[4000][engine::Part::kTrain].loss);
}

}  // namespace
}  // namespace modlab

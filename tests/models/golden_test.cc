// The golden vectors of the published code: float32, noise-free, all 64 rows of depth 2, tau 2.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/learned_routing.h"
#include "models/step_runner.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

using models::ModelKind;

struct Golden {
  ModelKind model;
  std::size_t scalars;
  double initial_loss;
  double probabilities[3][2];  // rows 0, 21, 63
  double gradient_norm;
  double gradient_sum;
  double losses[5];
};

constexpr Golden kGolden[] = {
    {ModelKind::kDense,
     2990,
     0.766202,
     {{0.255446, 0.670003}, {0.258523, 0.744969}, {0.263645, 0.700733}},
     0.977703,
     4.439290,
     {0.639704, 0.606338, 0.588817, 0.569357, 0.560200}},
    {ModelKind::kModular,
     271,
     0.697642,
     {{0.543888, 0.448058}, {0.571727, 0.432885}, {0.564225, 0.436140}},
     0.312027,
     0.463397,
     {0.676890, 0.659487, 0.640923, 0.633340, 0.625414}},
    {ModelKind::kShared,
     134,
     0.676010,
     {{0.452643, 0.493721}, {0.450392, 0.513931}, {0.433377, 0.532760}},
     0.281100,
     0.434568,
     {0.647983, 0.636795, 0.626424, 0.608929, 0.606989}},
};

std::vector<double> golden_fill(std::size_t count) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) {
    values.push_back(static_cast<double>(7919 * (k + 1) % 10007) / 10007.0 - 0.5);
  }
  return values;
}

test::Batch whole_table(const tasks::Task& task) {
  test::Batch batch;
  batch.rows = static_cast<int>(task.table.rows.size());
  for (int row = 0; row < batch.rows; ++row) {
    for (int input = 0; input < task.table.inputs; ++input) {
      batch.inputs.push_back(tasks::input_bit(task.table.inputs, row, input) ? 1 : 0);
    }
    for (int output = 0; output < task.table.outputs; ++output) {
      batch.targets.push_back(tasks::output_bit(task.table, row, output) ? 1 : 0);
    }
  }
  return batch;
}

class GoldenTest : public testing::TestWithParam<std::tuple<int, std::string>> {
 protected:
  GoldenTest()
      : golden_(kGolden[std::get<0>(GetParam())]),
        kernels_(engine::kernels_for(std::get<1>(GetParam()))),
        suite_(tasks::load_task("depth2")),
        batch_(whole_table(suite_.tasks[0])) {
    models::RunSpec spec;
    spec.model = golden_.model;
    spec_ = models::resolve(spec, suite_);
    blueprint_ = models::make_blueprint(spec_, suite_);
  }

  tasks::Routing routing(const test::StepRunner<float>& runner) const {
    const std::vector<double> values = runner.parameters();
    return models::learned_routing(std::get<models::ModularShape>(blueprint_.shape), {values.begin(), values.end()})[0];
  }

  const Golden& golden_;
  const engine::Kernels<float>& kernels_;
  tasks::TaskSuite suite_;
  test::Batch batch_;
  models::RunSpec spec_;
  models::Blueprint blueprint_;
};

TEST_P(GoldenTest, ForwardGradientAndFiveSteps) {
  ASSERT_EQ(blueprint_.layout.count, golden_.scalars);
  test::StepRunner<float> runner(blueprint_, spec_, kernels_, golden_fill(golden_.scalars));
  EXPECT_NEAR(runner.forward_backward(batch_), golden_.initial_loss, 1e-5);
  const int rows[] = {0, 21, 63};
  for (std::size_t index = 0; index < 3; ++index) {
    for (std::size_t output = 0; output < 2; ++output) {
      const double z = runner.outputs()[rows[index] * 2 + output];
      EXPECT_NEAR(1.0 / (1.0 + std::exp(-z)), golden_.probabilities[index][output], 1e-5);
    }
  }
  const std::vector<double> gradients = runner.gradients();
  double squares = 0;
  for (const double gradient : gradients) {
    squares += gradient * gradient;
  }
  EXPECT_NEAR(std::sqrt(squares), golden_.gradient_norm, 1e-5);
  EXPECT_NEAR(std::accumulate(gradients.begin(), gradients.end(), 0.0), golden_.gradient_sum, 2e-5);
  for (const double loss : golden_.losses) {
    runner.update();
    EXPECT_NEAR(runner.forward_backward(batch_), loss, 1e-5);
  }
}

TEST_P(GoldenTest, PicksAndSelectionGradients) {
  if (golden_.model == ModelKind::kDense) {
    return;  // no selections
  }
  test::StepRunner<float> runner(blueprint_, spec_, kernels_, golden_fill(golden_.scalars));
  using Levels = std::vector<std::vector<std::vector<int>>>;
  const bool shared = golden_.model == ModelKind::kShared;
  const tasks::Routing before = routing(runner);
  EXPECT_EQ(before.outputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(before.inputs, shared ? (Levels{{{4, 1}, {5, 2}, {3, 0}}, {{2, 0}, {1, 2}}})
                                  : (Levels{{{3, 0}, {1, 3}, {4, 1}}, {{1, 2}, {2, 0}}}));
  if (shared) {
    EXPECT_EQ(before.modules, (std::vector<std::vector<int>>{{1, 1, 0}, {1, 0}}));
  }
  runner.forward_backward(batch_);
  const std::vector<double> gradients = runner.gradients();
  const models::ModularLayout places = models::modular_layout(std::get<models::ModularShape>(blueprint_.shape));
  const auto expect_at = [&](std::size_t offset, const std::vector<double>& expected) {
    for (std::size_t index = 0; index < expected.size(); ++index) {
      EXPECT_NEAR(gradients[offset + index], expected[index], 1e-7) << "at " << offset + index;
    }
  };
  if (shared) {
    expect_at(places.outputs, {-0.00650428, 0.00171466});
    expect_at(places.members[0], {0.00020045, -0.00081781, 0.00112220, -0.00020045, 0.00081781, -0.00112220});
    expect_at(places.members[1], {0.00185981, 0.00296493, -0.00185981, -0.00296493});
  } else {
    expect_at(places.outputs, {0.00680241, -0.00742508});
    expect_at(places.inputs[1], {0.00097172, 0.00159133, 0.00177276, 0.00268999, -0.00062534, -0.00117041});
    expect_at(places.inputs[0], {-0.00011704, -0.00004224, 0.00032862});
  }
  for (int step = 0; step < 5; ++step) {
    runner.update();
    runner.forward_backward(batch_);
  }
  const tasks::Routing after = routing(runner);
  EXPECT_EQ(after.outputs, shared ? (std::vector<int>{0, 1}) : (std::vector<int>{1, 0}));
  EXPECT_EQ(after.inputs, shared ? (Levels{{{0, 5}, {3, 0}, {3, 0}}, {{2, 1}, {1, 0}}})
                                 : (Levels{{{4, 1}, {0, 5}, {4, 1}}, {{2, 1}, {2, 0}}}));
  if (shared) {
    EXPECT_EQ(after.modules, (std::vector<std::vector<int>>{{1, 0, 0}, {1, 1}}));
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, GoldenTest,
                         testing::Combine(testing::Values(0, 1, 2), testing::ValuesIn(engine::supported_targets())),
                         [](const auto& parameter) {
                           return models::model_name(kGolden[std::get<0>(parameter.param)].model).substr(0, 7) + "_" +
                                  std::to_string(std::get<0>(parameter.param)) + "_" + std::get<1>(parameter.param);
                         });

}  // namespace
}  // namespace modlab

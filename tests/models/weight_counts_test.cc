// How many parameters the published networks have: Table 1 of the paper, and the counts of the published code.

#include <gtest/gtest.h>

#include "models/blueprint.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

Blueprint blueprint_of(const std::vector<std::pair<const char*, const char*>>& values) {
  RunSpec spec;
  for (const auto& [name, value] : values) {
    find_setting(name)->set(spec, value);
  }
  const tasks::TaskSuite suite = tasks::load_task(spec.task);
  return make_blueprint(resolve(spec, suite), suite);
}

// Column U: what an update touches, weights and selection vectors but no biases.
std::size_t updated_weights(const engine::Layout& layout) {
  std::size_t count = 0;
  for (const engine::Tensor& tensor : layout.tensors) {
    const bool is_bias = tensor.fan_in > 0 && tensor.shape.size() == 1;
    count += tensor.rate == engine::Rate::kFrozen || is_bias ? 0 : tensor.count;
  }
  return count;
}

TEST(WeightCounts, Table1) {
  struct Line {
    const char* model;
    std::size_t depth1, depth2, depth3;
  };
  constexpr Line kTable1[] = {{"dense", 288, 2880, 5472},
                              {"modular", 86, 206, 323},
                              {"modular-shared", 52, 108, 167},
                              {"modular-fc", 72, 180, 288},
                              {"modular-shared-fcms", 36, 72, 108}};
  for (const Line& line : kTable1) {
    EXPECT_EQ(updated_weights(blueprint_of({{"model", line.model}, {"task", "depth1"}}).layout), line.depth1)
        << line.model;
    EXPECT_EQ(updated_weights(blueprint_of({{"model", line.model}, {"task", "depth2"}}).layout), line.depth2)
        << line.model;
    EXPECT_EQ(updated_weights(blueprint_of({{"model", line.model}, {"task", "depth3"}}).layout), line.depth3)
        << line.model;
  }
}

TEST(WeightCounts, AllParametersOfTheGoldenNetworks) {
  EXPECT_EQ(blueprint_of({{"model", "dense"}}).layout.count, 2990U);
  EXPECT_EQ(blueprint_of({{"model", "modular"}}).layout.count, 271U);
  EXPECT_EQ(blueprint_of({{"model", "modular-shared"}}).layout.count, 134U);
  // Known routing fixes parameters, it does not remove them.
  EXPECT_EQ(blueprint_of({{"model", "modular-fc"}}).layout.count, 271U);
  EXPECT_EQ(blueprint_of({{"model", "modular-shared-fcms"}}).layout.count, 134U);
}

TEST(WeightCounts, AllParametersOfTheTwoTaskNetworks) {
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "modular"}}).layout.count, 618U);
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "modular"}, {"outputs_from", "all"}}).layout.count, 630U);
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "modular-shared"}}).layout.count, 229U);
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "modular-shared"}, {"outputs_from", "all"}}).layout.count, 235U);
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "dense"}}).layout.count, 3062U);
  EXPECT_EQ(blueprint_of({{"task", "A+B"}, {"model", "dense"}, {"task_input", "scalar"}}).layout.count, 3026U);
}

TEST(WeightCounts, SelectionVectorsByDepth) {
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth1"}}).layout.structural_count, 14U);
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth2"}}).layout.structural_count, 26U);
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth3"}}).layout.structural_count, 35U);
}

}  // namespace
}  // namespace modlab::models

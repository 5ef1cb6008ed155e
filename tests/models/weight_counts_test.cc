// How many parameters the published networks have: Table 1 of the paper, and the counts of the published code.

#include <gtest/gtest.h>

#include "models/blueprint.h"
#include "models/images/image_blueprint.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

using Texts = std::vector<std::pair<const char*, const char*>>;

template <typename Spec>
auto blueprint_with(const settings::SpecTable<Spec>& table, const Texts& values) {
  Spec spec;
  for (const auto& [name, value] : values) {
    table.set(spec, name, value);
  }
  const tasks::TaskSuite suite = tasks::load_task(spec.task);
  return make_blueprint(resolve(spec, suite), suite);
}

Blueprint blueprint_of(const Texts& values) { return blueprint_with(bit_settings(), values); }

std::size_t image_parameters(const Texts& values) { return blueprint_with(image_settings(), values).layout.count; }

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

// The published shapes.
TEST(WeightCounts, AllParametersOfTheImageNetworks) {
  const char* const task = "mnist-xor-and";
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "dense"}}), 443274U);
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "sparse"}}), 443274U);
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "modular"}}), 218137U);
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "modular-fc"}}), 218137U);
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "modular-shared"}}), 109071U);
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "modular-shared-fcms"}}), 109071U);
  // Two convolutions leave 512 numbers for 36-36-36-36-2.
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "cnn"}}),
            12U * (2 * 25 + 1) + 32 * (12 * 25 + 1) + 36 * (512 + 1) + 3 * 36 * (36 + 1) + 2 * (36 + 1));
  // A second shared reader: 784-128-64-3, and its selection vectors.
  EXPECT_EQ(image_parameters({{"task", task}, {"model", "modular-shared"}, {"image_pool", "2"}}),
            109071U + 784 * 128 + 128 + 128 * 64 + 64 + 64 * 3 + 3 + 2);
}

TEST(WeightCounts, SelectionVectorsByDepth) {
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth1"}}).layout.structural_count, 14U);
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth2"}}).layout.structural_count, 26U);
  EXPECT_EQ(blueprint_of({{"model", "modular"}, {"task", "depth3"}}).layout.structural_count, 35U);
}

}  // namespace
}  // namespace modlab::models

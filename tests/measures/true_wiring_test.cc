#include <gtest/gtest.h>

#include <algorithm>

#include "measures/edit_distance.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"
#include "models/training.h"

namespace modlab {
namespace {

using engine::Part;
using test::Trained;
using Values = std::vector<std::pair<const char*, const char*>>;

bool is_right_everywhere(const engine::Snapshot& snapshot, int bits) {
  std::uint32_t right = 0;
  for (const engine::PartScore& part : snapshot.scores.parts) {
    right += part.right_bits;
  }
  return right == static_cast<std::uint32_t>(bits);
}

class Wiring : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

// Forced by mathematics for depth 1 and 2 with the true numbers of modules: a network that is right on all 64 rows in
// another way is a bug of the engine or of the wiring's description.
TEST_P(Wiring, ARightNetworkHasTheTrueWiring) {
  const auto [task, model] = GetParam();
  const Trained trained = test::train_seeds({{"task", task}, {"model", model}, {"ratio", "0.5"}}, 480);
  const tasks::TaskSuite& suite = trained.plan.suites.at(task);
  int right = 0;
  for (std::size_t run = 0; run < trained.results.size(); ++run) {
    const engine::LaneResult& result = trained.results[run];
    if (!is_right_everywhere(result.best, 128)) {
      continue;
    }
    ++right;
    const auto& shape = std::get<models::ModularShape>(trained.blueprint_of(run).shape);
    const tasks::Routing learned = models::learned_routing(shape, result.best.parameters).front();
    const tasks::Routing truth = tasks::true_routing(suite, shape.pool > 0, 2).front();
    EXPECT_EQ(measures::edit_distance(learned, truth, suite.inputs()).distance, 0)
        << "seed " << run << ": " << tasks::wiring_text(learned);
  }
  EXPECT_GE(right, 50) << "too few right networks to show anything";
}

INSTANTIATE_TEST_SUITE_P(Populations, Wiring,
                         testing::Combine(testing::Values("depth1", "depth2"),
                                          testing::Values("modular", "modular-shared")),
                         [](const auto& parameter) {
                           std::string name =
                               std::get<0>(parameter.param) + std::string("_") + std::get<1>(parameter.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

struct WitnessCase {
  const char* name;
  Values values;
};

class Witness : public testing::TestWithParam<WitnessCase> {};

// The textbook's forward pass in double precision counts the same right bits as the engine recorded, part by part.
TEST_P(Witness, PlainForwardCountsTheSameBits) {
  Values values = {{"epochs", "150"}};
  values.insert(values.end(), GetParam().values.begin(), GetParam().values.end());
  const Trained trained = test::train_seeds(values, 20);
  for (std::size_t run = 0; run < trained.results.size(); ++run) {
    const models::RunSpec& spec = trained.plan.runs[run];
    const tasks::TaskSuite& suite = trained.plan.suite_of(spec);
    const models::Blueprint& blueprint = trained.blueprint_of(run);
    const std::vector<Part> parts = models::make_lane(spec, blueprint, suite).part;
    for (const engine::Snapshot* snapshot : {&trained.results[run].best, &trained.results[run].last}) {
      engine::Scores counted;
      for (std::size_t task = 0; task < suite.tasks.size(); ++task) {
        const tasks::TruthTable& table = suite.tasks[task].table;
        const models::PlainValues said =
            models::plain_forward(blueprint, snapshot->parameters, suite, static_cast<int>(task));
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
          std::uint32_t right = 0;
          for (int output = 0; output < table.outputs; ++output) {
            right += (said.outputs[output][row] > 0) == tasks::output_bit(table, static_cast<int>(row), output) ? 1 : 0;
          }
          engine::PartScore& part = counted.parts[static_cast<std::size_t>(parts[task * table.rows.size() + row])];
          part.right_bits += right;
          part.right_rows += right == static_cast<std::uint32_t>(table.outputs) ? 1 : 0;
        }
      }
      for (const Part part : {Part::kTrain, Part::kValidation, Part::kTest}) {
        EXPECT_EQ(snapshot->scores[part].right_bits, counted[part].right_bits) << "seed " << run;
        EXPECT_EQ(snapshot->scores[part].right_rows, counted[part].right_rows) << "seed " << run;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Witness,
    testing::Values(WitnessCase{"dense", {{"model", "dense"}}},
                    WitnessCase{"dense_batches", {{"model", "dense"}, {"batch_size", "8"}, {"epochs", "40"}}},
                    WitnessCase{"sparse", {{"model", "sparse"}, {"density", "0.3"}}},
                    WitnessCase{"modular", {{"model", "modular"}}},
                    WitnessCase{"modular_depth3", {{"model", "modular"}, {"task", "depth3"}}},
                    WitnessCase{"modular_fan_in_3", {{"model", "modular"}, {"fan_in", "3"}, {"modules", "4,3"}}},
                    WitnessCase{"modular_all_levels", {{"model", "modular"}, {"outputs_from", "all"}}},
                    WitnessCase{"shared", {{"model", "modular-shared"}}},
                    WitnessCase{"shared_gumbel", {{"model", "modular-shared"}, {"gumbel", "sample"}}},
                    WitnessCase{"shared_deep", {{"model", "modular-shared"}, {"module_widths", "2,5,3,1"}}},
                    WitnessCase{"fcms", {{"model", "modular-shared-fcms"}, {"task", "depth3"}}},
                    WitnessCase{"two_tasks_modular", {{"model", "modular"}, {"task", "A+B"}}},
                    WitnessCase{"two_tasks_shared",
                                {{"model", "modular-shared"}, {"task", "A+B"}, {"batch_size", "16"}}},
                    WitnessCase{"two_tasks_dense", {{"model", "dense"}, {"task", "A+B"}}},
                    WitnessCase{"two_tasks_scalar", {{"model", "dense"}, {"task", "A+B"}, {"task_input", "scalar"}}}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace modlab

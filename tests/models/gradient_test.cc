// Every architecture and option: the kernels' gradients in double precision against central differences of the
// surrogate loss, which is the ordinary loss as far as weights and biases are concerned.

#include <gtest/gtest.h>

#include "core/random.h"
#include "core/text.h"
#include "models/surrogate.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

constexpr double kStep = 1e-6;
constexpr double kAbsolute = 1e-7;
constexpr double kRelative = 1e-4;

struct Case {
  const char* name;
  const char* settings;
  int rows = 7;
};

// Modules of three inputs on levels with one value and with two.
constexpr const char* kChain = R"(inputs: 3
levels:
  - {a: AND x0 x1 x2, b: NOT x2}
  - {c: OR a b}
  - {d: ID c, e: NOT c}
outputs: [d, e]
)";

constexpr Case kCases[] = {
    {"dense_depth1", "model=dense task=depth1"},
    {"dense_depth2", "model=dense hidden=9,7"},
    {"dense_more_rows_than_a_chunk", "model=dense hidden=5", 70},
    {"dense_odd_widths", "model=dense hidden=1,3,6", 3},
    {"dense_mse", "model=dense hidden=8 loss=mse"},
    {"dense_onehot", "model=dense hidden=8 task=A+B"},
    {"dense_scalar", "model=dense hidden=8 task=A+B task_input=scalar"},
    {"modular_depth1", "model=modular task=depth1"},
    {"modular_depth2", "model=modular"},
    {"modular_depth3", "model=modular task=depth3"},
    {"modular_no_tau", "model=modular tau=none"},
    {"modular_more_rows_than_a_chunk", "model=modular", 150},
    {"modular_one_row", "model=modular", 1},
    {"modular_wide", "model=modular modules=9,7"},
    {"modular_fan_in_1", "model=modular fan_in=1"},
    {"modular_fan_in_3", "model=modular fan_in=3 modules=4,3"},
    {"modular_fan_in_4", "model=modular fan_in=4 modules=5,4"},
    {"modular_fan_in_6", "model=modular fan_in=6 modules=7,3"},
    {"modular_linear_modules", "model=modular module_widths=2,1"},
    {"modular_deep_modules", "model=modular module_widths=2,7,5,1"},
    {"modular_known_outputs", "model=modular known_outputs=true"},
    {"modular_all_levels", "model=modular outputs_from=all"},
    {"modular_gumbel_batch", "model=modular gumbel=batch tau=1.5"},
    {"modular_gumbel_sample", "model=modular gumbel=sample tau=0.7"},
    {"modular_mse", "model=modular loss=mse"},
    {"modular_two_tasks", "model=modular task=A+B"},
    {"modular_three_tasks_all_levels", "model=modular task=A+B+C outputs_from=all", 11},
    {"modular_two_tasks_gumbel_batch", "model=modular task=A+B gumbel=batch"},
    {"modular_fc", "model=modular-fc"},
    {"modular_fc_two_tasks", "model=modular-fc task=A+B"},
    {"modular_fc_gumbel_is_not_disturbed", "model=modular-fc gumbel=sample"},
    {"shared_depth1", "model=modular-shared task=depth1"},
    {"shared_depth2", "model=modular-shared"},
    {"shared_depth3", "model=modular-shared task=depth3"},
    {"shared_more_rows_than_a_chunk", "model=modular-shared", 150},
    {"shared_wide", "model=modular-shared slots=6,4 pool=5"},
    {"shared_deep_modules", "model=modular-shared module_widths=2,4,3,1"},
    {"shared_fan_in_3", "model=modular-shared fan_in=3 slots=3,2"},
    {"shared_known_outputs", "model=modular-shared known_outputs=true"},
    {"shared_known_inputs", "model=modular-shared known_inputs=true"},
    {"shared_known_modules", "model=modular-shared known_modules=true"},
    {"shared_gumbel_batch", "model=modular-shared gumbel=batch tau=1"},
    {"shared_gumbel_sample", "model=modular-shared gumbel=sample tau=1"},
    {"shared_two_tasks", "model=modular-shared task=A+B"},
    {"shared_two_tasks_all_levels", "model=modular-shared task=A+C outputs_from=all"},
    {"shared_two_tasks_gumbel_sample", "model=modular-shared task=A+B gumbel=sample"},
    {"shared_fcms", "model=modular-shared-fcms"},
    {"shared_fcms_two_tasks", "model=modular-shared-fcms task=A+C"},
    {"modular_chain", "model=modular task=chain fan_in=3"},
    {"modular_chain_gumbel_sample", "model=modular task=chain fan_in=3 gumbel=sample"},
    {"modular_fc_chain", "model=modular-fc task=chain fan_in=3"},
    {"shared_chain", "model=modular-shared task=chain fan_in=3"},
    {"shared_fcms_chain", "model=modular-shared-fcms task=chain fan_in=3"},
};

models::RunSpec read_spec(const std::string& text) {
  models::RunSpec spec;
  for (const std::string& word : split_text(text, ' ')) {
    const std::size_t equals = word.find('=');
    models::bit_settings().set(spec, word.substr(0, equals), word.substr(equals + 1));
  }
  return spec;
}

test::Batch random_batch(const models::Blueprint& blueprint, const models::RunSpec& spec, int rows) {
  RandomSequence random(7, Stream::kInputNoise);
  test::Batch batch;
  batch.rows = rows;
  const int tasks = blueprint.data.tasks;
  for (int row = 0; row < rows; ++row) {
    for (std::size_t input = 0; input < blueprint.data.inputs.size(); ++input) {
      batch.inputs.push_back(random.next_normal());
    }
    for (int output = 0; output < blueprint.data.outputs; ++output) {
      batch.targets.push_back(random.next_uniform() < 0.5 ? 0 : 1);
    }
    if (tasks > 1) {
      batch.task.push_back(row % tasks);
    }
  }
  batch.noise_per_sample = spec.gumbel == engine::Gumbel::kSample;
  if (!spec.is_mlp() && spec.gumbel != engine::Gumbel::kOff) {
    const std::size_t structural = blueprint.layout.structural_count;
    const std::size_t count = batch.noise_per_sample ? rows * structural / tasks : structural;
    for (std::size_t element = 0; element < count; ++element) {
      batch.noise.push_back(2 * random.next_normal());
    }
  }
  return batch;
}

class GradientTest : public testing::TestWithParam<Case> {};

TEST_P(GradientTest, EqualsCentralDifferences) {
  const models::RunSpec given = read_spec(GetParam().settings);
  const tasks::TaskSuite suite =
      given.task == "chain" ? tasks::parse_task_yaml(kChain, "chain", "chain.yaml") : tasks::load_task(given.task);
  const models::RunSpec spec = models::resolve(given, suite);
  const models::Blueprint blueprint = models::make_blueprint(spec, suite);
  const test::Batch batch = random_batch(blueprint, spec, GetParam().rows);
  const engine::LaneSettings lane = models::make_lane(spec, blueprint, suite);
  const std::vector<double> parameters(lane.initial.begin(), lane.initial.end());

  test::StepRunner<double> runner(blueprint, spec, engine::oracle_kernels(), parameters);
  const double loss = runner.forward_backward(batch);
  const std::vector<double> gradients = runner.gradients();

  test::Surrogate surrogate(blueprint, spec, batch, parameters);
  EXPECT_NEAR(loss, surrogate.loss(parameters), 1e-12);
  int moved = 0;
  for (const engine::Tensor& tensor : blueprint.layout.tensors) {
    for (std::size_t index = tensor.offset; index < tensor.offset + tensor.count; ++index) {
      if (tensor.rate == engine::Rate::kFrozen) {
        ASSERT_EQ(gradients[index], 0) << tensor.name;
        continue;
      }
      std::vector<double> moved_parameters = parameters;
      moved_parameters[index] = parameters[index] + kStep;
      const double above = surrogate.loss(moved_parameters);
      moved_parameters[index] = parameters[index] - kStep;
      const double below = surrogate.loss(moved_parameters);
      const double expected = (above - below) / (2 * kStep);
      ASSERT_NEAR(gradients[index], expected, kAbsolute + kRelative * std::abs(expected))
          << tensor.name << " element " << index - tensor.offset;
      moved += std::abs(expected) > 1e-6 ? 1 : 0;
    }
  }
  // A check against nothing but zeros would show nothing.
  EXPECT_GT(moved, 10);
}

INSTANTIATE_TEST_SUITE_P(Architectures, GradientTest, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace modlab

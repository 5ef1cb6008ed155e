// Ten optimiser steps against PyTorch: make_fixtures.py wrote the batches, the noise and what PyTorch made of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/safetensors.h"
#include "models/step_runner.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

constexpr int kSteps = 10;

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MODLAB_TEST_DIR "/parity/fixtures")) {
    // Those of networks on images, rules and digits have tests of their own.
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".safetensors" && !name.starts_with("images-") && !name.starts_with("rules-") &&
        !name.starts_with("digits-")) {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

models::RunSpec read_spec(const io::TensorFile& file) {
  models::RunSpec spec;
  const nlohmann::json settings = nlohmann::json::parse(file.metadata.at("settings"));
  for (const auto& [name, value] : settings.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.is_null() ? "none" : value.dump();
    std::erase_if(text, [](char letter) { return letter == '[' || letter == ']'; });
    if (name != "task_input" || text != "none") {
      models::bit_settings().set(spec, name, text);
    }
  }
  return spec;
}

// One step's slice of a fixture tensor whose first dimension counts steps.
std::vector<double> slice(const io::TensorFile& file, const std::string& name, int step) {
  const io::NamedTensor* tensor = file.find(name);
  if (tensor == nullptr) {
    return {};
  }
  const std::size_t count = tensor->values.size() / tensor->shape[0];
  const auto begin = tensor->values.begin() + static_cast<std::ptrdiff_t>(count) * step;
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<double> whole(const io::TensorFile& file, const std::string& name) {
  const io::NamedTensor* tensor = file.find(name);
  return tensor == nullptr ? std::vector<double>{} : std::vector<double>(tensor->values.begin(), tensor->values.end());
}

class ParityTest : public testing::TestWithParam<std::string> {
 protected:
  ParityTest()
      : file_(io::read_safetensors(MODLAB_TEST_DIR "/parity/fixtures/" + GetParam() + ".safetensors")),
        given_(read_spec(file_)),
        suite_(tasks::load_task(given_.task)),
        spec_(models::resolve(given_, suite_)),
        blueprint_(models::make_blueprint(spec_, suite_)) {}

  test::Batch batch(int step) const {
    test::Batch batch;
    batch.targets = slice(file_, "targets", step);
    batch.rows = static_cast<int>(batch.targets.size()) / blueprint_.data.outputs;
    batch.task = slice(file_, "task", step);
    const std::vector<double> inputs = slice(file_, "inputs", step);
    const std::size_t given_inputs = inputs.size() / batch.rows;
    for (int row = 0; row < batch.rows; ++row) {
      batch.inputs.insert(batch.inputs.end(), inputs.begin() + row * given_inputs,
                          inputs.begin() + (row + 1) * given_inputs);
      append_task(row, batch);
    }
    batch.noise = slice(file_, "gumbel", step);
    batch.noise_per_sample = spec_.gumbel == engine::Gumbel::kSample;
    if (batch.noise_per_sample && blueprint_.data.tasks > 1) {
      batch.noise = noise_of_own_task(batch);
    }
    return batch;
  }

  // What the MLPs are told of the task, after the inputs.
  void append_task(int row, test::Batch& batch) const {
    if (!spec_.is_mlp() || blueprint_.data.tasks == 1) {
      return;
    }
    if (spec_.task_input == models::TaskInput::kScalar) {
      batch.inputs.push_back(batch.task[row]);
      return;
    }
    for (int task = 0; task < blueprint_.data.tasks; ++task) {
      batch.inputs.push_back(batch.task[row] == task ? 1 : 0);
    }
  }

  // Fixtures hold noise for every task's vectors; a sample uses those of its own task.
  std::vector<double> noise_of_own_task(const test::Batch& batch) const {
    std::vector<double> own;
    const std::size_t count = blueprint_.layout.structural_count;
    for (int row = 0; row < batch.rows; ++row) {
      for (const engine::Tensor& tensor : blueprint_.layout.tensors) {
        if (tensor.fan_in != 0) {
          continue;
        }
        const std::size_t of_task = tensor.count / blueprint_.data.tasks;
        const auto task = static_cast<std::size_t>(batch.task[row]);
        const std::size_t first = row * count + tensor.offset - blueprint_.layout.structural_begin + task * of_task;
        own.insert(own.end(), batch.noise.begin() + first, batch.noise.begin() + first + of_task);
      }
    }
    return own;
  }

  io::TensorFile file_;
  models::RunSpec given_;
  tasks::TaskSuite suite_;
  models::RunSpec spec_;
  models::Blueprint blueprint_;
};

TEST_P(ParityTest, TenSteps) {
  ASSERT_EQ(whole(file_, "params").size(), blueprint_.layout.count);
  test::StepRunner<float> runner(blueprint_, spec_, engine::kernels(), whole(file_, "params"), whole(file_, "mask"));
  const std::vector<double> losses = whole(file_, "loss");
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(runner.forward_backward(batch(step)), losses[step], 2e-5 + 2e-5 * losses[step]) << "step " << step;
    if (step == 0) {
      const std::vector<double> expected = whole(file_, "gradient");
      const std::vector<double> gradients = runner.gradients();
      const std::vector<double> mask = whole(file_, "mask");
      for (std::size_t index = 0; index < expected.size(); ++index) {
        const double ours = mask.empty() ? gradients[index] : gradients[index] * mask[index];
        ASSERT_NEAR(ours, expected[index], 1e-6 + 1e-4 * std::abs(expected[index])) << "parameter " << index;
      }
      const std::vector<double> probabilities = whole(file_, "probabilities");
      for (std::size_t index = 0; index < probabilities.size(); ++index) {
        ASSERT_NEAR(1.0 / (1.0 + std::exp(-runner.outputs()[index])), probabilities[index], 1e-5);
      }
    }
    runner.update();
    // Seeds were accepted as fixtures only where PyTorch in float64 agrees to 1e-6, so that nothing hangs on rounding.
    const std::vector<double> after = slice(file_, "after", step);
    const std::vector<double> parameters = runner.parameters();
    double worst = 0;
    double sum = 0;
    for (std::size_t index = 0; index < after.size(); ++index) {
      const double error = std::abs(parameters[index] - after[index]);
      worst = std::max(worst, error);
      sum += error;
    }
    ASSERT_LT(sum / static_cast<double>(after.size()), 1e-6) << "mean after step " << step;
    ASSERT_LT(worst, 5e-5) << "after step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ParityTest, testing::ValuesIn(fixture_names()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace modlab

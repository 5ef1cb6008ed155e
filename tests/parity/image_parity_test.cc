// Ten optimiser steps of networks on images against PyTorch: make_image_fixtures.py wrote the images, the batches and
// what PyTorch made of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/solo/optimizer.h"
#include "engine/solo/pixels.h"
#include "io/safetensors.h"
#include "models/images/image_blueprint.h"
#include "models/training_settings.h"

namespace modlab {
namespace {

using engine::solo::kChunkRows;

constexpr int kSteps = 10;

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MODLAB_TEST_DIR "/parity/fixtures")) {
    if (entry.path().stem().string().starts_with("images-")) {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

// A fixture's task: its images, and as many bits and outputs as they need; its graph is that of the published task.
tasks::TaskSuite suite_of(int images) {
  tasks::Task task;
  task.name = "fixture";
  task.images = tasks::ImageInputs{.images = images, .digits = 8, .bits = 3};
  task.table.inputs = 3 * images;
  task.table.outputs = 2;
  task.table.rows.resize(std::size_t{1} << task.table.inputs);
  if (images == 2) {
    tasks::FunctionGraph graph;
    graph.inputs = {"x0", "x1", "x2", "x3", "x4", "x5"};
    const auto gate = [](tasks::Op op, int level, int a, int b) {
      return tasks::Gate{"", op, {{level, a, false}, {level, b, false}}};
    };
    graph.levels = {{gate(tasks::Op::kXor, 0, 0, 3), gate(tasks::Op::kXor, 0, 1, 4), gate(tasks::Op::kXor, 0, 2, 5)},
                    {gate(tasks::Op::kAnd, 1, 0, 1), gate(tasks::Op::kAnd, 1, 1, 2)}};
    graph.output_names = {"y0", "y1"};
    graph.outputs = {{2, 0, false}, {2, 1, false}};
    task.graph = graph;
  }
  return {"fixture", "", {task}};
}

class ImageParityTest : public testing::TestWithParam<std::string> {
 protected:
  ImageParityTest() : file_(io::read_safetensors(MODLAB_TEST_DIR "/parity/fixtures/" + GetParam() + ".safetensors")) {
    nlohmann::json given = nlohmann::json::parse(file_.metadata.at("settings"));
    suite_ = suite_of(given.at("images").get<int>());
    given.erase("images");  // a property of the task, not a setting
    for (const auto& [name, value] : given.items()) {
      models::image_settings().set(spec_, name, settings::setting_text(value));
    }
    spec_ = models::resolve(spec_, suite_);
    blueprint_ = models::make_blueprint(spec_, suite_);

    std::vector<std::uint8_t> bytes;
    for (const float value : values("images")) {
      bytes.push_back(static_cast<std::uint8_t>(std::lround(value * 255)));
    }
    images_ = engine::solo::make_pixel_images(bytes, 28 * 28, false);

    lane_ = models::make_lane(spec_, blueprint_);
    lane_.initial = values("initial");
    if (file_.find("mask") != nullptr) {
      lane_.mask = values("mask");
    }
  }

  const std::vector<float>& values(const std::string& name) const { return file_.find(name)->values; }

  // Loss of a step's batch; gradients lie in the network. `rows_at_once`: a batch may come in chunks.
  double forward_backward(engine::solo::Network<float>& network, int step, int rows_at_once, bool late) {
    const std::vector<float>& numbers = values("batches.images");
    const std::vector<float>& targets = values("batches.targets");
    const int images = suite_.images()->images;
    const int rows = static_cast<int>(targets.size()) / kSteps / 2;
    const engine::solo::Step<float> settings{static_cast<float>(lane_.inverse_tau), nullptr, late};
    network.begin_step(settings);
    double loss = 0;
    logits_.assign(static_cast<std::size_t>(rows) * 2, 0);
    for (int first = 0; first < rows; first += rows_at_once) {
      const int count = std::min(rows_at_once, rows - first);
      std::vector<std::uint32_t> chunk;
      for (int at = (step * rows + first) * images; at < (step * rows + first + count) * images; ++at) {
        chunk.push_back(static_cast<std::uint32_t>(numbers[at]));
      }
      const engine::solo::Samples samples{&images_, chunk.data(), count};
      const engine::solo::Logits<float> logits = network.forward(samples);
      AlignedVector<float> gradients(2 * kChunkRows);
      for (int row = 0; row < count; ++row) {
        for (int output = 0; output < 2; ++output) {
          const double z = logits.values[output * logits.stride + row];
          const double target = targets[(step * rows + first + row) * 2 + output];
          const double p = 1 / (1 + std::exp(-z));
          logits_[(first + row) * 2 + output] = z;
          loss -= target * std::log(p) + (1 - target) * std::log(1 - p);
          gradients[output * kChunkRows + row] = static_cast<float>((p - target) / (2 * rows));
        }
      }
      network.backward(samples, gradients.data());
    }
    network.end_step(settings);
    return loss / (2 * rows);
  }

  void expect_ten_steps(const std::string& target, int rows_at_once, bool late = false) {
    const auto network = models::make_network<float>(blueprint_, engine::solo::kernels_for(target));
    network->parameters().load(lane_.initial);
    engine::solo::Optimizer optimizer(engine::kernels_for(target), network->parameters(), network->layout(),
                                      spec_.optimizer, lane_);
    for (int step = 0; step < kSteps; ++step) {
      const double expected = values("losses")[step];
      EXPECT_NEAR(forward_backward(*network, step, rows_at_once, late), expected, 2e-5 + 2e-5 * expected) << step;
      if (step == 0 && !late) {
        const std::vector<float> gradients = network->parameters().gradients_in_order();
        for (std::size_t index = 0; index < gradients.size(); ++index) {
          const float ours = lane_.mask.empty() ? gradients[index] : gradients[index] * lane_.mask[index];
          const double wanted = values("gradient")[index];
          ASSERT_NEAR(ours, wanted, 1e-6 + 1e-4 * std::abs(wanted)) << "gradient of parameter " << index;
        }
        for (std::size_t index = 0; index < logits_.size(); ++index) {
          ASSERT_NEAR(logits_[index], values("outputs")[index], 1e-5);
        }
      }
      optimizer.update(1, late ? network->late_gradients() : std::vector<engine::solo::LateGradient<float>*>{});
      if (step == 0) {
        expect_parameters(*network, "after1", 5e-6);
      }
    }
    expect_parameters(*network, "after10", 2e-5);
  }

  void expect_parameters(engine::solo::Network<float>& network, const std::string& name, double tolerance) {
    const std::vector<float> ours = network.parameters().save();
    for (std::size_t index = 0; index < ours.size(); ++index) {
      ASSERT_NEAR(ours[index], values(name)[index], tolerance) << name << ", parameter " << index;
    }
  }

  io::TensorFile file_;
  models::ImageSpec spec_;
  tasks::TaskSuite suite_;
  models::ImageBlueprint blueprint_;
  engine::solo::PixelImages images_;
  engine::LaneSettings lane_;
  std::vector<double> logits_;
};

TEST_P(ImageParityTest, TenSteps) {
  ASSERT_EQ(values("initial").size(), blueprint_.layout.count);
  expect_ten_steps(engine::kernels().target, kChunkRows);
}

TEST_P(ImageParityTest, TenStepsInChunksOfABatch) { expect_ten_steps(engine::kernels().target, 5); }

TEST_P(ImageParityTest, TenStepsWithLateGradients) { expect_ten_steps(engine::kernels().target, kChunkRows, true); }

TEST_P(ImageParityTest, TenStepsOneUnitAtATime) { expect_ten_steps("scalar", kChunkRows); }

INSTANTIATE_TEST_SUITE_P(All, ImageParityTest, testing::ValuesIn(fixture_names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace modlab

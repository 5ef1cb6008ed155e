// Small networks on images in colour against modules of torch.nn: make_colour_fixtures.py wrote down what they say and
// their gradients, as they are used and while weights are trained.

#include <gtest/gtest.h>

#include "io/safetensors.h"
#include "models/torch/torch_network.h"

namespace modlab {
namespace {

#define NEEDS_COLOUR_LIBRARY()                                                    \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

class ColourNetworkTest : public testing::TestWithParam<const char*> {
 protected:
  ColourNetworkTest()
      : file_(io::read_safetensors(std::string(MODLAB_TEST_DIR "/torch/files/colour-") + GetParam() + ".safetensors")) {
    shape_.classes = 3;
    shape_.dropout = false;
    shape_.scale = {{120, 115, 110}, {60, 62, 64}};
    if (GetParam() == std::string("cnn")) {
      shape_.channels = {4, 5, 6, 7};
    } else {
      shape_.kind = models::ColourNetworkKind::kResnet;
      shape_.channels = {4, 5, 6};
      shape_.blocks = 2;
    }
    samples_->side = 8;
    samples_->names = {"a", "b", "c"};
    for (const float pixel : values("pixels")) {
      samples_->pixels.push_back(static_cast<std::uint8_t>(pixel));
    }
    for (const float label : values("labels")) {
      rows_.push_back(static_cast<std::uint32_t>(samples_->labels.size()));
      samples_->labels.push_back(static_cast<std::uint8_t>(label));
    }
    samples_->learned = samples_->labels.size();
    const engine::Layout layout = models::colour_layout(shape_);
    for (const engine::Tensor& tensor : layout.tensors) {
      const std::vector<float>& weight = values("weight/" + tensor.name);
      EXPECT_EQ(weight.size(), tensor.count) << tensor.name;
      weights_.insert(weights_.end(), weight.begin(), weight.end());
    }
  }

  const std::vector<float>& values(const std::string& name) const {
    const io::NamedTensor* found = file_.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found->values;
  }

  std::unique_ptr<models::TorchNetwork> open(const models::ColourShape& shape) const {
    auto network = models::torch_library().open_colour(shape, samples_, {});
    network->set_buffers(values("before"));
    return network;
  }

  void expect_gradients(const std::string& mode, models::TorchNetwork& network) const {
    std::vector<float> gradients(weights_.size(), 77);
    const double loss =
        network.gradient(weights_, {.rows = rows_, .trains_weights = mode == "train", .noise = 5}, {}, gradients);
    EXPECT_NEAR(loss, values(mode + "/loss")[0], 1e-5);
    for (const engine::Tensor& tensor : network.layout().tensors) {
      const std::vector<float>& right = values(mode + "/gradient/" + tensor.name);
      for (std::size_t place = 0; place < tensor.count; ++place) {
        ASSERT_NEAR(gradients[tensor.offset + place], right[place], 2e-5) << mode << " " << tensor.name << " " << place;
      }
    }
  }

  io::TensorFile file_;
  models::ColourShape shape_;
  std::shared_ptr<models::ColourSamples> samples_ = std::make_shared<models::ColourSamples>();
  std::vector<std::uint32_t> rows_;
  std::vector<float> weights_;
};

TEST_P(ColourNetworkTest, SaysWhatPyTorchSays) {
  NEEDS_COLOUR_LIBRARY();
  const std::vector<float> said = open(shape_)->say(weights_, rows_);
  const std::vector<float>& right = values("eval/said");
  ASSERT_EQ(said.size(), right.size());
  for (std::size_t at = 0; at < said.size(); ++at) {
    EXPECT_NEAR(said[at], right[at], 2e-5);
  }
}

TEST_P(ColourNetworkTest, HasPyTorchsGradientsAndStatistics) {
  NEEDS_COLOUR_LIBRARY();
  const auto network = open(shape_);
  expect_gradients("eval", *network);
  EXPECT_EQ(network->buffers(), values("before")) << "masks leave what norms remember as it is";
  expect_gradients("train", *network);
  const std::vector<float> buffers = network->buffers();
  const std::vector<float>& after = values("after");
  ASSERT_EQ(buffers.size(), after.size());
  for (std::size_t at = 0; at < after.size(); ++at) {
    EXPECT_NEAR(buffers[at], after[at], 1e-5);
  }
}

TEST_P(ColourNetworkTest, WhatIsDrawnFollowsFromTheNoise) {
  NEEDS_COLOUR_LIBRARY();
  models::ColourShape shape = shape_;
  shape.dropout = true;
  shape.augments = true;
  const auto loss = [&](std::uint64_t noise, bool trains) {
    std::vector<float> gradients(weights_.size());
    return open(shape)->gradient(weights_, {.rows = rows_, .trains_weights = trains, .noise = noise}, {}, gradients);
  };
  for (const bool trains : {true, false}) {
    EXPECT_EQ(loss(1, trains), loss(1, trains));
    EXPECT_NE(loss(1, trains), loss(2, trains)) << "images are moved for masks too";
  }
  const auto network = open(shape);
  EXPECT_EQ(network->say(weights_, rows_), open(shape_)->say(weights_, rows_)) << "and nothing is drawn in a test";
}

// Beside masks that are trained, dropout is off: of a network whose images are not moved, nothing is drawn.
TEST_P(ColourNetworkTest, DropoutIsForWeightsAlone) {
  NEEDS_COLOUR_LIBRARY();
  models::ColourShape shape = shape_;
  shape.dropout = true;
  expect_gradients("eval", *open(shape));
}

INSTANTIATE_TEST_SUITE_P(Networks, ColourNetworkTest, testing::Values("cnn", "resnet"));

TEST(ColourLayout, HasThePublishedParameters) {
  EXPECT_EQ(models::colour_layout({}).count, 390'986U);
  const models::ColourShape resnet{.kind = models::ColourNetworkKind::kResnet, .channels = {16, 32, 64}};
  const engine::Layout layout = models::colour_layout(resnet);
  EXPECT_EQ(layout.count, 1'730'714U);
  std::size_t norms = 0;
  for (const engine::Tensor& tensor : layout.tensors) {
    norms += tensor.name.find("norm") != std::string::npos ? tensor.count : 0;
  }
  EXPECT_EQ(norms, 8'288U);
  EXPECT_EQ(layout.tensors.back().name, "out_layer.bias");
}

// Convolutions of the CNN are uniform below 1 / sqrt(fan-in), those of the ResNet normal by what they lead to.
TEST(ColourLayout, BeginsAsPublished) {
  const auto deviation = [](const models::ColourShape& shape, std::size_t at) {
    const engine::Tensor tensor = models::colour_layout(shape).tensors[at];
    const std::vector<float> weights = models::initial_colour_weights(shape);
    double square = 0;
    for (std::size_t place = tensor.offset; place < tensor.offset + tensor.count; ++place) {
      square += static_cast<double>(weights[place]) * weights[place];
    }
    return std::sqrt(square / static_cast<double>(tensor.count));
  };
  EXPECT_NEAR(deviation({}, 4), std::sqrt(1.0 / (9 * 64) / 3), 3e-4);
  const models::ColourShape resnet{.kind = models::ColourNetworkKind::kResnet, .channels = {16, 32, 64}, .blocks = 1};
  EXPECT_NEAR(deviation(resnet, 3), std::sqrt(2.0 / (9 * 16)), 5e-3);
  EXPECT_EQ(deviation(resnet, 1), 1);
  EXPECT_EQ(deviation(resnet, 2), 0);
  models::ColourShape other = resnet;
  other.seed = 1;
  EXPECT_NE(models::initial_colour_weights(resnet), models::initial_colour_weights(other));
}

}  // namespace
}  // namespace modlab

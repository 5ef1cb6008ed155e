// Ten training steps of networks on digits, of their weights and of masks over them, against PyTorch (and of both
// together where inputs are numbers): make_digit_fixtures.py wrote the batches and what PyTorch made of them, with the
// engine's uniform numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/safetensors.h"
#include "methods/mask/digit_training.h"

namespace modlab {
namespace {

class DigitParityTest : public testing::TestWithParam<const char*> {
 protected:
  DigitParityTest()
      : file_(io::read_safetensors(std::string(MODLAB_TEST_DIR "/parity/fixtures/digits-") + GetParam() +
                                   ".safetensors")),
        given_(nlohmann::json::parse(file_.metadata.at("settings"))) {
    shape_.kind = given_.at("kind") == "fnn" ? models::DigitNetworkKind::kFnn : models::DigitNetworkKind::kLstm;
    shape_.inputs = given_.at("inputs").get<int>();
    shape_.outputs = given_.at("outputs").get<int>();
    shape_.hidden = given_.value("hidden", std::vector<int>{});
    shape_.state = given_.value("state", 0);
    shape_.layers = given_.value("layers", 0);
    shape_.masks_biases = given_.value("masks_biases", false);
  }

  const std::vector<float>& values(const std::string& name) const { return file_.find(name)->values; }

  models::DigitBatch batch_of(std::size_t step) const {
    models::DigitBatch batch;
    batch.rows = given_.at("rows").get<int>();
    batch.steps = given_.at("steps").get<int>();
    batch.active = given_.at("active").get<int>();
    batch.read_at = given_.at("read_at").get<std::vector<int>>();
    batch.groups = static_cast<int>(batch.read_at.size());
    batch.counts.assign(batch.read_at.size(), 1);
    const std::size_t inputs = static_cast<std::size_t>(batch.rows) * batch.steps * batch.active;
    const std::size_t digits = static_cast<std::size_t>(batch.rows) * batch.groups;
    if (given_.value("numbers", false)) {
      const std::size_t numbers = static_cast<std::size_t>(batch.rows) * shape_.inputs;
      const auto first = values("inputs").begin() + static_cast<std::ptrdiff_t>(step * numbers);
      batch.values.assign(first, first + static_cast<std::ptrdiff_t>(numbers));
      batch.active = 0;
    }
    for (std::size_t place = 0; place < inputs && batch.values.empty(); ++place) {
      batch.inputs.push_back(static_cast<std::uint16_t>(values("inputs")[step * inputs + place]));
    }
    for (std::size_t place = 0; place < digits; ++place) {
      batch.digits.push_back(static_cast<std::uint8_t>(values("digits")[step * digits + place]));
    }
    return batch;
  }

  template <typename Trainer>
  void expect_losses(Trainer& trainer, const std::string& name) const {
    for (std::size_t step = 0; step < values(name).size(); ++step) {
      const models::DigitBatch batch = batch_of(step);
      EXPECT_NEAR(trainer.step({&batch, 1}), values(name)[step], 3e-6 * std::max(1.0F, values(name)[step])) << step;
    }
  }
  void expect_near(const std::vector<float>& found, const std::string& name, double most) const {
    double largest = 0;
    for (std::size_t place = 0; place < found.size(); ++place) {
      largest = std::max(largest, static_cast<double>(std::abs(found[place] - values(name)[place])));
    }
    EXPECT_LT(largest, most) << name;
  }

  io::TensorFile file_;
  nlohmann::json given_;
  models::DigitShape shape_;
};

TEST_P(DigitParityTest, TenStepsOfWeightsAndTenOfMasks) {
  Team team(2);
  for (const std::string& target : engine::supported_targets()) {
    const auto network = models::make_digit_network<float>(shape_, engine::solo::masked_kernels_for(target), team);
    ASSERT_EQ(network->layout().count, values("initial").size());
    network->load(values("initial"));
    methods::DigitWeightTrainer weights(*network,
                                        {.lr = given_.at("lr").get<double>(), .clip = given_.at("clip").get<double>()},
                                        team, engine::kernels_for(target));
    expect_losses(weights, "losses");
    expect_near(network->save(), "trained", 1e-5);

    network->load(values("initial"));
    std::vector<std::uint8_t> is_masked;
    for (const engine::Tensor& tensor : network->layout().tensors) {
      is_masked.push_back(tensor.shape.size() > 1 || shape_.masks_biases ? 1 : 0);
    }
    std::optional<double> weight_lr;
    std::vector<std::uint8_t> frozen;
    if (given_.contains("weight_lr")) {
      weight_lr = given_.at("weight_lr").get<double>();
      for (std::size_t place = 0; place < network->layout().count; ++place) {
        frozen.push_back(place % given_.at("frozen_every").get<std::size_t>() == 0 ? 1 : 0);
      }
    }
    methods::DigitMaskTrainer masks(*network, is_masked, std::vector<float>(network->layout().count, 1.0F),
                                    {.samples = given_.at("samples").get<int>(),
                                     .lr = given_.at("mask_lr").get<double>(),
                                     .alpha = given_.at("alpha").get<double>(),
                                     .clip = given_.at("mask_clip").get<double>(),
                                     .seed = given_.at("seed").get<std::uint64_t>(),
                                     .stage = given_.at("stage").get<std::uint32_t>(),
                                     .weight_lr = weight_lr},
                                    team, engine::kernels_for(target), frozen);
    expect_losses(masks, "mask_losses");
    expect_near(masks.logits(), "logits", 5e-5);
    if (weight_lr) {
      expect_near(network->save(), "trained_with_masks", 2e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DigitParityTest, testing::Values("fnn", "lstm", "lstm-forced", "fnn-numbers"),
                         [](const testing::TestParamInfo<const char*>& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace modlab

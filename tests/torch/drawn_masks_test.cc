// Masks that libtorch draws by its own operations, where a network is on a graphics card, are those of our kernels.

#include <gtest/gtest.h>

#include <numeric>

#include "methods/torch/flat_mask_trainer.h"
#include "models/torch/torch_network.h"

namespace modlab {
namespace {

#define NEEDS_DRAWING_LIBRARY()                                                   \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

// A network on the processor that takes itself for one on a graphics card.
class FarNetwork : public models::TorchNetwork {
 public:
  explicit FarNetwork(models::TorchNetwork& network) : network_(network) {}

  const engine::Layout& layout() const override { return network_.layout(); }
  std::vector<float> initial() const override { return network_.initial(); }
  std::vector<float> buffers() const override { return network_.buffers(); }
  void set_buffers(std::span<const float> buffers) override { network_.set_buffers(buffers); }
  double gradient(std::span<const float> /*parameters*/, const models::TorchBatch& /*batch*/,
                  std::span<const std::uint8_t> /*wanted*/, std::span<float> /*gradients*/) override {
    ADD_FAILURE() << "weights were handed to it";
    return 0;
  }
  bool draws_masks() const override { return true; }
  double mask_gradient(const models::MaskDraws& draws, std::span<const models::TorchBatch> batches,
                       std::span<const std::uint8_t> wanted, std::span<float> gradients) override {
    return network_.mask_gradient(draws, batches, wanted, gradients);
  }
  int answers() const override { return network_.answers(); }
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override {
    return network_.say(parameters, rows);
  }

 private:
  models::TorchNetwork& network_;
};

std::unique_ptr<models::TorchNetwork> small_transformer() {
  auto samples = std::make_shared<models::TokenSequences>();
  for (std::uint8_t row = 0; row < 12; ++row) {
    samples->inputs.push_back(std::vector<std::uint8_t>(1 + row % 4U, row % 5U));
    samples->outputs.push_back(std::vector<std::uint8_t>(1 + row % 3U, row % 4U));
  }
  const models::SequenceShape shape = {.kind = models::SequenceNetworkKind::kTransformer,
                                       .input_tokens = 5,
                                       .output_tokens = 4,
                                       .layers = 1,
                                       .width = 8,
                                       .inner = 12,
                                       .heads = 2};
  return models::torch_library().open_sequences(shape, samples, 3, {});
}

class DrawnMasksTest : public testing::TestWithParam<methods::MaskSpec> {};

TEST_P(DrawnMasksTest, TrainTheSameLogitsThere) {
  NEEDS_DRAWING_LIBRARY();
  const auto network = small_transformer();
  FarNetwork far(*network);
  const methods::MaskSpec& spec = GetParam();
  const methods::MaskedParameters masked = methods::masked_parameters(network->layout(), spec);
  const auto& kernels = engine::solo::masked_kernels_for(engine::kernels().target);
  const auto make = [&](models::TorchNetwork& on) {
    return methods::FlatMaskTrainer(on, masked, network->initial(),
                                    std::vector<float>(static_cast<std::size_t>(masked.logits), 0.5F), spec, 1e-3, 7, 2,
                                    kernels);
  };
  methods::FlatMaskTrainer here = make(*network);
  methods::FlatMaskTrainer there = make(far);
  std::vector<std::uint32_t> rows(12);
  std::iota(rows.begin(), rows.end(), 0U);
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) {
    // A bit that is drawn otherwise would change the loss by far more.
    EXPECT_NEAR(here.step(rows, {}), there.step(rows, {}), 1e-4) << step;
  }
  const std::vector<float> logits = here.mask().logits();
  const std::vector<float> others = there.mask().logits();
  double moved = 0;
  for (std::size_t at = 0; at < logits.size(); ++at) {
    ASSERT_NEAR(logits[at], others[at], 2e-3) << at;
    moved += std::abs(logits[at] - 0.5F);
  }
  EXPECT_GT(moved / static_cast<double>(logits.size()), 0.05);
}

INSTANTIATE_TEST_SUITE_P(
    Spec, DrawnMasksTest,
    testing::Values(methods::MaskSpec{.batch_size = 12, .samples = 6},
                    methods::MaskSpec{.batch_size = 12, .samples = 2, .tau = 0.5, .exclude = {}},
                    methods::MaskSpec{.batch_size = 12, .samples = 2, .sampler = engine::MaskDrawing::kDeterministic}));

}  // namespace
}  // namespace modlab

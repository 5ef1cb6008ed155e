#include "bench/masks.h"

#include <algorithm>
#include <array>

#include "core/random.h"
#include "methods/mask/digit_training.h"
#include "methods/mask/mask_block.h"
#include "methods/mask/mask_target.h"
#include "models/blueprint.h"
#include "models/initial_weights.h"
#include "models/table_data.h"
#include "tasks/task_cache.h"

namespace modlab::bench {
namespace {

using models::DigitBatch;
using models::DigitNetworkKind;
using models::DigitShape;

constexpr int kDigits = 10;
constexpr int kNumbers = 100;
constexpr int kBatches = 8;
constexpr double kAlpha = 1e-4 / kMaskRows;
constexpr int kLaneWidths[] = {6, 36, 36, 36, 2};

MaskWork fnn_work(const std::string& name, std::vector<int> hidden, int steps) {
  return {
      "fnn/" + name, {.kind = DigitNetworkKind::kFnn, .inputs = 42, .outputs = 20, .hidden = std::move(hidden)}, steps};
}

// Two numbers, least significant digit first, and which operation.
std::vector<DigitBatch> draw_batches(const MaskWork& work) {
  RandomSequence random(1, Stream::kSamples);
  const auto below = [&](int bound) { return static_cast<int>(random.next_uniform() * bound); };
  std::vector<DigitBatch> batches(kBatches);
  for (DigitBatch& batch : batches) {
    batch.rows = kMaskRows;
    batch.steps = work.shape.kind == DigitNetworkKind::kLstm ? kShownSteps : 1;
    batch.active = 5;
    batch.groups = 2;
    batch.counts = {1, 1};
    batch.read_at = {batch.steps - 1, batch.steps - 1};
    for (int row = 0; row < kMaskRows; ++row) {
      const int a = below(kNumbers);
      const int b = below(kNumbers);
      const int operation = below(2);
      const int result = (operation == 0 ? a + b : a * b) % kNumbers;
      const std::array places = {a % kDigits, kDigits + a / kDigits, 2 * kDigits + b % kDigits,
                                 3 * kDigits + b / kDigits, 4 * kDigits + operation};
      for (int step = 0; step < batch.steps; ++step) {
        batch.inputs.insert(batch.inputs.end(), places.begin(), places.end());
      }
      batch.digits.push_back(static_cast<std::uint8_t>(result % kDigits));
      batch.digits.push_back(static_cast<std::uint8_t>(result / kDigits));
    }
  }
  return batches;
}

std::unique_ptr<models::DigitNetwork> make_network(const MaskWork& work, Team& team,
                                                   const engine::Kernels<float>& kernels) {
  auto network = models::make_digit_network<float>(work.shape, engine::solo::masked_kernels_for(kernels.target), team);
  network->load(models::initial_digit_parameters(work.shape, 1));
  return network;
}

template <typename Trainer>
MaskTiming time_steps(const MaskWork& work, Trainer& trainer) {
  const std::vector<DigitBatch> batches = draw_batches(work);
  MaskTiming timing;
  trainer.step({batches.data(), 1});
  for (int step = 0; step < work.steps; ++step) {
    const Stopwatch watch;
    timing.loss = trainer.step({batches.data() + step % kBatches, 1});
    timing.step.improve(watch.spent());
  }
  return timing;
}

}  // namespace

std::vector<MaskWork> mask_work() {
  const DigitShape lstm = {
      .kind = DigitNetworkKind::kLstm, .inputs = 42, .outputs = 20, .hidden = {}, .state = 256, .layers = 2};
  return {fnn_work("400,400,200", {400, 400, 200}, 100),
          {"lstm/256x2", lstm, 40},
          fnn_work("800x4", {800, 800, 800, 800}, 25),
          fnn_work("2000x4", {2000, 2000, 2000, 2000}, 8)};
}

double mask_step_flops(const MaskWork& work) {
  const bool is_lstm = work.shape.kind == DigitNetworkKind::kLstm;
  double products = 0;
  for (const engine::Tensor& tensor : models::digit_layout(work.shape).tensors) {
    if (tensor.shape.size() > 1) {
      products += static_cast<double>(tensor.count) * (is_lstm && tensor.shape[0] > kDigits * 2 ? kShownSteps : 1);
    }
  }
  return 6 * products * kMaskRows;
}

MaskTiming time_mask_steps(const MaskWork& work, int samples, int threads, const engine::Kernels<float>& kernels,
                           double near) {
  Team team(threads);
  const auto network = make_network(work, team, kernels);
  std::vector<std::uint8_t> is_masked;
  for (const engine::Tensor& tensor : network->layout().tensors) {
    is_masked.push_back(tensor.shape.size() > 1 ? 1 : 0);
  }
  constexpr float kBegin = 2;
  constexpr float kFarDown = -100;
  RandomSequence random(1, Stream::kMask);
  std::vector<float> logits(network->layout().count, kBegin);
  if (near < 1) {
    std::ranges::generate(logits, [&] { return random.next_uniform() < near ? kBegin : kFarDown; });
  }
  methods::DigitMaskTrainer trainer(*network, is_masked, logits, {.samples = samples, .alpha = kAlpha}, team, kernels);
  return time_steps(work, trainer);
}

MaskTiming time_weight_steps(const MaskWork& work, int threads, const engine::Kernels<float>& kernels) {
  Team team(threads);
  const auto network = make_network(work, team, kernels);
  methods::DigitWeightTrainer trainer(*network, {}, team, kernels);
  return time_steps(work, trainer);
}

double lane_mask_step_flops() {
  double weights = 0;
  for (std::size_t layer = 0; layer + 1 < std::size(kLaneWidths); ++layer) {
    weights += static_cast<double>(kLaneWidths[layer]) * kLaneWidths[layer + 1];
  }
  return 6 * weights * kMaskRows;
}

double time_lane_mask_step(const engine::Kernels<float>& kernels) {
  constexpr int kSteps = 200;
  constexpr int kRounds = 5;
  models::Blueprint blueprint;
  blueprint.shape = models::MlpShape{{std::begin(kLaneWidths), std::end(kLaneWidths)}};
  blueprint.layout = models::mlp_layout(std::get<models::MlpShape>(blueprint.shape));
  blueprint.data = models::table_data(tasks::cached_task("depth2")->tasks.front());
  methods::MaskSpec spec;
  spec.batch_size = kMaskRows;
  spec.samples = kMaskSamples;
  spec.steps = kSteps;
  const methods::MaskedParameters masked = methods::masked_parameters(blueprint.layout, spec);
  const std::vector<float> weights = models::initial_parameters(blueprint.layout, models::Init::kTorch, 1);
  const methods::MaskTarget target = methods::whole_target(*tasks::cached_task("depth2"));
  std::vector<methods::MaskJob> jobs;
  for (int lane = 0; lane < kernels.lanes; ++lane) {
    jobs.push_back({.weights = &weights,
                    .rows = target.rows,
                    .outputs = target.outputs,
                    .seed = static_cast<std::uint64_t>(lane),
                    .beta = 1e-2});
  }
  const auto network = models::make_network<float>(blueprint, kernels);
  SpentTime best;
  for (int round = 0; round < kRounds; ++round) {
    methods::MaskProgress progress;
    const Stopwatch watch;
    methods::train_mask_block(kernels, *network, blueprint.data, masked, spec, jobs, progress);
    best.improve(watch.spent());
  }
  return best.processor / kSteps / kernels.lanes;
}

}  // namespace modlab::bench

#include "bench/torch_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/random.h"
#include "methods/torch/flat_mask_trainer.h"
#include "methods/torch/sequence_parts.h"
#include "models/torch/torch_network.h"

namespace modlab::bench {
namespace {

using models::ColourShape;
using models::SequenceShape;

constexpr double kPenalty = 1e-4;
constexpr int kImages = 256;

// The first ones of the split that everything is learned from, in the order of its draw.
models::TokenSequences scan_rows(int count) {
  const methods::SequenceParts parts = methods::scan_parts({});
  models::TokenSequences rows;
  for (int row = 0; row < count; ++row) {
    const std::uint32_t place = parts.parts.front().train[static_cast<std::size_t>(row)];
    rows.inputs.push_back(parts.samples->inputs[place]);
    rows.outputs.push_back(parts.samples->outputs[place]);
  }
  return rows;
}

models::ColourSamples noise_images() {
  models::ColourSamples samples;
  RandomSequence random(1, Stream::kSamples);
  for (int image = 0; image < kImages; ++image) {
    samples.labels.push_back(static_cast<std::uint8_t>(random.next_word() % 10));
    for (std::size_t byte = 0; byte < samples.image_bytes(); ++byte) {
      samples.pixels.push_back(static_cast<std::uint8_t>(random.next_word()));
    }
  }
  samples.learned = samples.count();
  return samples;
}

// A network, and how long it was asked for gradients.
class TimedNetwork : public models::TorchNetwork {
 public:
  explicit TimedNetwork(std::unique_ptr<models::TorchNetwork> network) : network_(std::move(network)) {}

  const engine::Layout& layout() const override { return network_->layout(); }
  std::vector<float> initial() const override { return network_->initial(); }
  std::vector<float> buffers() const override { return network_->buffers(); }
  void set_buffers(std::span<const float> buffers) override { network_->set_buffers(buffers); }
  double gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                  std::span<const std::uint8_t> wanted, std::span<float> gradients) override {
    models::TorchBatch shown = batch;
    shown.step_noise = 0;  // an LSTM is always shown the answer: steps that are alike
    const Stopwatch watch;
    const double loss = network_->gradient(parameters, shown, wanted, gradients);
    const SpentTime spent = watch.spent();
    spent_.wall += spent.wall;
    spent_.processor += spent.processor;
    return loss;
  }
  int answers() const override { return network_->answers(); }
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override {
    return network_->say(parameters, rows);
  }

  // Since the last call.
  SpentTime spent() { return std::exchange(spent_, {0, 0}); }

 private:
  std::unique_ptr<models::TorchNetwork> network_;
  SpentTime spent_{0, 0};
};

std::unique_ptr<models::TorchNetwork> open_network(const TorchMaskWork& work) {
  const models::TorchLibrary& library = models::torch_library();
  if (const auto* shape = std::get_if<SequenceShape>(&work.shape)) {
    return library.open_sequences(
        *shape, std::make_shared<const models::TokenSequences>(scan_rows(work.spec.batch_size)), 1, {});
  }
  return library.open_colour(std::get<ColourShape>(work.shape),
                             std::make_shared<const models::ColourSamples>(noise_images()), {});
}

// What a mask costs without its network: the draws, and the gradients of logits from those of weights.
SpentTime time_sampler(std::size_t weights, int samples, int rounds,
                       const engine::solo::MaskedKernels<float>& kernels) {
  constexpr auto kPad = static_cast<std::size_t>(engine::solo::kUnitPad);
  const std::size_t count = (weights + kPad - 1) / kPad * kPad;
  AlignedVector<float> logits(count, 2.0F);
  AlignedVector<float> values(count, 0.1F);
  AlignedVector<float> gradients(count);
  AlignedVector<float> drawn(count * static_cast<std::size_t>(samples));
  SpentTime best;
  for (int round = 0; round < rounds; ++round) {
    const engine::solo::MaskNoise noise{engine::solo::mask_key(1, 0), static_cast<std::uint32_t>(round), 0, 0};
    const Stopwatch watch;
    kernels.flat_draw({.logits = logits.data(),
                       .weights = values.data(),
                       .masked = drawn.data(),
                       .count = count,
                       .stride = count,
                       .first_index = 0,
                       .samples = samples,
                       .noise = noise,
                       .kind = engine::MaskDrawing::kGumbel,
                       .inverse_tau = 1.0F});
    kernels.flat_gradient(
        {.weights = values.data(),
         .products = drawn.data(),
         .count = count,
         .stride = count,
         .first_index = 0,
         .samples = samples,
         .slope = {.logits = logits.data(), .noise = noise, .inverse_tau = 1.0F, .alpha = static_cast<float>(kPenalty)},
         .gradients = gradients.data()});
    best.improve(watch.spent());
  }
  return best;
}

}  // namespace

std::vector<TorchMaskWork> torch_mask_work() {
  const methods::MaskSpec sequences = {
      .batch_size = 256, .samples = 4, .beta = kPenalty, .exclude = {"no-bias", "no-embedding"}};
  const auto images = [](int rows) {
    return methods::MaskSpec{.batch_size = rows, .samples = 4, .beta = kPenalty, .exclude = {}};
  };
  const SequenceShape lstm = {.input_tokens = 13, .output_tokens = 6};
  const SequenceShape transformer = {.kind = models::SequenceNetworkKind::kTransformer,
                                     .input_tokens = 13,
                                     .output_tokens = 6,
                                     .layers = 3,
                                     .width = 100};
  const ColourShape resnet = {.kind = models::ColourNetworkKind::kResnet, .channels = {16, 32, 64}, .augments = true};
  return {{"scan/transformer", "transformer", transformer, sequences},
          {"scan/lstm", "lstm", lstm, sequences},
          {"cifar/cnn", "cnn", ColourShape{}, images(128)},
          {"cifar/resnet-110", "resnet", resnet, images(256), 2}};
}

std::string commands_text(const TorchMaskWork& work) {
  if (!std::holds_alternative<SequenceShape>(work.shape)) {
    return "";
  }
  const models::TokenSequences rows = scan_rows(work.spec.batch_size);
  std::string text;
  const auto add = [&](const std::vector<std::uint8_t>& tokens) {
    for (const std::uint8_t token : tokens) {
      text += fmt::format("{:x}", token);
    }
  };
  for (std::size_t row = 0; row < rows.inputs.size(); ++row) {
    text += row == 0 ? "" : ",";
    add(rows.inputs[row]);
    text += ':';
    add(rows.outputs[row]);
  }
  return text;
}

TorchMaskTiming time_torch_mask_steps(const TorchMaskWork& work, const engine::Kernels<float>& kernels) {
  TimedNetwork network(open_network(work));
  const engine::solo::MaskedKernels<float>& masked_kernels = engine::solo::masked_kernels_for(kernels.target);
  const methods::MaskedParameters masked = methods::masked_parameters(network.layout(), work.spec);
  methods::FlatMaskTrainer trainer(network, masked, network.initial(),
                                   std::vector<float>(static_cast<std::size_t>(masked.logits), 2.0F), work.spec,
                                   *work.spec.beta, 1, 0, masked_kernels);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(work.spec.batch_size));
  std::iota(rows.begin(), rows.end(), 0U);
  TorchMaskTiming timing;
  timing.masked = static_cast<std::size_t>(masked.logits);
  timing.loss = trainer.step(rows, {});
  for (int step = 0; step < work.steps; ++step) {
    network.spent();
    const Stopwatch watch;
    trainer.step(rows, {});
    timing.step.improve(watch.spent());
    timing.passes.improve(network.spent());
  }
  timing.sampler = time_sampler(network.layout().count, work.spec.samples, std::max(work.steps, 5), masked_kernels);
  return timing;
}

}  // namespace modlab::bench

#include "methods/torch/torch_training.h"

#include <algorithm>

#include "core/random.h"
#include "engine/flush_denormals.h"
#include "methods/mask/drawn_rows.h"
#include "methods/torch/checkpoint_clock.h"

namespace modlab::methods {
namespace {

// A checkpoint is the parameters, the optimiser's state, the network's buffers and the number of steps.
std::vector<float> checkpoint_of(std::span<const float> parameters, const FlatOptimizer& optimizer,
                                 const std::vector<float>& buffers, int steps) {
  std::vector<float> all(parameters.begin(), parameters.end());
  const std::vector<float> state = optimizer.state();
  all.insert(all.end(), state.begin(), state.end());
  all.insert(all.end(), buffers.begin(), buffers.end());
  all.push_back(static_cast<float>(steps));
  return all;
}

}  // namespace

std::optional<std::vector<float>> train_on_torch(models::TorchNetwork& network, std::vector<float> parameters,
                                                 std::span<const std::uint32_t> rows, const TorchTraining& training,
                                                 DigitProgress& progress, const io::Unfinished& unfinished) {
  const engine::FlushDenormals flush;
  constexpr auto kPart = "weights";
  const std::size_t count = parameters.size();
  const std::size_t buffers = network.buffers().size();
  FlatOptimizer optimizer(count, training.optimizer);
  int step = 0;
  const std::size_t state = FlatOptimizer::state_size(count);
  if (const auto known = unfinished.find(kPart, count + state + buffers + 1)) {
    const std::span<const float> all = *known;
    std::ranges::copy(all.first(count), parameters.begin());
    optimizer.restore(all.subspan(count, state));
    network.set_buffers(all.subspan(count + state, buffers));
    step = static_cast<int>(all.back());
    progress.found.fetch_add(step, std::memory_order_relaxed);
  }
  const DrawnRows drawn(training.seed, training.stage, rows.size());
  std::vector<float> gradients(count);
  CheckpointClock clock;
  for (; step < training.steps; ++step) {
    const auto number = static_cast<std::uint32_t>(step);
    std::vector<std::uint32_t> batch = drawn.draw(number, training.batch_size);
    std::ranges::transform(batch, batch.begin(), [&](std::uint32_t place) { return rows[place]; });
    network.gradient(parameters,
                     {.rows = batch,
                      .trains_weights = true,
                      .noise = noise_of_step(training.seed, training.stage, number),
                      .step_noise = noise_of_step(training.seed, training.stage, number, kNoiseOfAll)},
                     {}, gradients);
    optimizer.step(parameters, gradients, training.rate_factor ? training.rate_factor(step) : 1);
    progress.steps.fetch_add(1, std::memory_order_relaxed);
    const bool stops = progress.stop.load(std::memory_order_relaxed);
    const bool is_last = step + 1 == training.steps;
    if (stops || is_last || clock.is_time()) {
      unfinished.keep(kPart, checkpoint_of(parameters, optimizer, network.buffers(), step + 1));
    }
    if (stops && !is_last) {
      return std::nullopt;
    }
  }
  return parameters;
}

std::uint64_t noise_of_step(std::uint64_t seed, std::uint32_t stage, std::uint32_t step, std::uint32_t sample) {
  Words4 key = stream_key(seed, Stream::kNetworkNoise);
  key[3] = stage;
  const Words4 words = threefry({step, sample, 0, 0}, key);
  return static_cast<std::uint64_t>(words[0]) << 32U | words[1];
}

}  // namespace modlab::methods

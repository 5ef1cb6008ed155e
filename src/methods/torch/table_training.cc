#include "methods/torch/table_training.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"
#include "core/thread_seconds.h"
#include "engine/flush_denormals.h"
#include "methods/torch/epoch_scores.h"
#include "methods/torch/torch_training.h"

namespace modlab::methods {
namespace {

using engine::Part;
using engine::Scores;

template <typename T>
void shuffle(std::span<T> numbers, RandomSequence& random) {
  for (std::size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[random.next_word() % left]);
  }
}

// Losses and right answers of samples [first, last), by part.
Scores scores_of(const std::vector<float>& said, const models::GivenSamples& samples, const std::vector<Part>& part,
                 std::size_t first, std::size_t last) {
  const auto columns = static_cast<std::size_t>(samples.columns);
  BitSums sums[engine::kScoreParts];
  for (std::size_t row = first; row < last; ++row) {
    sums[static_cast<std::size_t>(part[row])].add(std::span(said).subspan(row * columns, columns),
                                                  std::span(samples.labels).subspan(row * columns, columns),
                                                  samples.columns);
  }
  Scores scores;
  std::ranges::transform(sums, scores.parts, &BitSums::score);
  return scores;
}

}  // namespace

std::vector<float> initial_for_seed(const models::TorchNetwork& network, std::uint64_t seed) {
  std::vector<float> parameters = network.initial();
  if (seed != 0) {
    RandomSequence random(seed, Stream::kInitialWeights);
    for (const engine::Tensor& tensor : network.layout().tensors) {
      shuffle(std::span(parameters).subspan(tensor.offset, tensor.count), random);
    }
  }
  return parameters;
}

std::optional<engine::LaneResult> train_table(models::TorchNetwork& network, const models::GivenSamples& samples,
                                              const TableTraining& training, engine::Progress& progress) {
  const engine::FlushDenormals flush;
  const double begin = thread_seconds();
  std::vector<float> parameters = initial_for_seed(network, training.seed);
  FlatOptimizer optimizer(parameters.size(), training.optimizer);
  std::vector<float> gradients(parameters.size());
  std::vector<std::uint32_t> all(samples.count());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> learned;
  std::ranges::copy_if(all, std::back_inserter(learned),
                       [&](std::uint32_t row) { return training.part[row] == Part::kTrain; });
  const auto batch = std::min(static_cast<std::size_t>(training.batch_size), learned.size());
  RandomSequence order(training.seed, Stream::kBatchOrder);
  KeptEpochs kept(training.epochs);
  std::uint32_t step = 0;
  const auto look = [&](int epoch) {
    engine::Snapshot snapshot;
    snapshot.epoch = epoch;
    const std::vector<float> said = network.say(parameters, all);
    snapshot.scores = scores_of(said, samples, training.part, 0, all.size());
    const std::size_t each = all.size() / static_cast<std::size_t>(training.tasks);
    for (int task = 0; training.tasks > 1 && task < training.tasks; ++task) {
      const std::size_t first = static_cast<std::size_t>(task) * each;
      snapshot.per_task.push_back(scores_of(said, samples, training.part, first, first + each));
    }
    snapshot.parameters = parameters;
    return snapshot;
  };
  for (int epoch = 1; epoch <= training.epochs; ++epoch) {
    shuffle(std::span(learned), order);
    for (std::size_t first = 0; first < learned.size(); first += batch, ++step) {
      network.gradient(parameters,
                       {.rows = std::span(learned).subspan(first, std::min(batch, learned.size() - first)),
                        .trains_weights = true,
                        .noise = noise_of_step(training.seed, kWeightStage, step),
                        .input_noise = training.noise,
                        .noisy_inputs = training.noisy_inputs},
                       {}, gradients);
      optimizer.step(parameters, gradients);
      if (progress.stop) {
        return std::nullopt;
      }
    }
    kept.add(look(epoch));
    ++progress.epochs_done;
  }
  engine::LaneResult result = kept.take();
  result.seconds = thread_seconds() - begin;
  return result;
}

}  // namespace modlab::methods

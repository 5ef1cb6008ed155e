#include "methods/torch/image_training.h"

#include <algorithm>
#include <numeric>

#include "core/thread_seconds.h"
#include "engine/epoch_order.h"
#include "engine/flush_denormals.h"
#include "methods/torch/epoch_scores.h"
#include "methods/torch/table_training.h"
#include "methods/torch/torch_training.h"

namespace modlab::methods {
namespace {

using engine::Part;

class ImageTrainer {
 public:
  ImageTrainer(models::ScriptedNetwork& network, models::ImageBatches& batches, const ImageTraining& training)
      : network_(network),
        batches_(batches),
        training_(training),
        parameters_(initial_for_seed(network, training.seed)),
        gradients_(parameters_.size()),
        optimizer_(parameters_.size(), training.optimizer),
        order_(static_cast<std::size_t>(batches.count(Part::kTrain))),
        order_random_(training.seed, Stream::kBatchOrder) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  // Scores are those of the batches, each before the network learned from it.
  engine::PartScore train_epoch(const engine::Progress& progress) {
    if (batch_size() < order_.size()) {
      engine::shuffle_order(order_, order_random_);
    }
    BitSums sums;
    for (std::size_t first = 0; first < order_.size() && !progress.stop; first += batch_size()) {
      step(std::span(order_).subspan(first, std::min(batch_size(), order_.size() - first)), sums);
    }
    return sums.score();
  }

  void step(std::span<const std::uint32_t> samples, BitSums& sums) {
    const auto batch = batches_.make(Part::kTrain, samples);
    network_.set_samples(batch);
    network_.gradient(parameters_,
                      {.rows = rows(samples.size()),
                       .trains_weights = true,
                       .noise = noise_of_step(training_.seed, kWeightStage, steps_++)},
                      {}, gradients_);
    sums.add(network_.said_while_learning(), batch->labels, batch->columns);
    optimizer_.step(parameters_, gradients_);
  }

  // Of at most so many samples.
  engine::PartScore test(Part part, std::size_t most, const engine::Progress& progress) {
    constexpr std::size_t kAtOnce = 512;
    BitSums sums;
    std::vector<std::uint32_t> samples(std::min(most, static_cast<std::size_t>(batches_.count(part))));
    std::iota(samples.begin(), samples.end(), 0U);
    for (std::size_t first = 0; first < samples.size() && !progress.stop; first += kAtOnce) {
      const auto some = std::span(samples).subspan(first, std::min(kAtOnce, samples.size() - first));
      const auto batch = batches_.make(part, some);
      network_.set_samples(batch);
      sums.add(network_.say(parameters_, rows(some.size())), batch->labels, batch->columns);
    }
    return sums.score();
  }

  const std::vector<float>& parameters() const { return parameters_; }
  std::span<const std::uint32_t> order() const { return order_; }

 private:
  std::size_t batch_size() const { return static_cast<std::size_t>(training_.batch_size); }

  // The first so many samples of what the network has at the moment.
  std::span<const std::uint32_t> rows(std::size_t count) {
    while (rows_.size() < count) {
      rows_.push_back(static_cast<std::uint32_t>(rows_.size()));
    }
    return std::span(rows_).first(count);
  }

  models::ScriptedNetwork& network_;
  models::ImageBatches& batches_;
  const ImageTraining& training_;
  std::vector<float> parameters_;
  std::vector<float> gradients_;
  FlatOptimizer optimizer_;
  std::vector<std::uint32_t> order_;
  RandomSequence order_random_;
  std::vector<std::uint32_t> rows_;
  std::uint32_t steps_ = 0;
};

}  // namespace

std::optional<engine::LaneResult> train_images(models::ScriptedNetwork& network, models::ImageBatches& batches,
                                               const ImageTraining& training, engine::Progress& progress) {
  const engine::FlushDenormals flush;
  const double begin = thread_seconds();
  ImageTrainer trainer(network, batches, training);
  KeptEpochs kept(training.epochs);
  for (int epoch = 1; epoch <= training.epochs; ++epoch) {
    engine::Snapshot now;
    now.epoch = epoch;
    now.scores.parts[static_cast<std::size_t>(Part::kTrain)] = trainer.train_epoch(progress);
    for (const Part part : {Part::kValidation, Part::kTest, Part::kSeen}) {
      now.scores.parts[static_cast<std::size_t>(part)] =
          trainer.test(part, static_cast<std::size_t>(batches.count(part)), progress);
    }
    if (progress.stop) {
      return std::nullopt;  // the epoch may have been cut short
    }
    now.parameters = trainer.parameters();
    kept.add(std::move(now));
    ++progress.epochs_done;
  }
  engine::LaneResult result = kept.take();
  result.seconds = thread_seconds() - begin;
  return result;
}

ImageSampleSeconds image_sample_seconds(models::ScriptedNetwork& network, models::ImageBatches& batches,
                                        const ImageTraining& training) {
  constexpr std::size_t kTested = 512;
  const engine::FlushDenormals flush;
  const engine::Progress progress;
  ImageTrainer trainer(network, batches, training);
  const auto some =
      trainer.order().first(std::min(trainer.order().size(), static_cast<std::size_t>(training.batch_size)));
  BitSums sums;
  ImageSampleSeconds seconds;
  // The first time also makes room.
  for (int time = 0; time < 2; ++time) {
    double begin = thread_seconds();
    trainer.step(some, sums);
    seconds.learned = (thread_seconds() - begin) / static_cast<double>(some.size());
    begin = thread_seconds();
    trainer.test(Part::kSeen, kTested, progress);
    seconds.tested =
        (thread_seconds() - begin) / static_cast<double>(std::min<int>(kTested, batches.count(Part::kSeen)));
  }
  return seconds;
}

}  // namespace modlab::methods

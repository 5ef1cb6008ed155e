#include "models/rules/training_samples.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace modlab::models {

TrainingSamples::TrainingSamples(const RuleSpec& spec, RuleSampler& sampler) : spec_(spec), sampler_(sampler) {
  if (spec.rule_skew != 0) {
    double sum = 0;
    for (int rule = 1; rule <= spec.task.rules; ++rule) {
      frequencies_.push_back(std::pow(rule, -spec.rule_skew));
      sum += frequencies_.back();
    }
    for (double& frequency : frequencies_) {
      frequency /= sum;
    }
  }
  if (spec.train_samples > 0) {
    draw_set();
  }
}

void TrainingSamples::draw(int iteration, RuleBatch& batch) {
  if (set_.empty()) {
    sampler_.draw(fresh(iteration), batch);
  } else {
    pick(iteration, batch);
  }
}

RuleDraw TrainingSamples::fresh(int iteration) const {
  return {.use = SampleUse::kTraining,
          .step = static_cast<std::uint32_t>(iteration),
          .samples = spec_.batch_size,
          .length = spec_.length,
          .frequencies = frequencies_,
          .rule_noise = spec_.rule_noise,
          .iteration = iteration};
}

void TrainingSamples::draw_set() {
  for (int done = 0; done < spec_.train_samples; done += kEvaluationSamples) {
    RuleDraw draw = fresh(0);
    draw.use = SampleUse::kTrainingSet;
    draw.step = static_cast<std::uint32_t>(done / kEvaluationSamples);
    draw.samples = std::min(kEvaluationSamples, spec_.train_samples - done);
    sampler_.draw(draw, set_.emplace_back());
  }
}

// Samples are drawn from the set one by one, so that one may come twice.
void TrainingSamples::pick(int iteration, RuleBatch& batch) const {
  const RuleBatch& first = set_.front();
  batch = {.samples = spec_.batch_size,
           .length = first.length,
           .step_by_step = first.step_by_step,
           .columns = first.columns,
           .outputs = first.outputs,
           .data = std::move(batch.data),
           .targets = std::move(batch.targets),
           .rules = std::move(batch.rules),
           .said = std::move(batch.said),
           .use = SampleUse::kTraining,
           .step = static_cast<std::uint32_t>(iteration),
           .iteration = iteration};
  const auto rows = static_cast<std::size_t>(batch.rows());
  batch.data.resize(rows * batch.columns);
  batch.targets.resize(rows * batch.outputs);
  batch.rules.resize(rows);
  batch.said.resize(rows);
  const Words4 key = stream_key(spec_.seed, Stream::kBatchOrder);
  for (int sample = 0; sample < batch.samples; ++sample) {
    const Words4 words = threefry({static_cast<std::uint32_t>(sample), batch.step, 0, 0}, key);
    const auto number =
        static_cast<int>((std::uint64_t{words[0]} * static_cast<std::uint64_t>(spec_.train_samples)) >> 32U);
    const RuleBatch& from = set_[static_cast<std::size_t>(number / kEvaluationSamples)];
    for (int token = 0; token < batch.length; ++token) {
      const auto there = static_cast<std::size_t>(from.row_of(number % kEvaluationSamples, token));
      const auto here = static_cast<std::size_t>(batch.row_of(sample, token));
      std::copy_n(from.data.begin() + static_cast<std::ptrdiff_t>(there * from.columns), from.columns,
                  batch.data.begin() + static_cast<std::ptrdiff_t>(here * batch.columns));
      std::copy_n(from.targets.begin() + static_cast<std::ptrdiff_t>(there * from.outputs), from.outputs,
                  batch.targets.begin() + static_cast<std::ptrdiff_t>(here * batch.outputs));
      batch.rules[here] = from.rules[there];
      batch.said[here] = from.said[there];
    }
  }
}

}  // namespace modlab::models

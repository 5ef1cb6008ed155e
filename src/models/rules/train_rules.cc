#include "models/rules/train_rules.h"

#include <algorithm>
#include <cmath>

#include "engine/flush_denormals.h"
#include "engine/solo/optimizer.h"
#include "models/initial_weights.h"

namespace modlab::models {
namespace {

using engine::solo::padded;
using tasks::RuleOutput;

constexpr int kEvaluationBatches = 10;
constexpr int kEvaluationSamples = 256;  // of a batch

// Losses and their gradients, row by row.
class RuleLoss {
 public:
  RuleLoss(RuleOutput output, int outputs, const engine::solo::Kernels<float>& kernels)
      : output_(output), outputs_(outputs), kernels_(kernels) {}

  // Sums of loss and of wrong classes over all rows and outputs. The gradient is that of `scale` times the loss.
  struct Sums {
    double loss = 0;
    double wrong = 0;
  };
  Sums compare(const RuleBatch& batch, const float* said, float scale) {
    gradient_.assign(static_cast<std::size_t>(batch.rows()) * batch.outputs, 0.0F);
    return output_ == RuleOutput::kRegression ? absolute(batch, said, scale) : entropy(batch, said, scale);
  }
  const float* gradient() const { return gradient_.data(); }

 private:
  Sums absolute(const RuleBatch& batch, const float* said, float scale) {
    Sums sums;
    for (int row = 0; row < batch.rows(); ++row) {
      for (int output = 0; output < outputs_; ++output) {
        const std::size_t place = static_cast<std::size_t>(row) * batch.outputs + output;
        const float error = said[place] - batch.targets[place];
        sums.loss += std::abs(error);
        gradient_[place] = error > 0 ? scale : error < 0 ? -scale : 0.0F;
      }
    }
    return sums;
  }

  // There is one output: the logit of a class.
  Sums entropy(const RuleBatch& batch, const float* said, float scale) {
    const auto size = static_cast<std::size_t>(padded(batch.rows()));
    logits_.assign(size, 0.0F);
    targets_.assign(size, 0.0F);
    slopes_.resize(size);
    losses_.resize(size);
    for (int row = 0; row < batch.rows(); ++row) {
      const std::size_t place = static_cast<std::size_t>(row) * batch.outputs;
      logits_[static_cast<std::size_t>(row)] = said[place];
      targets_[static_cast<std::size_t>(row)] = batch.targets[place];
    }
    kernels_.output_loss({.z = logits_.data(),
                          .targets = targets_.data(),
                          .d = slopes_.data(),
                          .loss = losses_.data(),
                          .scale = scale,
                          .kind = engine::LossKind::kBce,
                          .count = static_cast<int>(size)});
    Sums sums;
    for (int row = 0; row < batch.rows(); ++row) {
      const auto at = static_cast<std::size_t>(row);
      sums.loss += losses_[at];
      sums.wrong += (logits_[at] >= 0) == (targets_[at] > 0) ? 0 : 1;
      gradient_[at * static_cast<std::size_t>(batch.outputs)] = slopes_[at];
    }
    return sums;
  }

  RuleOutput output_;
  int outputs_;
  const engine::solo::Kernels<float>& kernels_;
  AlignedVector<float> gradient_, logits_, targets_, slopes_, losses_;
};

class RuleTrainer {
 public:
  RuleTrainer(const RuleSpec& spec, const tasks::RuleTask& task, const engine::Kernels<float>& kernels,
              RuleProgress& progress)
      : spec_(spec),
        progress_(progress),
        kernels_(engine::solo::kernels_for(kernels.target)),
        shape_(rule_shape(task, spec.model, spec.modules, spec.width)),
        network_(make_rule_network<float>(shape_, kernels_)),
        judged_(make_rule_network<float>(shape_, kernels_)),
        sampler_(task, kernels_, spec.seed),
        loss_(task.settings.output, shape_.outputs, kernels_),
        optimizer_(kernels, network_->parameters(), network_->layout(), engine::OptimizerKind::kAdam, lane_) {
    lane_.lr = spec.lr;
    network_->parameters().load(initial_parameters(network_->layout(), Init::kTorch, spec.seed));
    std::ranges::fill(network_->parameters().all_gradients(), 0.0F);
  }

  std::optional<TrainedRules> run() {
    TrainedRules trained;
    for (int iteration = 0;; ++iteration) {
      if (iteration % spec_.evaluate_every == 0 || iteration == spec_.iterations) {
        note(iteration, trained);
      }
      if (iteration == spec_.iterations) {
        break;
      }
      if (progress_.stop.load(std::memory_order_relaxed)) {
        return std::nullopt;
      }
      step(iteration);
      progress_.steps.fetch_add(1, std::memory_order_relaxed);
    }
    return trained;
  }

 private:
  void step(int iteration) {
    sampler_.draw({.use = SampleUse::kTraining,
                   .step = static_cast<std::uint32_t>(iteration),
                   .samples = spec_.batch_size,
                   .length = spec_.length},
                  batch_);
    const float* said = network_->forward(batch_);
    loss_.compare(batch_, said, static_cast<float>(1.0 / (static_cast<double>(batch_.rows()) * shape_.outputs)));
    network_->backward(batch_, loss_.gradient());
    if (spec_.clip > 0) {
      clip();
    }
    optimizer_.update(1);
  }

  // To the longest that is allowed, as torch.nn.utils.clip_grad_norm_ does it.
  void clip() {
    AlignedVector<float>& gradients = network_->parameters().all_gradients();
    double squares = 0;
    for (const float gradient : gradients) {
      squares += static_cast<double>(gradient) * gradient;
    }
    const auto factor = static_cast<float>(std::min(1.0, spec_.clip / (std::sqrt(squares) + 1e-6)));
    for (float& gradient : gradients) {
      gradient *= factor;
    }
  }

  RuleScore judge(SampleUse use, int iteration) {
    return judge_rules(*judged_, sampler_, shape_, spec_.task.output, kernels_,
                       {.use = use,
                        .first_step = static_cast<std::uint32_t>(iteration / spec_.evaluate_every) * kEvaluationBatches,
                        .samples = kEvaluationBatches * kEvaluationSamples,
                        .length = spec_.length});
  }

  void note(int iteration, TrainedRules& trained) {
    judged_->parameters().all_values() = network_->parameters().all_values();
    RulePoint point{iteration, judge(SampleUse::kCurve, iteration), judge(SampleUse::kValidation, iteration)};
    trained.diverged = trained.diverged || !std::isfinite(point.validation.loss);
    trained.last = {iteration, point.validation, network_->parameters().save()};
    const bool classes = spec_.task.output == RuleOutput::kClassification;
    const auto rank = [&](const RuleScore& score) { return classes ? score.error : score.loss; };
    if (trained.curve.empty() || rank(point.validation) < rank(trained.best.validation)) {
      trained.best = trained.last;
    }
    trained.curve.push_back(std::move(point));
  }

  const RuleSpec& spec_;
  RuleProgress& progress_;
  const engine::solo::Kernels<float>& kernels_;
  RuleShape shape_;
  std::unique_ptr<RuleNetwork<float>> network_;
  std::unique_ptr<RuleNetwork<float>> judged_;  // the same network on batches of another size
  RuleSampler sampler_;
  RuleLoss loss_;
  engine::LaneSettings lane_;
  engine::solo::Optimizer optimizer_;
  RuleBatch batch_;
};

}  // namespace

RuleScore judge_rules(RuleNetwork<float>& network, RuleSampler& sampler, const RuleShape& shape, RuleOutput output,
                      const engine::solo::Kernels<float>& kernels, const RuleTest& test) {
  RuleLoss loss(output, shape.outputs, kernels);
  RuleBatch batch;
  RuleScore score;
  std::vector<double> rows_of_rule(static_cast<std::size_t>(shape.rules));
  if (shape.has_modules()) {
    score.activation.assign(static_cast<std::size_t>(shape.rules) * static_cast<std::size_t>(shape.modules), 0);
  }
  double rows = 0;
  std::uint32_t step = test.first_step;
  for (int done = 0; done < test.samples; done += kEvaluationSamples, ++step) {
    sampler.draw({.use = test.use,
                  .step = step,
                  .samples = std::min(kEvaluationSamples, test.samples - done),
                  .length = test.length,
                  .scale = test.scale},
                 batch);
    const RuleLoss::Sums sums = loss.compare(batch, network.forward(batch), 0);
    score.loss += sums.loss;
    score.error += sums.wrong;
    rows += batch.rows();
    for (int row = 0; shape.has_modules() && row < batch.rows(); ++row) {
      const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
      const float* gates = network.gates() + static_cast<std::ptrdiff_t>(row) * padded(shape.modules);
      rows_of_rule[rule] += 1;
      for (int module = 0; module < shape.modules; ++module) {
        score.activation[rule * static_cast<std::size_t>(shape.modules) + static_cast<std::size_t>(module)] +=
            gates[module];
      }
    }
  }
  score.loss /= rows * shape.outputs;
  score.error *= 100 / rows;
  for (std::size_t place = 0; place < score.activation.size(); ++place) {
    score.activation[place] /= std::max(1.0, rows_of_rule[place / static_cast<std::size_t>(shape.modules)]);
  }
  return score;
}

std::optional<TrainedRules> train_rules(const RuleSpec& spec, const tasks::RuleTask& task,
                                        const engine::Kernels<float>& kernels, RuleProgress& progress) {
  const engine::FlushDenormals flush;
  return RuleTrainer(spec, task, kernels, progress).run();
}

}  // namespace modlab::models

#include "models/rules/train_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/thread_seconds.h"
#include "engine/flush_denormals.h"
#include "models/initial_weights.h"
#include "models/rules/training_samples.h"

namespace modlab::models {
namespace {

using engine::solo::padded;
using tasks::RuleOutput;

constexpr int kEvaluationBatches = 10;

// To the longest that is allowed, as torch.nn.utils.clip_grad_norm_ does it.
void clip_gradients(AlignedVector<float>& gradients, double longest) {
  double squares = 0;
  for (const float gradient : gradients) {
    squares += static_cast<double>(gradient) * gradient;
  }
  const auto factor = static_cast<float>(std::min(1.0, longest / (std::sqrt(squares) + 1e-6)));
  for (float& gradient : gradients) {
    gradient *= factor;
  }
}

// Our own network.
class SoloRuleLearner : public RuleLearner {
 public:
  SoloRuleLearner(const RuleSpec& spec, const RuleShape& shape, const engine::Kernels<float>& kernels)
      : stepper_(spec, shape, kernels, initial_parameters(rule_layout(shape), Init::kTorch, spec.seed)),
        judged_(make_rule_network<float>(shape, engine::solo::kernels_for(kernels.target))) {}

  void step(const RuleBatch& batch) override { stepper_.step(batch); }
  std::vector<float> parameters() override { return stepper_.network().parameters().save(); }
  JudgedRuleNetwork<float>& judged() override {
    judged_->parameters().all_values() = stepper_.network().parameters().all_values();
    return *judged_;
  }

 private:
  RuleStepper stepper_;
  std::unique_ptr<RuleNetwork<float>> judged_;  // the same network on batches of another size
};

class RuleTrainer {
 public:
  RuleTrainer(const RuleSpec& spec, const RuleShape& shape, const tasks::RuleTask& task,
              const engine::Kernels<float>& kernels, RuleLearner& learner, RuleProgress& progress)
      : spec_(spec),
        progress_(progress),
        kernels_(engine::solo::kernels_for(kernels.target)),
        shape_(shape),
        learner_(learner),
        sampler_(task, kernels_, spec.seed),
        training_(spec, sampler_) {}

  std::optional<TrainedRules> run() {
    TrainedRules trained;
    for (int iteration = 0;; ++iteration) {
      if (iteration % spec_.evaluate_every == 0 || iteration == spec_.iterations) {
        note(iteration, trained);
      }
      if (iteration == spec_.iterations) {
        return trained;
      }
      if (progress_.stop.load(std::memory_order_relaxed)) {
        return std::nullopt;
      }
      training_.draw(iteration, batch_);
      learner_.step(batch_);
      progress_.steps.fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  RuleScore judge(JudgedRuleNetwork<float>& network, SampleUse use, int iteration) {
    return judge_rules(network, sampler_, shape_, spec_.task.output, kernels_,
                       {.use = use,
                        .first_step = static_cast<std::uint32_t>(iteration / spec_.evaluate_every) * kEvaluationBatches,
                        .samples = kEvaluationBatches * kEvaluationSamples,
                        .length = spec_.length,
                        .rule_noise = spec_.rule_noise,
                        .iteration = iteration});
  }

  void note(int iteration, TrainedRules& trained) {
    JudgedRuleNetwork<float>& network = learner_.judged();
    RulePoint point{iteration, judge(network, SampleUse::kCurve, iteration),
                    judge(network, SampleUse::kValidation, iteration)};
    trained.diverged = trained.diverged || !std::isfinite(point.validation.loss);
    trained.last = {iteration, point.validation, learner_.parameters()};
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
  const RuleShape& shape_;
  RuleLearner& learner_;
  RuleSampler sampler_;
  TrainingSamples training_;
  RuleBatch batch_;
};

}  // namespace

RuleStepper::RuleStepper(const RuleSpec& spec, const RuleShape& shape, const engine::Kernels<float>& kernels,
                         std::span<const float> initial)
    : clip_(spec.clip),
      outputs_(shape.outputs),
      network_(make_rule_network<float>(shape, engine::solo::kernels_for(kernels.target))),
      loss_(spec.task.output, shape.outputs, engine::solo::kernels_for(kernels.target)),
      optimizer_(kernels, network_->parameters(), network_->layout(), engine::OptimizerKind::kAdam, lane_) {
  lane_.lr = spec.lr;
  lane_.lr_module = spec.lr * spec.gate_rate;
  network_->parameters().load(initial);
  std::ranges::fill(network_->parameters().all_gradients(), 0.0F);
}

double RuleStepper::step(const RuleBatch& batch) {
  const double numbers = static_cast<double>(batch.rows()) * outputs_;
  const RuleLoss::Sums sums = loss_.compare(batch, network_->forward(batch), static_cast<float>(1.0 / numbers));
  network_->backward(batch, loss_.gradient());
  if (clip_ > 0) {
    clip_gradients(network_->parameters().all_gradients(), clip_);
  }
  optimizer_.update(1);
  return sums.loss / numbers;
}

RuleScore judge_rules(JudgedRuleNetwork<float>& network, RuleSampler& sampler, const RuleShape& shape,
                      RuleOutput output, const engine::solo::Kernels<float>& kernels, const RuleTest& test) {
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
                  .scale = test.scale,
                  .rule_noise = test.rule_noise,
                  .iteration = test.iteration},
                 batch);
    const RuleLoss::Sums sums = loss.compare(batch, network.forward(batch), 0);
    score.loss += sums.loss;
    score.error += sums.wrong;
    rows += batch.rows();
    for (int row = 0; shape.has_modules() && row < batch.rows(); ++row) {
      const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
      const float* gates = network.gates() + static_cast<std::ptrdiff_t>(row) * padded(shape.modules);
      rows_of_rule[rule] += 1;
      // Gates that do not sum to 1 say how much a module counts beside the others. Where none counts, none is used.
      const double sum = std::accumulate(gates, gates + shape.modules, 0.0);
      for (int module = 0; module < shape.modules; ++module) {
        score.activation[rule * static_cast<std::size_t>(shape.modules) + static_cast<std::size_t>(module)] +=
            sum == 0 ? 0 : gates[module] / sum;
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

double seconds_a_step(const RuleSpec& spec, const engine::Kernels<float>& kernels) {
  constexpr double kEnough = 0.02;  // seconds
  const engine::FlushDenormals flush;
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  const RuleShape shape = rule_shape(spec);
  RuleStepper stepper(spec, shape, kernels, initial_parameters(rule_layout(shape), Init::kTorch, spec.seed));
  RuleSampler sampler(task, engine::solo::kernels_for(kernels.target), spec.seed);
  TrainingSamples training(spec, sampler);
  RuleBatch batch;
  double best = std::numeric_limits<double>::max();
  // The first step also makes room. However slow steps are, there is a second.
  for (double spent = 0; spent < kEnough;) {
    for (const bool counts : {false, true}) {
      const double begin = thread_seconds();
      training.draw(0, batch);
      stepper.step(batch);
      const double seconds = thread_seconds() - begin;
      spent += seconds;
      best = counts ? std::min(best, seconds) : best;
    }
  }
  return best;
}

double evaluated_tokens(const RuleSpec& spec) {
  const int points = 2 + spec.iterations / spec.evaluate_every;
  return 2.0 * points * kEvaluationBatches * kEvaluationSamples * spec.length;
}

std::optional<TrainedRules> train_rules(const RuleSpec& spec, const tasks::RuleTask& task,
                                        const engine::Kernels<float>& kernels, RuleProgress& progress) {
  const engine::FlushDenormals flush;
  const RuleShape shape = rule_shape(spec);
  SoloRuleLearner learner(spec, shape, kernels);
  return RuleTrainer(spec, shape, task, kernels, learner, progress).run();
}

std::optional<TrainedRules> train_rules(const RuleSpec& spec, const RuleShape& shape, const tasks::RuleTask& task,
                                        const engine::Kernels<float>& kernels, RuleLearner& learner,
                                        RuleProgress& progress) {
  const engine::FlushDenormals flush;
  return RuleTrainer(spec, shape, task, kernels, learner, progress).run();
}

}  // namespace modlab::models

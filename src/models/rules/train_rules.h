#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/solo/optimizer.h"
#include "models/rules/rule_loss.h"
#include "models/rules/rule_network.h"
#include "models/rules/rule_spec.h"

namespace modlab::models {

// What a network says of some samples.
struct RuleScore {
  double loss = 0;   // mean over rows and outputs: of absolute errors, or cross-entropy
  double error = 0;  // of classes, in percent
  // [rule][module]: how much each module counts where a rule applies; 0 where none did. Empty without modules.
  std::vector<double> activation;
};

// Samples to judge a network by: as many as `samples`, in batches whose steps count from `first_step`.
struct RuleTest {
  SampleUse use = SampleUse::kTest;
  std::uint32_t first_step = 0;
  int samples = 0;
  int length = 1;
  float scale = 1;
  double rule_noise = 0;
  int iteration = 0;  // training steps that the network has had
};
RuleScore judge_rules(JudgedRuleNetwork<float>& network, RuleSampler& sampler, const RuleShape& shape,
                      tasks::RuleOutput output, const engine::solo::Kernels<float>& kernels, const RuleTest& test);

// A point of the curve: before the step of that number, so that the first is the untrained network.
struct RulePoint {
  int iteration = 0;
  RuleScore curve;
  RuleScore validation;  // on other samples: what decides which point was the best
};

struct RuleSnapshot {
  int iteration = 0;
  RuleScore validation;
  std::vector<float> parameters;
};

struct TrainedRules {
  std::vector<RulePoint> curve;
  RuleSnapshot best;  // lowest validation loss, of classes lowest validation error
  RuleSnapshot last;
  bool diverged = false;
};

// Steps of training on batches that someone else draws.
class RuleStepper {
 public:
  RuleStepper(const RuleSpec& spec, const RuleShape& shape, const engine::Kernels<float>& kernels,
              std::span<const float> initial);
  RuleStepper(const RuleStepper&) = delete;
  RuleStepper& operator=(const RuleStepper&) = delete;

  // Gives the loss of the batch before the step.
  double step(const RuleBatch& batch);
  RuleNetwork<float>& network() { return *network_; }

 private:
  double clip_;
  int outputs_;
  std::unique_ptr<RuleNetwork<float>> network_;
  RuleLoss loss_;
  engine::LaneSettings lane_;
  engine::solo::Optimizer optimizer_;
};

// A network that learns from one batch after the other, whatever it runs on.
class RuleLearner {
 public:
  virtual ~RuleLearner() = default;

  virtual void step(const RuleBatch& batch) = 0;
  // As a snapshot has them.
  virtual std::vector<float> parameters() = 0;
  // The network with the parameters of now.
  virtual JudgedRuleNetwork<float>& judged() = 0;
};

struct RuleProgress {
  std::atomic<long long> steps{0};
  std::atomic<bool> stop{false};
};

// How long a training step of a resolved spec takes here, drawing its samples included.
double seconds_a_step(const RuleSpec& spec, const engine::Kernels<float>& kernels);

// Tokens on which train_rules judges a network between its steps.
double evaluated_tokens(const RuleSpec& spec);

// One network, of a resolved spec. Returns nothing if it was asked to stop.
std::optional<TrainedRules> train_rules(const RuleSpec& spec, const tasks::RuleTask& task,
                                        const engine::Kernels<float>& kernels, RuleProgress& progress);
// The same of someone else's network, of which `shape` says how many outputs and modules it has.
std::optional<TrainedRules> train_rules(const RuleSpec& spec, const RuleShape& shape, const tasks::RuleTask& task,
                                        const engine::Kernels<float>& kernels, RuleLearner& learner,
                                        RuleProgress& progress);

}  // namespace modlab::models

#include "bench/rules.h"

#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "engine/flush_denormals.h"
#include "models/initial_weights.h"
#include "models/rules/train_rules.h"

namespace modlab::bench {
namespace {

using models::RuleModel;
using models::RuleShape;
using tasks::RuleFamily;

RuleShape shape_of(const models::RuleSpec& spec) {
  return models::rule_shape(spec.task, spec.model, spec.modules, spec.width);
}

double two_layers(double in, double hidden, double out) { return in * hidden + hidden * out; }

// How many modules a row needs: an oracle's needs one.
double needed_modules(const RuleShape& shape) { return shape.model == RuleModel::kGtModular ? 1 : shape.modules; }

double mlp_products(const RuleShape& shape) {
  const double e = shape.width;
  const double d = shape.second_width();
  const double outside = 2 * two_layers(1, e, e) + two_layers(shape.rules, e, e) + two_layers(d, e, shape.outputs);
  if (!shape.has_modules()) {
    return outside + two_layers(3 * e, d, d);
  }
  const double units = needed_modules(shape) * models::module_units(shape);
  return outside + two_layers(3 * e, units, d) + (shape.model == RuleModel::kModular ? units : 0);
}

double mha_products(const RuleShape& shape, int length) {
  const double e = shape.width;
  const double a = shape.second_width();
  const double head = models::head_width(shape);
  const double outside = two_layers(shape.data_columns + shape.rules, e, e) + two_layers(e, e, shape.outputs);
  if (!shape.has_modules()) {
    return outside + 3 * e * a + 2 * length * a + e * head + two_layers(a + head, 2 * e, e);
  }
  const double needed = needed_modules(shape);
  // Keys and values are those of the modules that some token of the sample asks.
  const double asked = shape.model == RuleModel::kGtModular
                           ? shape.modules * (1 - std::pow(1 - 1.0 / shape.modules, length))
                           : shape.modules;
  const double units = models::module_units_behind_heads(shape);
  return outside + e * 2 * head * (needed + 2 * asked) + 2 * length * 2 * head * needed + e * head * needed +
         needed * (two_layers(3 * head, units, e) + (shape.model == RuleModel::kModular ? units : 0));
}

double rnn_products(const RuleShape& shape) {
  const double e = shape.width;
  const double h = shape.has_modules() ? models::shared_state(shape) : shape.second_width();
  const double cells = shape.has_modules() ? needed_modules(shape) : 1;
  const double scores = shape.model == RuleModel::kModular ? cells * 8 * h : 0;
  return two_layers(shape.data_columns + shape.rules, e, e) + cells * 4 * h * (e + h) + scores +
         two_layers(h, h, shape.outputs);
}

// A network in training.
class RuleTraining {
 public:
  RuleTraining(const RuleWork& work, std::uint64_t seed, const tasks::RuleTask& task,
               const engine::Kernels<float>& kernels)
      : spec_(work.spec),
        stepper_(spec_, shape_of(spec_), kernels,
                 models::initial_parameters(models::rule_layout(shape_of(spec_)), models::Init::kTorch, seed)),
        sampler_(task, engine::solo::kernels_for(kernels.target), seed) {}

  double step() {
    sampler_.draw({.step = steps_++, .samples = spec_.batch_size, .length = spec_.length}, batch_);
    return stepper_.step(batch_);
  }

 private:
  models::RuleSpec spec_;
  models::RuleStepper stepper_;
  models::RuleSampler sampler_;
  models::RuleBatch batch_;
  std::uint32_t steps_ = 0;
};

// Trains one network and gives the loss of each step.
std::vector<double> train(const RuleWork& work, std::uint64_t seed, const tasks::RuleTask& task,
                          const engine::Kernels<float>& kernels, SpentTime& spent) {
  const engine::FlushDenormals flush;
  RuleTraining training(work, seed, task, kernels);
  std::vector<double> losses;
  const Stopwatch watch;
  for (int step = 0; step < work.spec.iterations; ++step) {
    losses.push_back(training.step());
  }
  spent = watch.spent();
  return losses;
}

}  // namespace

double rule_step_flops(const RuleWork& work) {
  const RuleShape shape = shape_of(work.spec);
  const double products = shape.family == RuleFamily::kMlp   ? mlp_products(shape)
                          : shape.family == RuleFamily::kMha ? mha_products(shape, work.spec.length)
                                                             : rnn_products(shape);
  return 6 * products * work.spec.batch_size * work.spec.length;
}

RuleTiming time_rule_steps(const RuleWork& work, int networks, const engine::Kernels<float>& kernels) {
  const tasks::RuleTask task = tasks::draw_rules(work.spec.task);
  RuleTiming timing;
  const int last = work.spec.iterations / 4;
  for (int network = 0; network < networks; ++network) {
    SpentTime spent;
    const std::vector<double> losses = train(work, static_cast<std::uint64_t>(network), task, kernels, spent);
    timing.step.improve(spent.per(work.spec.iterations));
    for (int step = 0; step < last; ++step) {
      timing.loss += losses[losses.size() - 1 - static_cast<std::size_t>(step)] / (last * networks);
    }
  }
  return timing;
}

// A first step makes room, and the system gives pages to one thread at a time: all threads are past it when the clock
// starts.
double time_rule_threads(const RuleWork& work, int networks, int threads, const engine::Kernels<float>& kernels) {
  const tasks::RuleTask task = tasks::draw_rules(work.spec.task);
  std::barrier begin(threads + 1);
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      const engine::FlushDenormals flush;
      std::vector<std::unique_ptr<RuleTraining>> trainings;
      for (int network = thread; network < networks; network += threads) {
        trainings.push_back(std::make_unique<RuleTraining>(work, static_cast<std::uint64_t>(network), task, kernels));
        trainings.back()->step();
      }
      begin.arrive_and_wait();
      for (const std::unique_ptr<RuleTraining>& training : trainings) {
        for (int step = 0; step < work.spec.iterations; ++step) {
          training->step();
        }
      }
    });
  }
  begin.arrive_and_wait();
  const Stopwatch watch;
  workers.clear();  // waits for them
  return watch.spent().wall;
}

}  // namespace modlab::bench

#include "experiments/torch/trained_script_rules.h"

#include <fmt/format.h>

#include <map>

#include "core/thread_seconds.h"
#include "experiments/rules/rule_kind.h"
#include "experiments/rules/rule_results.h"
#include "experiments/side_by_side.h"
#include "experiments/torch/script_kind.h"
#include "experiments/torch/script_results.h"
#include "methods/torch/scripted_rules.h"
#include "models/rules/rule_settings.h"
#include "models/rules/training_samples.h"

namespace modlab::experiments {
namespace {

using modlab::models::RuleShape;
using modlab::models::RuleSpec;
using modlab::models::ScriptedNetwork;
using RuleScript = ScriptSpec<RuleSpec>;

class RuleScriptWork : public Work {
 public:
  RuleScriptWork(std::span<const Run> runs, std::vector<RuleScript> specs, Resources resources, const Wanted& wanted)
      : runs_(runs), resources_(std::move(resources)), wanted_(wanted), specs_(std::move(specs)) {
    for (const RuleScript& spec : specs_) {
      files_.push_back(file_of(spec));
      steps_ += spec.training.iterations;
    }
  }

  // From some steps of each file and size of batches. What is judged goes forward only, which is a third of a step.
  double estimate_seconds() override {
    std::map<std::string, double> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const RuleSpec& spec = specs_[at].training;
      const auto [seconds, is_new] = known.try_emplace(fmt::format("{}/{}", fit_key(specs_[at]), spec.batch_size));
      if (is_new) {
        seconds->second = seconds_a_step(at);
      }
      total += seconds->second * (spec.iterations + judged_tokens(spec) / (3.0 * spec.batch_size * spec.length));
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    run_side_by_side(runs_.size(), resources_.threads, progress_.stop, [&](std::size_t at, int threads) {
      const RuleSpec& spec = specs_[at].training;
      const double begin = thread_seconds();
      const tasks::RuleTask task = tasks::draw_rules(spec.task);
      const auto network = open(*files_[at], spec, task, threads);
      methods::ScriptedRules learner(*network, spec, files_[at]->path);
      const RuleShape shape = learner.find_shape({spec.length}, task, *resources_.kernels);
      const auto trained = modlab::models::train_rules(spec, shape, task, *resources_.kernels, learner, progress_);
      if (!trained) {
        return;
      }
      const std::size_t parameters = network->layout().count;
      Result result = rule_result(spec, shape, task, *trained, resources_, learner.judged(), parameters);
      keep_wanted(wanted_, runs_[at].id(), result);
      if (wanted_.network_file) {
        result.blobs["file.safetensors"] =
            weights_file(network->layout(), std::span(trained->best.parameters).first(parameters),
                         runs_[at].kind->run_json(runs_[at], result));
      }
      result.seconds = thread_seconds() - begin;
      sink({{&runs_[at], std::move(result)}});
      done_.fetch_add(1);
    });
  }

  Status status(double seconds) const override {
    const auto done = static_cast<double>(progress_.steps.load());
    return {done / static_cast<double>(std::max(1LL, steps_)), rule_status(done, done_, runs_.size(), seconds)};
  }
  void stop() override { progress_.stop = true; }

 private:
  using File = std::shared_ptr<const modlab::models::ScriptFile>;

  // What decides whether a network and its samples fit.
  static std::string fit_key(const RuleScript& spec) {
    const RuleSpec& training = spec.training;
    return fmt::format("{}/{}/{}/{}/{}/{}", spec.contents, static_cast<int>(training.task.family),
                       training.task.inputs(), training.task.outputs(), training.task.rules, training.length);
  }

  // Asks the network once at every length that it will be tested at, so that whatever does not fit is said before
  // anything is trained.
  File file_of(const RuleScript& spec) {
    File& known = known_[fit_key(spec)];
    if (known == nullptr) {
      check_contents({spec.model}, spec.contents);
      auto file = std::make_shared<const modlab::models::ScriptFile>(checked_script(spec.model));
      const tasks::RuleTask task = tasks::draw_rules(spec.training.task);
      const auto network = open(*file, spec.training, task, 1);
      std::vector<int> lengths = test_lengths(spec.training);
      lengths.push_back(spec.training.length);
      methods::ScriptedRules(*network, spec.training, file->path).find_shape(lengths, task, *resources_.kernels);
      known = std::move(file);
    }
    return known;
  }

  std::unique_ptr<ScriptedNetwork> open(const modlab::models::ScriptFile& file, const RuleSpec& spec,
                                        const tasks::RuleTask& task, int threads) const {
    constexpr int kAsked = 16;
    modlab::models::RuleSampler sampler(task, engine::solo::kernels_for(resources_.kernels->target), spec.seed);
    modlab::models::RuleBatch batch;
    sampler.draw({.use = modlab::models::SampleUse::kExport, .samples = kAsked, .length = spec.length}, batch);
    auto samples = std::make_shared<modlab::models::GivenSamples>();
    methods::fill_rule_samples(batch, spec.task, *samples);
    return open_for_task(file, samples, methods::rule_answer_shape(spec.task, spec.length), task_name(spec), threads);
  }

  static std::string task_name(const RuleSpec& spec) {
    return modlab::models::rule_settings().get(spec, "task").get<std::string>();
  }

  double seconds_a_step(std::size_t at) const {
    constexpr int kSteps = 3;
    const RuleSpec& spec = specs_[at].training;
    const tasks::RuleTask task = tasks::draw_rules(spec.task);
    const auto network = open(*files_[at], spec, task, 1);
    methods::ScriptedRules learner(*network, spec, files_[at]->path);
    modlab::models::RuleSampler sampler(task, engine::solo::kernels_for(resources_.kernels->target), spec.seed);
    modlab::models::TrainingSamples training(spec, sampler);
    modlab::models::RuleBatch batch;
    double best = 0;
    // The first step also makes room.
    for (int step = 0; step <= kSteps; ++step) {
      const double begin = thread_seconds();
      training.draw(step, batch);
      learner.step(batch);
      const double seconds = thread_seconds() - begin;
      best = step == 1 ? seconds : std::min(best, seconds);
    }
    return best;
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<RuleScript> specs_;
  std::vector<File> files_;  // [run]
  std::map<std::string, File> known_;
  long long steps_ = 0;
  modlab::models::RuleProgress progress_;
  std::atomic<std::size_t> done_{0};
};

class RuleScriptKind : public ScriptKind<RuleSpec, RuleKind> {
 public:
  std::string_view name() const override { return "trained-script-rules"; }
  std::string_view title() const override { return "Networks of PyTorch's on rule-based data (model FILE.pt)"; }

  const settings::SpecTable<Spec>& table() const override {
    static const settings::SpecTable<Spec> kTable = script_settings(
        modlab::models::rule_settings(),
        {"task", "task_type", "rules", "task_seed", "search", "dim", "order", "length", "iterations", "batch_size",
         "lr", "clip", "evaluate_every", "test_samples", "seed", "rule_skew", "rule_noise", "train_samples"});
    return kTable;
  }
  RuleSpec start() const override { return {}; }
  RuleSpec complete(RuleSpec training) const override { return modlab::models::resolve_data(training); }
  RuleSpec rule_spec_of(const Values& values) const override { return complete(spec_of(values).training); }

  bool takes(const std::string& task) const override { return is_rule_task(task); }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = ScriptKind::defaults();
    defaults["clip"] = nullptr;
    return defaults;
  }
  double effort(const Run& run) const override {
    // About those of the published networks: nobody knows how many weights these have.
    constexpr double kOfAToken = 1e5;
    const RuleSpec spec = rule_spec_of(run.values);
    return kOfAToken * (3.0 * spec.iterations * spec.batch_size * spec.length + judged_tokens(spec));
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    std::vector<RuleScript> specs = specs_of(runs);
    for (RuleScript& spec : specs) {
      spec.training = complete(spec.training);
    }
    return std::make_unique<RuleScriptWork>(runs, std::move(specs), resources, wanted);
  }
};

}  // namespace

const Experiment& trained_script_rules() {
  static const RuleScriptKind kKind;
  return kKind;
}

}  // namespace modlab::experiments

#include "experiments/rules/rules.h"

#include <fmt/format.h>

#include <map>

#include "core/parallel.h"
#include "core/thread_seconds.h"
#include "experiments/rules/published_rules.h"
#include "experiments/rules/rule_kind.h"
#include "experiments/rules/rule_results.h"
#include "io/safetensors.h"
#include "models/rules/rule_settings.h"
#include "models/rules/saved_rules.h"

namespace modlab::experiments {
namespace {

using models::RuleSpec;

RuleSpec rule_spec(const Values& values) {
  RuleSpec spec;
  models::rule_settings().read(values, spec);
  return models::resolve(spec);
}

// One network after the other on every thread: with batches of hundreds a core is busy with one.
class RulesWork : public Work {
 public:
  RulesWork(std::span<const Run> runs, Resources resources, const Wanted& wanted)
      : runs_(runs), resources_(std::move(resources)), wanted_(wanted) {
    for (const Run& run : runs) {
      specs_.push_back(rule_spec(run.values));
      steps_ += specs_.back().iterations;
    }
  }

  // From some steps of each shape. What is judged goes forward only, which is a third of a step.
  double estimate_seconds() override {
    std::map<std::string, double> seconds_a_step;
    double total = 0;
    for (const RuleSpec& spec : specs_) {
      RuleSpec tried = spec;
      tried.seed = 0;
      tried.task.task_seed = 0;
      tried.lr = 1e-4;
      tried.iterations = 1;
      tried.evaluate_every = 1;
      tried.test_samples = 1;
      const auto [known, is_new] = seconds_a_step.try_emplace(models::rule_settings().id(tried));
      if (is_new) {
        known->second = models::seconds_a_step(tried, *resources_.kernels);
      }
      const double judged = judged_tokens(spec) / (3.0 * spec.batch_size * spec.length);
      total += known->second * (spec.iterations + judged);
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    parallel_for(runs_.size(), resources_.threads, [&](std::size_t at) {
      if (progress_.stop) {
        return;
      }
      const RuleSpec& spec = specs_[at];
      const double begin = thread_seconds();
      const tasks::RuleTask task = tasks::draw_rules(spec.task);
      const std::optional<models::TrainedRules> trained =
          models::train_rules(spec, task, *resources_.kernels, progress_);
      if (!trained) {
        return;
      }
      Result result = rule_result(spec, task, *trained, resources_);
      keep_wanted(wanted_, runs_[at].id(), result);
      if (wanted_.network_file) {
        const io::TensorFile file =
            models::to_tensor_file(models::rule_shape(spec), trained->best.parameters, trained->last.parameters,
                                   runs_[at].kind->run_json(runs_[at], result));
        result.blobs["file.safetensors"] = io::encode_safetensors(file);
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
  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<RuleSpec> specs_;
  long long steps_ = 0;
  models::RuleProgress progress_;
  std::atomic<std::size_t> done_{0};
};

class Rules : public RuleKind {
 public:
  std::string_view name() const override { return "rules"; }
  std::string_view title() const override {
    return "Networks on rule-based data (tasks rules-mlp, rules-mha, rules-rnn)";
  }
  std::span<const Setting> settings() const override { return models::rule_settings().settings(); }
  RuleSpec rule_spec_of(const Values& values) const override { return rule_spec(values); }
  std::vector<std::string> models() const override { return modlab::models::rule_model_names(); }
  bool takes(const std::string& task) const override { return is_rule_task(task); }
  std::vector<OwnTask> own_tasks() const override { return rule_tasks(); }
  std::vector<PublishedFlag> published_flags() const override { return published_rule_flags(); }
  Asked in_our_words(Asked asked) const override { return published_rules(std::move(asked)); }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    RuleSpec spec;
    Given chosen;
    for (const char* name : {"task", "model"}) {
      if (const auto found = given.find(name); found != given.end()) {
        chosen.insert(*found);
      }
    }
    modlab::models::rule_settings().apply(chosen, spec);
    return modlab::models::rule_settings().settings_for(spec);
  }
  Values resolve(const Given& given) const override {
    RuleSpec spec;
    modlab::models::rule_settings().apply(given, spec);
    return modlab::models::rule_settings().values(modlab::models::resolve(spec));
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = modlab::models::rule_settings().by_name(RuleSpec{});
    defaults["clip"] = nullptr;
    return defaults;
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      // Of sums, whose defaults are the published ones.
      auto defaults = modlab::models::rule_settings().by_name(modlab::models::resolve(RuleSpec{}));
      defaults.erase("model");
      defaults.erase("task");
      return defaults;
    }();
    return kDefaults;
  }
  // Backward costs twice as much as forward.
  double effort(const Run& run) const override {
    const RuleSpec spec = rule_spec(run.values);
    constexpr double kOperations = 2;
    const double tokens = 3.0 * spec.iterations * spec.batch_size * spec.length + judged_tokens(spec);
    return kOperations * size_of(run).at("parameters") * tokens;
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<RulesWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    const modlab::models::RuleShape shape = modlab::models::rule_shape(rule_spec(run.values));
    return {{"parameters", static_cast<double>(modlab::models::rule_layout(shape).count)}};
  }
  // Only of mixtures.
  Reference reference(const Run& run) const override {
    const RuleSpec spec = rule_spec(run.values);
    return spec.model == modlab::models::RuleModel::kMonolithic
               ? Reference{}
               : Reference{"random gates", random_gates(spec.task.rules, spec.modules)};
  }
};

}  // namespace

const Experiment& rules() {
  static const Rules kKind;
  return kKind;
}

}  // namespace modlab::experiments

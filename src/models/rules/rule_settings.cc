#include "models/rules/rule_settings.h"

#include <limits>

#include "models/training_settings-inl.h"

namespace modlab::models {
namespace {

using settings::Word;
using tasks::RuleFamily;
using tasks::RuleOutput;

constexpr Word<RuleFamily> kFamilies[] = {
    {"rules-mlp", RuleFamily::kMlp}, {"rules-mha", RuleFamily::kMha}, {"rules-rnn", RuleFamily::kRnn}};
constexpr Word<RuleModel> kRuleModels[] = {{"monolithic", RuleModel::kMonolithic},
                                           {"modular", RuleModel::kModular},
                                           {"modular-op", RuleModel::kModularOp},
                                           {"gt-modular", RuleModel::kGtModular}};
constexpr Word<RuleOutput> kOutputs[] = {{"regression", RuleOutput::kRegression},
                                         {"classification", RuleOutput::kClassification}};

bool is_sequence(const RuleSpec& spec) { return spec.task.family != RuleFamily::kMlp; }
bool is_search(const RuleSpec& spec) { return spec.task.family == RuleFamily::kMha; }
bool is_system(const RuleSpec& spec) { return spec.task.family == RuleFamily::kRnn; }
bool has_modules(const RuleSpec& spec) { return spec.model != RuleModel::kMonolithic; }

SpecSetting<RuleSpec> only_for(SpecSetting<RuleSpec> made, const char* of, bool (*applies)(const RuleSpec&)) {
  made.setting.of = of;
  made.applies = applies;
  return made;
}

int whole(const char* name, const std::string& text, long long low, long long high) {
  return static_cast<int>(
      read_integer(name, text, low, high, fmt::format("a whole number from {} to {}", low, high).c_str()));
}

std::vector<SpecSetting<RuleSpec>> task_rows() {
  return {
      row<RuleSpec>(
          "task", "NAME",
          "rules-mlp: sums of two numbers; rules-mha: searches among tokens; rules-rnn: switching systems", kNamed,
          [](RuleSpec& spec, const std::string& text) { spec.task.family = read_word("task", text, kFamilies); },
          [](const RuleSpec& spec) { return json(word_for(spec.task.family, kFamilies)); },
          {.role = Setting::Role::kTask}),
      row<RuleSpec>(
          "model", "NAME", join_text(rule_model_names(), ", "), kNamed,
          [](RuleSpec& spec, const std::string& text) { spec.model = read_word("model", text, kRuleModels); },
          [](const RuleSpec& spec) { return json(word_for(spec.model, kRuleModels)); },
          {.role = Setting::Role::kModel}),
      row<RuleSpec>(
          "task_type", "WORD", "regression: numbers; classification: whether they are at least 0", kNamed,
          [](RuleSpec& spec, const std::string& text) { spec.task.output = read_word("task_type", text, kOutputs); },
          [](const RuleSpec& spec) { return json(word_for(spec.task.output, kOutputs)); }),
      row<RuleSpec>(
          "rules", "N", "how many rules there are", kNamed,
          [](RuleSpec& spec, const std::string& text) { spec.task.rules = whole("rules", text, 1, tasks::kMaxRules); },
          [](const RuleSpec& spec) { return json(spec.task.rules); }, {.label = "rules"}),
      row<RuleSpec>(
          "task_seed", "N", "which rules: the published ones are 0 to 4", kFree,
          [](RuleSpec& spec, const std::string& text) {
            spec.task.task_seed = static_cast<std::uint32_t>(
                read_integer("task_seed", text, 0, std::numeric_limits<std::uint32_t>::max(), "a whole number from 0"));
          },
          [](const RuleSpec& spec) { return json(spec.task.task_seed); }, {.role = Setting::Role::kSplit}),
      only_for(row<RuleSpec>(
                   "search", "1|2", "search by numbers or by directions", kPlain,
                   [](RuleSpec& spec, const std::string& text) { spec.task.search = whole("search", text, 1, 2); },
                   [](const RuleSpec& spec) { return json(spec.task.search); }),
               "rules-mha", &is_search),
      only_for(row<RuleSpec>(
                   "dim", "N", "numbers in input and state", kPlain,
                   [](RuleSpec& spec, const std::string& text) {
                     spec.task.dimension = whole("dim", text, 1, tasks::kMaxRuleDimension);
                   },
                   [](const RuleSpec& spec) { return json(spec.task.dimension); }),
               "rules-rnn", &is_system),
      only_for(row<RuleSpec>(
                   "order", "N", "how many states the next one depends on", kPlain,
                   [](RuleSpec& spec, const std::string& text) {
                     spec.task.order = whole("order", text, 1, tasks::kMaxRuleOrder);
                   },
                   [](const RuleSpec& spec) { return json(spec.task.order); }),
               "rules-rnn", &is_system),
      only_for(row<RuleSpec>(
                   "length", "N", "tokens of a training sample", kPlain,
                   [](RuleSpec& spec, const std::string& text) { spec.length = whole("length", text, 1, 1000); },
                   [](const RuleSpec& spec) { return json(spec.length); }),
               "rules-mha, rules-rnn", &is_sequence),
  };
}

std::vector<SpecSetting<RuleSpec>> training_rows() {
  return {
      row<RuleSpec>(
          "width", "N", "units of the encoder; other layers are four times as wide", kNamed,
          [](RuleSpec& spec, const std::string& text) { spec.width = whole("width", text, 1, 1024); },
          [](const RuleSpec& spec) { return json(spec.width); }),
      only_for(row<RuleSpec>(
                   "modules", "N", "modules of a mixture; where nothing is said, as many as rules", kSize,
                   [](RuleSpec& spec, const std::string& text) {
                     spec.modules = whole("modules", text, 1, tasks::kMaxRules);
                   },
                   [](const RuleSpec& spec) { return json(spec.modules); }),
               "modular, modular-op, gt-modular", &has_modules),
      row<RuleSpec>(
          "iterations", "N",
          "training steps, each on fresh samples: 100000, of sequences 500000, where nothing is said", kNamed,
          [](RuleSpec& spec, const std::string& text) {
            spec.iterations = whole("iterations", text, 1, 1'000'000'000);
          },
          [](const RuleSpec& spec) { return json(spec.iterations); }),
      row<RuleSpec>(
          "batch_size", "N", "samples of a training step", kNamed | kTuned,
          [](RuleSpec& spec, const std::string& text) { spec.batch_size = whole("batch_size", text, 1, 65536); },
          [](const RuleSpec& spec) { return json(spec.batch_size); }, {.label = "batch size"}),
      row<RuleSpec>(
          "lr", "X", "learning rate", kNamed | kTuned,
          [](RuleSpec& spec, const std::string& text) { spec.lr = read_rate("lr", text); },
          [](const RuleSpec& spec) { return json(spec.lr); }, {.label = "learning rate"}),
      row<RuleSpec>(
          "clip", "X", "the longest that a step's gradient may be, 0: as long as it is; rules-rnn has 1", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.clip = read_real("clip", text, 0, 1e9, "a number that is not negative");
          },
          [](const RuleSpec& spec) { return json(spec.clip); }),
      row<RuleSpec>(
          "evaluate_every", "N", "training steps between two points of the curve", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.evaluate_every = whole("evaluate_every", text, 1, 1'000'000'000);
          },
          [](const RuleSpec& spec) { return json(spec.evaluate_every); }),
      row<RuleSpec>(
          "test_samples", "N", "samples of each test: 100000, of sequences 2560, where nothing is said", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.test_samples = whole("test_samples", text, 1, 100'000'000);
          },
          [](const RuleSpec& spec) { return json(spec.test_samples); }),
      row<RuleSpec>(
          "seed", "N", "training seed: initial weights and samples", kFree,
          [](RuleSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                                "a whole number that is not negative"));
          },
          [](const RuleSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
  };
}

}  // namespace

const settings::SpecTable<RuleSpec>& rule_settings() {
  static const settings::SpecTable<RuleSpec> kTable = [] {
    std::vector<SpecSetting<RuleSpec>> rows = task_rows();
    for (SpecSetting<RuleSpec>& made : training_rows()) {
      rows.push_back(std::move(made));
    }
    return settings::SpecTable<RuleSpec>(std::move(rows));
  }();
  return kTable;
}

std::vector<std::string> rule_task_names() {
  std::vector<std::string> names;
  for (const Word<RuleFamily>& word : kFamilies) {
    names.emplace_back(word.text);
  }
  return names;
}

std::vector<std::string> rule_model_names() {
  std::vector<std::string> names;
  for (const Word<RuleModel>& word : kRuleModels) {
    names.emplace_back(word.text);
  }
  return names;
}

RuleSpec resolve(RuleSpec spec) {
  const bool sequence = is_sequence(spec);
  spec.modules = spec.modules > 0 && has_modules(spec) ? spec.modules : spec.task.rules;
  spec.length = sequence ? spec.length : 1;
  if (is_search(spec) && spec.length < 2) {
    throw ConfigError("length 1 leaves a token nobody to look at; rules-mha needs at least 2");
  }
  spec.iterations = spec.iterations > 0 ? spec.iterations : (sequence ? 500'000 : 100'000);
  spec.clip = spec.clip >= 0 ? spec.clip : (is_system(spec) ? 1 : 0);
  spec.test_samples = spec.test_samples > 0 ? spec.test_samples : (sequence ? 2560 : 100'000);
  rule_shape(tasks::draw_rules(spec.task), spec.model, spec.modules, spec.width);
  return spec;
}

}  // namespace modlab::models

#include "models/rules/rule_settings.h"

#include <algorithm>
#include <array>
#include <iterator>
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
                                           {"gt-modular", RuleModel::kGtModular},
                                           {"modular-scorer", RuleModel::kScorer}};
constexpr Word<GateKind> kGates[] = {
    {"soft", GateKind::kSoft}, {"top-k", GateKind::kTopK}, {"straight-through", GateKind::kStraightThrough}};
constexpr Word<OracleKind> kOracles[] = {
    {"rule", OracleKind::kRule}, {"permuted", OracleKind::kPermuted}, {"random", OracleKind::kRandom}};
constexpr Word<RuleOutput> kOutputs[] = {{"regression", RuleOutput::kRegression},
                                         {"classification", RuleOutput::kClassification}};

bool is_sequence(const RuleSpec& spec) { return spec.task.family != RuleFamily::kMlp; }
bool is_search(const RuleSpec& spec) { return spec.task.family == RuleFamily::kMha; }
bool is_system(const RuleSpec& spec) { return spec.task.family == RuleFamily::kRnn; }
bool has_modules(const RuleSpec& spec) { return spec.model != RuleModel::kMonolithic; }
bool is_oracle(const RuleSpec& spec) { return spec.model == RuleModel::kGtModular; }
bool learns_gates(const RuleSpec& spec) { return has_modules(spec) && !is_oracle(spec); }

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
               "mixtures", &has_modules),
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
            spec.clip = read_real("clip", text, 0, 1e9, "a number from 0 to 1000000000");
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

SpecSetting<RuleSpec> gate_row(const char* name, const char* value, std::string help,
                               void (*set)(RuleSpec& spec, const std::string& text),
                               json (*get)(const RuleSpec& spec)) {
  return only_for(row<RuleSpec>(name, value, std::move(help), kPlain, set, get), "learned gates", &learns_gates);
}

std::vector<SpecSetting<RuleSpec>> gate_rows() {
  return {
      gate_row(
          "gate", "soft|top-k|straight-through",
          "all modules count by their shares; the top_k largest shares alone; the largest one alone, and gradients as "
          "if all had",
          [](RuleSpec& spec, const std::string& text) { spec.gates.kind = read_word("gate", text, kGates); },
          [](const RuleSpec& spec) { return json(word_for(spec.gates.kind, kGates)); }),
      gate_row(
          "top_k", "N", "modules that count where gate is top-k",
          [](RuleSpec& spec, const std::string& text) { spec.gates.top_k = whole("top_k", text, 1, tasks::kMaxRules); },
          [](const RuleSpec& spec) { return json(spec.gates.top_k); }),
      gate_row(
          "gumbel", "X", "Gumbel noise on the scores of modules while training, times X",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.gumbel = read_real("gumbel", text, 0, 1e6, "a number from 0 to 1000000");
          },
          [](const RuleSpec& spec) { return json(spec.gates.gumbel); }),
      gate_row(
          "temperature", "X", "scores of modules are divided by it",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.temperature = read_real("temperature", text, 1e-6, 1e6, "a number from 0.000001 to 1000000");
          },
          [](const RuleSpec& spec) { return json(spec.gates.temperature); }),
      gate_row(
          "cooling", "X", "temperature at the end of training, in times of that at its beginning",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.cooling = read_real("cooling", text, 1e-6, 1e6, "a number from 0.000001 to 1000000");
          },
          [](const RuleSpec& spec) { return json(spec.gates.cooling); }),
      gate_row(
          "balance", "X", "weight of a loss that asks for modules of equal use",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.balance = read_real("balance", text, 0, 1e6, "a number from 0 to 1000000");
          },
          [](const RuleSpec& spec) { return json(spec.gates.balance); }),
      gate_row(
          "entropy_bonus", "X", "weight of what rewards spread gates; below 0: decided ones",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.entropy = read_real("entropy_bonus", text, -1e6, 1e6, "a number from -1000000 to 1000000");
          },
          [](const RuleSpec& spec) { return json(spec.gates.entropy); }),
      gate_row(
          "gate_rate", "X", "learning rate of what makes the gates, in times of lr",
          [](RuleSpec& spec, const std::string& text) { spec.gate_rate = read_rate("gate_rate", text); },
          [](const RuleSpec& spec) { return json(spec.gate_rate); }),
      gate_row(
          "oracle_steps", "N", "training steps in which the rule chooses the module, before the gates do",
          [](RuleSpec& spec, const std::string& text) {
            spec.gates.oracle_steps = whole("oracle_steps", text, 0, 1'000'000'000);
          },
          [](const RuleSpec& spec) { return json(spec.gates.oracle_steps); }),
      only_for(
          row<RuleSpec>(
              "oracle", "rule|permuted|random",
              "the module that an oracle takes: the rule's own; always that of another rule; any, for each sample",
              kPlain,
              [](RuleSpec& spec, const std::string& text) { spec.gates.oracle = read_word("oracle", text, kOracles); },
              [](const RuleSpec& spec) { return json(word_for(spec.gates.oracle, kOracles)); }),
          "gt-modular", &is_oracle),
  };
}

std::vector<SpecSetting<RuleSpec>> data_rows() {
  return {
      row<RuleSpec>(
          "rule_skew", "X", "training samples follow rule r (from 1) as often as r^-X; tests have all alike", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.rule_skew = read_real("rule_skew", text, 0, 100, "a number from 0 to 100");
          },
          [](const RuleSpec& spec) { return json(spec.rule_skew); }),
      row<RuleSpec>(
          "rule_noise", "SHARE", "how often a sample says another rule than the one it follows", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.rule_noise = read_real("rule_noise", text, 0, 1, "a share from 0 to 1");
          },
          [](const RuleSpec& spec) { return json(spec.rule_noise); }),
      row<RuleSpec>(
          "train_samples", "N", "samples to train on, over and over; 0: fresh ones in every step", kPlain,
          [](RuleSpec& spec, const std::string& text) {
            spec.train_samples = whole("train_samples", text, 0, 10'000'000);
          },
          [](const RuleSpec& spec) { return json(spec.train_samples); }),
  };
}

}  // namespace

const settings::SpecTable<RuleSpec>& rule_settings() {
  static const settings::SpecTable<RuleSpec> kTable = [] {
    std::vector<SpecSetting<RuleSpec>> rows = task_rows();
    for (std::vector<SpecSetting<RuleSpec>>& group : std::array{training_rows(), gate_rows(), data_rows()}) {
      std::ranges::move(group, std::back_inserter(rows));
    }
    return settings::SpecTable<RuleSpec>(std::move(rows));
  }();
  return kTable;
}

std::vector<std::string> rule_model_names() {
  std::vector<std::string> names;
  for (const Word<RuleModel>& word : kRuleModels) {
    names.emplace_back(word.text);
  }
  return names;
}

RuleSpec resolve(RuleSpec spec) {
  spec.modules = spec.modules > 0 && has_modules(spec) ? spec.modules : spec.task.rules;
  spec = resolve_data(spec);
  if (spec.gates.kind == GateKind::kTopK && spec.gates.top_k > spec.modules) {
    throw ConfigError(fmt::format("top_k is {}, but there are {} modules", spec.gates.top_k, spec.modules));
  }
  rule_shape(spec);
  return spec;
}

RuleSpec resolve_data(RuleSpec spec) {
  const bool sequence = is_sequence(spec);
  spec.length = sequence ? spec.length : 1;
  if (is_search(spec) && spec.length < 2) {
    throw ConfigError("length 1 leaves a token nobody to look at; rules-mha needs at least 2");
  }
  spec.iterations = spec.iterations > 0 ? spec.iterations : (sequence ? 500'000 : 100'000);
  spec.clip = spec.clip >= 0 ? spec.clip : (is_system(spec) ? 1 : 0);
  spec.test_samples = spec.test_samples > 0 ? spec.test_samples : (sequence ? 2560 : 100'000);
  constexpr double kMostNumbers = 1 << 28;
  if (is_system(spec) &&
      1.0 * spec.task.rules * (spec.task.order + 1) * spec.task.dimension * spec.task.dimension > kMostNumbers / 2) {
    throw ConfigError(
        fmt::format("{} rules with dim {} and order {} take more than a gigabyte; make one of them smaller",
                    spec.task.rules, spec.task.dimension, spec.task.order));
  }
  if (1.0 * spec.train_samples * spec.length * (spec.task.inputs() + spec.task.outputs()) > kMostNumbers) {
    throw ConfigError(fmt::format("{} training samples take more than a gigabyte; take fewer, or 0 for fresh ones",
                                  spec.train_samples));
  }
  return spec;
}

RuleShape rule_shape(const RuleSpec& spec) {
  RuleShape shape = rule_shape(spec.task, spec.model, spec.modules, spec.width);
  shape.gates = spec.gates;
  shape.gates.iterations = spec.iterations;
  shape.gates.seed = spec.seed;
  return shape;
}

}  // namespace modlab::models

#include "cli/data_rules.h"

#include <fmt/format.h>

#include <optional>

#include "cli/arguments.h"
#include "cli/option_values.h"
#include "cli/terminal.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/npz.h"
#include "models/rules/rule_arrays.h"

namespace modlab::cli {
namespace {

using tasks::RuleFamily;
using tasks::RuleOutput;

constexpr long long kMostNumbers = 500'000'000;  // of inputs, so that the file stays below what npz can hold

const std::vector<Option>& rules_options() {
  static const std::vector<Option> kOptions = {
      {"family",
       Arity::kOne,
       "mlp|mha|rnn",
       "sums of two numbers, searches among tokens, switching linear systems",
       {}},
      {"out", Arity::kOne, "FILE", "the npz file to write", {}},
      {"rules", Arity::kOne, "N", "how many rules there are (2)", {}},
      {"task-seed", Arity::kOne, "N", "which rules: the published ones are 0 to 4 (0)", {}},
      {"task-type",
       Arity::kOne,
       "regression|classification",
       "numbers, or whether they are at least 0 (regression)",
       {}},
      {"samples", Arity::kOne, "N", "how many samples, or sets or sequences (1000)", {}},
      {"length", Arity::kOne, "N", "mha, rnn: tokens of each (10)", {}},
      {"search", Arity::kOne, "1|2", "mha: search by numbers or by directions (1)", {}},
      {"dim", Arity::kOne, "N", "rnn: numbers in input and state (32)", {}},
      {"order", Arity::kOne, "N", "rnn: states that the next one depends on (1)", {}},
      {"scale", Arity::kOne, "X", "a factor for everything drawn; 2 is the published out-of-distribution data (1)", {}},
      {"seed", Arity::kOne, "N", "which samples (0)", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_rules_help() {
  print_help(
      "modlab data rules: samples of data whose rule is known, for other programs\n\n"
      "  modlab data rules --family mlp --rules 8 --samples 10000 --out sums.npz\n"
      "  modlab data rules --family rnn --rules 4 --task-seed 0 --samples 1000 --out sequences.npz\n\n"
      "The file has `inputs` (the last columns say the rule), `rules` (from 0) and `targets`, and the rules "
      "themselves:\n"
      "`alpha` and `beta`, or `A`, `B` and `w`.\n\n{}",
      describe_options(rules_options()));
}

// What means nothing to a family is refused.
void need_family(const Arguments& arguments, const char* name, bool has) {
  if (arguments.has(name) && !has) {
    throw ConfigError(
        fmt::format("--{} means nothing to this family; `modlab data rules --help` says which has it", name));
  }
}

tasks::RuleTaskSettings settings_from(const Arguments& arguments) {
  if (!arguments.has("family")) {
    throw ConfigError("name a family of rules: --family mlp, mha or rnn");
  }
  tasks::RuleTaskSettings settings;
  settings.family = one_of<RuleFamily>(
      arguments, "family", "", {{"mlp", RuleFamily::kMlp}, {"mha", RuleFamily::kMha}, {"rnn", RuleFamily::kRnn}});
  settings.output =
      one_of<RuleOutput>(arguments, "task-type", "regression",
                         {{"regression", RuleOutput::kRegression}, {"classification", RuleOutput::kClassification}});
  need_family(arguments, "search", settings.family == RuleFamily::kMha);
  need_family(arguments, "dim", settings.family == RuleFamily::kRnn);
  need_family(arguments, "order", settings.family == RuleFamily::kRnn);
  need_family(arguments, "length", settings.family != RuleFamily::kMlp);
  settings.rules = static_cast<int>(whole_number(arguments, "rules", 2, 1, tasks::kMaxRules));
  settings.task_seed = static_cast<std::uint32_t>(whole_number(arguments, "task-seed", 0, 0, 4'294'967'295));
  settings.search = static_cast<int>(whole_number(arguments, "search", 1, 1, 2));
  settings.dimension = static_cast<int>(whole_number(arguments, "dim", 32, 1, tasks::kMaxRuleDimension));
  settings.order = static_cast<int>(whole_number(arguments, "order", 1, 1, tasks::kMaxRuleOrder));
  return settings;
}

}  // namespace

int run_data_rules(std::span<const std::string> words) {
  const Arguments arguments(words, rules_options());
  if (arguments.has("help")) {
    print_rules_help();
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(fmt::format("modlab data rules does not take '{}'", arguments.positional().front()));
  }
  const tasks::RuleTaskSettings settings = settings_from(arguments);
  if (!arguments.has("out")) {
    throw ConfigError("name the file to write: --out samples.npz");
  }
  const bool is_sequence = settings.family != RuleFamily::kMlp;
  models::RuleDraw draw{.use = models::SampleUse::kExport};
  draw.samples = static_cast<int>(whole_number(arguments, "samples", 1000, 1, 100'000'000));
  // A token that looks for others needs one.
  const int shortest = settings.family == RuleFamily::kMha ? 2 : 1;
  draw.length = is_sequence ? static_cast<int>(whole_number(arguments, "length", 10, shortest, 100'000)) : 1;
  const std::string scale = arguments.text("scale", "1");
  const std::optional<double> factor = parse_real(scale);
  if (!factor || !(*factor > 0 && *factor <= 1e6)) {
    throw ConfigError(fmt::format("--scale takes a number above 0 and up to 1000000, not '{}'", scale));
  }
  draw.scale = static_cast<float>(*factor);
  const long long seed = whole_number(arguments, "seed", 0, 0, 9'000'000'000'000'000'000);

  const tasks::RuleTask task = tasks::draw_rules(settings);
  const long long numbers = static_cast<long long>(draw.samples) * draw.length * (task.inputs() + task.outputs());
  if (numbers > kMostNumbers) {
    throw ConfigError(fmt::format(
        "{} samples of {} numbers are more than one file holds here; take fewer, and another --seed for more",
        draw.samples, static_cast<long long>(draw.length) * (task.inputs() + task.outputs())));
  }
  models::RuleBatch batch;
  models::RuleSampler(task, engine::solo::kernels_for(engine::kernels().target), static_cast<std::uint64_t>(seed))
      .draw(draw, batch);
  io::write_file(arguments.text("out"), io::encode_npz(models::rule_arrays(task, batch)));
  fmt::print("{}: {}{} of {} inputs, {} by {}\n", arguments.text("out"), counted(draw.samples, "sample"),
             is_sequence ? fmt::format(" of {}", counted(draw.length, "token")) : "", task.inputs(),
             counted(task.outputs(), "target"), counted(settings.rules, "rule"));
  return 0;
}

}  // namespace modlab::cli

#include "measures/flops.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/published_flags.h"
#include "cli/run_list.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "report/flops_json.h"
#include "report/flops_text.h"

namespace modlab::cli {
namespace {

using measures::Counting;

const std::vector<Option>& own_flops_options() {
  static const std::vector<Option> kOptions = {
      {"exact", Arity::kSwitch, "", "with --json: what this program computes, instead of the paper's count", {}},
      {"table", Arity::kSwitch, "", "the paper's Table 1, computed from shapes and compared with what is printed", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_flops_help(const Arguments& arguments) {
  print_help(
      "modlab flops: what training a network costs, without training it\n\n"
      "  modlab flops --task depth2 --model modular-shared --ratio 0.5 --batch-size 4 --epochs 100\n"
      "  modlab flops --table\n\n"
      "Takes the settings of `modlab train`, one value each.\n\n{}Output\n{}",
      describe_settings(arguments, false), describe_options(own_flops_options()));
}

experiments::Run one_run(const Arguments& arguments) {
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  const std::vector<experiments::Run> runs = runs_from(arguments);
  if (runs.size() != 1) {
    throw ConfigError(
        fmt::format("flops counts one network, but these settings make {}; give each setting one value", runs.size()));
  }
  return runs.front();
}

}  // namespace

int run_flops(std::span<const std::string> words) {
  std::vector<Option> options = setting_options();
  options.insert(options.end(), own_flops_options().begin(), own_flops_options().end());
  const std::vector<Option> published = published_options();
  options.insert(options.end(), published.begin(), published.end());
  const Arguments arguments(words, options);
  if (arguments.has("help")) {
    print_flops_help(arguments);
    return 0;
  }
  const experiments::Run run = one_run(arguments);
  if (arguments.is_on("table")) {
    fmt::print("{}", arguments.is_on("json") ? report::table_one_json().dump() + "\n" : report::table_one_text());
    return 0;
  }
  if (const experiments::Numbers size = run.kind->size_of(run); !size.empty()) {
    nlohmann::ordered_json whole = nlohmann::ordered_json::object();
    for (const auto& [name, value] : size) {
      whole[name] = static_cast<long long>(value);
      if (!arguments.is_on("json")) {
        fmt::print("{:<12} {:.0f}\n", name, value);
      }
    }
    if (arguments.is_on("json")) {
      fmt::print("{}\n", whole.dump());
    }
    return 0;
  }
  if (arguments.is_on("json")) {
    const Counting counting = arguments.is_on("exact") ? Counting::kExact : Counting::kPaper;
    fmt::print("{}\n", report::flops_json(report::flops_of(run, counting)));
    return 0;
  }
  fmt::print("{}", report::flops_text(run));
  return 0;
}

}  // namespace modlab::cli

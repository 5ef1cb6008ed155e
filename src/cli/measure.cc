#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/snapshot_option.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "measures/snapshot_measures.h"
#include "report/measures_json.h"
#include "report/measures_text.h"
#include "report/rule_network_text.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& measure_options() {
  static const std::vector<Option> kOptions = {
      snapshot_option(),
      {"relaxed", Arity::kSwitch, "", "also the edit distance that lets any node stand for any other, at a price", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_measure_help() {
  print_help(
      "modlab measure: how near a saved network is to the true structure, and what it cost\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0 --save nets\n"
      "  modlab measure nets/*.safetensors\n\n{}",
      describe_options(measure_options()));
}

template <typename Snapshot>
measures::SnapshotMeasures measured_of(const Snapshot& snapshot, bool with_relaxed) {
  return measures::measure_snapshot(snapshot, with_relaxed);
}
// There is no graph to be near to.
measures::RuleNetworkMeasures measured_of(const models::SavedRuleSnapshot& snapshot, bool /*with_relaxed*/) {
  return measures::measure_snapshot(snapshot);
}

}  // namespace

int run_measure(std::span<const std::string> words) {
  const Arguments arguments(words, measure_options());
  if (arguments.has("help")) {
    print_measure_help();
    return 0;
  }
  const std::string name = snapshot_name(arguments);
  for (std::size_t index = 0; index < arguments.positional().size(); ++index) {
    std::visit(
        [&](const auto& snapshot) {
          const auto measured = measured_of(snapshot, arguments.is_on("relaxed"));
          if (arguments.is_on("json")) {
            fmt::print("{}\n", report::measures_json(snapshot, measured).dump());
          } else {
            fmt::print("{}{}", index > 0 ? "\n" : "", report::measures_text(snapshot, measured));
          }
        },
        models::load_snapshot(arguments.positional()[index], name));
  }
  return 0;
}

}  // namespace modlab::cli

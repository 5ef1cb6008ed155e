#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/snapshot_option.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "models/saved_snapshot.h"
#include "report/network_json.h"
#include "report/network_text.h"
#include "report/rule_network_text.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& show_options() {
  static const std::vector<Option> kOptions = {
      snapshot_option(),
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_show_help() {
  print_help(
      "modlab show: what a saved network has learned\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0 --save nets\n"
      "  modlab show nets/*.safetensors\n\n{}",
      describe_options(show_options()));
}

}  // namespace

int run_show(std::span<const std::string> words) {
  const Arguments arguments(words, show_options());
  if (arguments.has("help")) {
    print_show_help();
    return 0;
  }
  const std::string name = snapshot_name(arguments);
  for (std::size_t index = 0; index < arguments.positional().size(); ++index) {
    const bool as_json = arguments.is_on("json");
    if (index > 0 && !as_json) {
      fmt::print("\n");
    }
    std::visit(
        [&](const auto& snapshot) {
          fmt::print("{}", as_json ? report::network_json(snapshot).dump() + "\n" : report::network_text(snapshot));
        },
        models::load_snapshot(arguments.positional()[index], name));
  }
  return 0;
}

}  // namespace modlab::cli

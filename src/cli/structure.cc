#include "measures/structure.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/network_files.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "report/structure_json.h"
#include "report/structure_text.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& structure_options() {
  static const std::vector<Option> kOptions = [] {
    std::vector<Option> list = {
        {"groups", Arity::kOne, "1,2;3,4", "sets of inputs to test: are they separate? Units count from 1", {}},
        {"output-groups", Arity::kOne, "1,2;3,4", "the outputs that belong with each set of inputs", {}},
        {"percent", Arity::kOne, "P", "count the units that carry so much of a layer's path products (default 90)", {}},
    };
    const std::vector<Option> of_files = network_file_options();
    list.insert(list.end(), of_files.begin(), of_files.end());
    list.push_back({"json", Arity::kSwitch, "", "print one JSON object for each network", {}});
    list.push_back({"help", Arity::kFlag, "", "this text", {}});
    return list;
  }();
  return kOptions;
}

void print_structure_help() {
  print_help(
      "modlab structure: how a network's weights join inputs and outputs\n\n"
      "  modlab train --task depth2 --model dense --seed 0 --save dense\n"
      "  modlab structure dense/*.safetensors\n"
      "  modlab structure dense/*.safetensors --groups \"1,2,3;4..6\" --output-groups \"1;2\"\n\n"
      "Reads networks of layers: JSON (one a line, or an array), what `modlab train --save` wrote, other safetensors,\n"
      "npz and TorchScript files with a matrix for each layer, and CSV with layer,from,to,weight; all also compressed "
      "with\n"
      "gzip.\n"
      "\n{}",
      describe_options(structure_options()));
}

// "3" or "4..6", from 1.
std::vector<int> parse_units(const std::string& text, const std::string& option) {
  const std::size_t dots = text.find("..");
  const auto first = parse_integer(trim(text.substr(0, dots)));
  const auto last = dots == std::string::npos ? first : parse_integer(trim(text.substr(dots + 2)));
  constexpr long long kMost = 1'000'000;
  if (!first || !last || *first < 1 || *last < *first || *last > kMost) {
    throw ConfigError(
        fmt::format("--{} takes sets of units such as 1,2;3,4 or 1..4;5..8, counted from 1, not '{}'", option, text));
  }
  std::vector<int> units;
  for (long long unit = *first; unit <= *last; ++unit) {
    units.push_back(static_cast<int>(unit - 1));
  }
  return units;
}

std::vector<std::vector<int>> parse_groups(const Arguments& arguments, const std::string& option) {
  std::vector<std::vector<int>> groups;
  for (const std::string& set : split_text(arguments.text(option), ';')) {
    std::vector<int>& group = groups.emplace_back();
    for (const std::string& text : split_text(set, ',')) {
      const std::vector<int> units = parse_units(text, option);
      group.insert(group.end(), units.begin(), units.end());
    }
  }
  return groups;
}

std::optional<measures::Groups> groups_from(const Arguments& arguments) {
  if (arguments.has("groups") != arguments.has("output-groups")) {
    throw ConfigError("--groups and --output-groups belong together: each set of inputs has its set of outputs");
  }
  if (!arguments.has("groups")) {
    return std::nullopt;
  }
  return measures::Groups{parse_groups(arguments, "groups"), parse_groups(arguments, "output-groups")};
}

double percent_from(const Arguments& arguments) {
  const std::string text = arguments.text("percent", "90");
  const std::optional<double> percent = parse_real(text);
  if (!percent || !(*percent > 0 && *percent <= 100)) {
    throw ConfigError(fmt::format("--percent takes a number above 0 and up to 100, not '{}'", text));
  }
  return *percent;
}

}  // namespace

int run_structure(std::span<const std::string> words) {
  const Arguments arguments(words, structure_options());
  if (arguments.has("help")) {
    print_structure_help();
    return 0;
  }
  const std::optional<measures::Groups> groups = groups_from(arguments);
  const double percent = percent_from(arguments);
  const bool as_json = arguments.is_on("json");
  const std::vector<models::NamedNetwork> networks = networks_from(arguments);
  for (std::size_t index = 0; index < networks.size(); ++index) {
    const models::NamedNetwork& named = networks[index];
    const measures::Structure structure =
        measures::structure_of(named.network, groups, percent, as_json || report::fits_a_page(named.network));
    if (as_json) {
      // A file's name, which may have become the id, may be in any encoding.
      fmt::print("{}\n", report::structure_json(named, structure)
                             .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    } else {
      fmt::print("{}{}", index > 0 ? "\n" : "", report::structure_text(named, structure));
    }
  }
  return 0;
}

}  // namespace modlab::cli

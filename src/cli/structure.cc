#include "measures/structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/network_files.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/json_text.h"
#include "models/layered_network_file.h"

namespace modlab::cli {
namespace {

using models::LayeredNetwork;
using models::NamedNetwork;
using nlohmann::ordered_json;

// A table that is larger than this is for programs to read.
constexpr std::size_t kMostRows = 32;
constexpr std::size_t kMostColumns = 16;

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
  fmt::print(
      "modlab structure: how a network's weights join inputs and outputs\n\n"
      "  modlab train --task depth2 --model dense --seed 0 --save dense\n"
      "  modlab structure dense/*.safetensors\n"
      "  modlab structure dense/*.safetensors --groups \"1,2,3;4..6\" --output-groups \"1;2\"\n\n"
      "Reads networks of layers: JSON (one a line, or an array), what `modlab train --save` wrote, other safetensors\n"
      "and npz files with a matrix for each layer, and CSV with layer,from,to,weight; all also compressed with gzip.\n"
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

struct Structure {
  std::vector<std::vector<double>> products;  // empty where nobody looks at them
  std::optional<measures::Separation> separation;
  std::vector<int> shares;  // of the hidden layers
};

Structure structure_of(const LayeredNetwork& network, const std::optional<measures::Groups>& groups, double percent,
                       bool with_products) {
  Structure structure;
  if (with_products || groups) {
    structure.products = measures::path_products(network);
  }
  if (groups) {
    structure.separation = measures::separation(structure.products, *groups);
  }
  for (int layer = 1; layer + 1 < network.layers(); ++layer) {
    structure.shares.push_back(measures::units_for_share(measures::path_sums(network, layer), percent));
  }
  return structure;
}

bool fits_a_page(const LayeredNetwork& network) {
  return static_cast<std::size_t>(network.widths.front()) <= kMostRows &&
         static_cast<std::size_t>(network.widths.back()) <= kMostColumns;
}

void print_products(const std::vector<std::vector<double>>& products) {
  fmt::print("Path products of inputs (rows) with outputs (columns)\n     ");
  for (std::size_t output = 0; output < products.front().size(); ++output) {
    fmt::print(" {:>10}", output + 1);
  }
  fmt::print("\n");
  for (std::size_t input = 0; input < products.size(); ++input) {
    fmt::print("{:>5}", input + 1);
    for (const double product : products[input]) {
      fmt::print(" {:>10.5g}", product);
    }
    fmt::print("\n");
  }
}

std::vector<int> counted_from_one(std::vector<int> units) {
  std::ranges::transform(units, units.begin(), [](int unit) { return unit + 1; });
  return units;
}

// "1,2", or how many where that is too long for a column.
std::string units_text(const std::vector<int>& units) {
  constexpr std::size_t kMost = 14;
  const std::string text = fmt::format("{}", fmt::join(counted_from_one(units), ","));
  return text.size() <= kMost ? text : fmt::format("{} from {}", units.size(), units.front() + 1);
}

const char* verdict(const std::optional<measures::WelchTest>& test) {
  return !test ? "cannot be tested" : measures::is_significant(test) ? "smaller" : "not shown";
}

void print_tests(const measures::Groups& groups, const measures::Separation& separation) {
  fmt::print("\nAre products with the outputs of other groups smaller? (Welch's t test, one-sided, 5 %)\n");
  fmt::print("  {:<14} {:<14} {:>10} {:>10} {:>9} {:>7} {:>9}  verdict\n", "inputs", "their outputs", "others", "own",
             "t", "df", "p");
  for (std::size_t group = 0; group < separation.tests.size(); ++group) {
    fmt::print("  {:<14} {:<14}", units_text(groups.inputs[group]), units_text(groups.outputs[group]));
    const std::optional<measures::WelchTest>& test = separation.tests[group];
    if (test) {
      fmt::print(" {:>10.5g} {:>10.5g} {:>9.2f} {:>7.2f} {:>9.3g}", test->mean_first, test->mean_second, test->t,
                 test->df, test->p);
    } else {
      fmt::print(" {:>10} {:>10} {:>9} {:>7} {:>9}", "-", "-", "-", "-", "-");
    }
    fmt::print("  {}\n", verdict(test));
  }
  const bool is_testable = std::ranges::all_of(separation.tests, [](const auto& test) { return test.has_value(); });
  fmt::print("{}\n", separation.is_separable() ? "The groups are separate: every test says so."
                     : is_testable             ? "The groups are not shown to be separate."
                                               : "A test needs two pairs with own outputs and two with others, and "
                                                 "products that are finite.");
}

void print_text(const NamedNetwork& named, const Structure& structure, const std::optional<measures::Groups>& groups,
                double percent) {
  const LayeredNetwork& network = named.network;
  fmt::print("{}: layers {}, {} of {} edges\n\n", named.id, fmt::join(network.widths, "-"), network.edge_count(),
             network.full_edge_count());
  if (fits_a_page(network)) {
    print_products(structure.products);
  } else {
    fmt::print("Path products of {} inputs with {} outputs: --json prints them\n", network.widths.front(),
               network.widths.back());
  }
  if (groups) {
    print_tests(*groups, *structure.separation);
  }
  for (std::size_t layer = 0; layer < structure.shares.size(); ++layer) {
    fmt::print("{}N{:g} of hidden layer {}: {} of {} units\n", layer == 0 ? "\n" : "", percent, layer + 1,
               structure.shares[layer], network.widths[layer + 1]);
  }
}

ordered_json test_json(const measures::Groups& groups, const measures::Separation& separation, std::size_t group) {
  ordered_json object = {{"inputs", counted_from_one(groups.inputs[group])},
                         {"outputs", counted_from_one(groups.outputs[group])}};
  const std::optional<measures::WelchTest>& test = separation.tests[group];
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  object["mean_others"] = io::number_or_null(test ? test->mean_first : kNothing);
  object["mean_own"] = io::number_or_null(test ? test->mean_second : kNothing);
  object["t"] = io::number_or_null(test ? test->t : kNothing);
  object["df"] = io::number_or_null(test ? test->df : kNothing);
  object["p"] = io::number_or_null(test ? test->p : kNothing);
  object["smaller"] = test ? ordered_json(measures::is_significant(test)) : ordered_json();
  return object;
}

void print_json(const NamedNetwork& named, const Structure& structure, const std::optional<measures::Groups>& groups,
                double percent) {
  ordered_json output = {{"id", named.id},
                         {"widths", named.network.widths},
                         {"edges", named.network.edge_count()},
                         {"total_edges", named.network.full_edge_count()},
                         {"path_products", structure.products}};
  if (groups) {
    output["tests"] = ordered_json::array();
    for (std::size_t group = 0; group < structure.separation->tests.size(); ++group) {
      output["tests"].push_back(test_json(*groups, *structure.separation, group));
    }
    output["separable"] = structure.separation->is_separable();
  }
  output["percent"] = percent;
  output["units_for_percent"] = structure.shares;
  // A file's name, which may have become the id, may be in any encoding.
  fmt::print("{}\n", output.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
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
  const std::vector<NamedNetwork> networks = networks_from(arguments);
  for (std::size_t index = 0; index < networks.size(); ++index) {
    const NamedNetwork& named = networks[index];
    const Structure structure = structure_of(named.network, groups, percent, as_json || fits_a_page(named.network));
    if (as_json) {
      print_json(named, structure, groups, percent);
      continue;
    }
    fmt::print("{}", index > 0 ? "\n" : "");
    print_text(named, structure, groups, percent);
  }
  return 0;
}

}  // namespace modlab::cli

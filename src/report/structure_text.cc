#include "report/structure_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/units_from_one.h"

namespace modlab::report {
namespace {

using models::LayeredNetwork;

// A table that is larger than this is for programs to read.
constexpr std::size_t kMostRows = 32;
constexpr std::size_t kMostColumns = 16;

std::string products_text(const std::vector<std::vector<double>>& products) {
  std::string text = "Path products of inputs (rows) with outputs (columns)\n     ";
  for (std::size_t output = 0; output < products.front().size(); ++output) {
    text += fmt::format(" {:>10}", output + 1);
  }
  text += "\n";
  for (std::size_t input = 0; input < products.size(); ++input) {
    text += fmt::format("{:>5}", input + 1);
    for (const double product : products[input]) {
      text += fmt::format(" {:>10.5g}", product);
    }
    text += "\n";
  }
  return text;
}

// "1,2", or how many where that is too long for a column.
std::string group_text(const std::vector<int>& units) {
  constexpr std::size_t kMost = 14;
  const std::string text = fmt::format("{}", fmt::join(units_from_one(units), ","));
  return text.size() <= kMost ? text : fmt::format("{} from {}", units.size(), units.front() + 1);
}

const char* verdict_text(const std::optional<measures::WelchTest>& test) {
  return !test ? "cannot be tested" : measures::is_significant(test) ? "smaller" : "not shown";
}

std::string tests_text(const measures::Groups& groups, const measures::Separation& separation) {
  std::string text = "\nAre products with the outputs of other groups smaller? (Welch's t test, one-sided, 5 %)\n";
  text += fmt::format("  {:<14} {:<14} {:>10} {:>10} {:>9} {:>7} {:>9}  verdict\n", "inputs", "their outputs", "others",
                      "own", "t", "df", "p");
  for (std::size_t group = 0; group < separation.tests.size(); ++group) {
    text += fmt::format("  {:<14} {:<14}", group_text(groups.inputs[group]), group_text(groups.outputs[group]));
    const std::optional<measures::WelchTest>& test = separation.tests[group];
    if (test) {
      text += fmt::format(" {:>10.5g} {:>10.5g} {:>9.2f} {:>7.2f} {:>9.3g}", test->mean_first, test->mean_second,
                          test->t, test->df, test->p);
    } else {
      text += fmt::format(" {:>10} {:>10} {:>9} {:>7} {:>9}", "-", "-", "-", "-", "-");
    }
    text += fmt::format("  {}\n", verdict_text(test));
  }
  const bool is_testable = std::ranges::all_of(separation.tests, [](const auto& test) { return test.has_value(); });
  if (separation.is_separable()) {
    return text + "The groups are separate: every test says so.\n";
  }
  return text + (is_testable ? "The groups are not shown to be separate.\n"
                             : "A test needs two pairs with own outputs and two with others, and products that are "
                               "finite.\n");
}

}  // namespace

bool fits_a_page(const LayeredNetwork& network) {
  return static_cast<std::size_t>(network.widths.front()) <= kMostRows &&
         static_cast<std::size_t>(network.widths.back()) <= kMostColumns;
}

std::string structure_text(const models::NamedNetwork& named, const measures::Structure& structure) {
  const LayeredNetwork& network = named.network;
  std::string text = fmt::format("{}: layers {}, {} of {} edges\n\n", named.id, fmt::join(network.widths, "-"),
                                 network.edge_count(), network.full_edge_count());
  if (fits_a_page(network) && !structure.products.empty()) {
    text += products_text(structure.products);
  } else {
    text += fmt::format("Path products of {} inputs with {} outputs: --json prints them\n", network.widths.front(),
                        network.widths.back());
  }
  if (structure.groups) {
    text += tests_text(*structure.groups, *structure.separation);
  }
  for (std::size_t layer = 0; layer < structure.shares.size(); ++layer) {
    text += fmt::format("{}N{:g} of hidden layer {}: {} of {} units\n", layer == 0 ? "\n" : "", structure.percent,
                        layer + 1, structure.shares[layer], network.widths[layer + 1]);
  }
  return text;
}

}  // namespace modlab::report

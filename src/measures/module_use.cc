#include "measures/module_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>

#include "core/errors.h"
#include "core/numpy_random.h"
#include "measures/assignment.h"

namespace modlab::measures {
namespace {

constexpr double kInformationEpsilon = 1e-8;  // eq. (19), in the published code
constexpr double kDeadShare = 0.01;           // of an equal share
constexpr int kMostKept = 32;                 // rules, as many as are published

void find_shares(const ModuleUse& use, std::span<const double> frequencies, std::vector<double>& shares) {
  shares.assign(static_cast<std::size_t>(use.modules()), 0);
  for (int rule = 0; rule < use.rules(); ++rule) {
    for (int module = 0; module < use.modules(); ++module) {
      shares[static_cast<std::size_t>(module)] += frequencies[static_cast<std::size_t>(rule)] * use.at(rule, module);
    }
  }
}

// Rules with modules of their own, so that as much use as possible lies on the pairs.
std::vector<int> best_pairs(const ModuleUse& use) {
  constexpr double kUnits = 1e12;  // the search works with whole numbers
  const bool more_rules = use.rules() > use.modules();
  const int rows = std::min(use.rules(), use.modules());
  const int columns = std::max(use.rules(), use.modules());
  std::vector<std::int64_t> weights;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      weights.push_back(std::llround(kUnits * (more_rules ? use.at(column, row) : use.at(row, column))));
    }
  }
  Assignment assignment;
  assignment.maximise(weights, rows, columns);
  std::vector<int> module_of_rule(static_cast<std::size_t>(use.rules()), -1);
  for (int row = 0; row < rows; ++row) {
    const int column = assignment.column_of(row);
    module_of_rule[static_cast<std::size_t>(more_rules ? column : row)] = more_rules ? row : column;
  }
  return module_of_rule;
}

double alignment_of(const ModuleUse& use, const std::vector<int>& module_of_rule) {
  double paired = 0;
  for (int rule = 0; rule < use.rules(); ++rule) {
    const int module = module_of_rule[static_cast<std::size_t>(rule)];
    paired += module < 0 ? 0 : use.at(rule, module);
  }
  return 1 - paired / std::min(use.rules(), use.modules());
}

double inverse_information(const ModuleUse& use, const std::vector<double>& shares) {
  const int fewer = std::min(use.rules(), use.modules());
  if (fewer < 2) {
    return 0;
  }
  const double rule_share = 1.0 / use.rules();
  double information = 0;
  for (int rule = 0; rule < use.rules(); ++rule) {
    for (int module = 0; module < use.modules(); ++module) {
      const double joint = rule_share * use.at(rule, module);
      const double apart = rule_share * shares[static_cast<std::size_t>(module)];
      information += joint * std::log(joint / (apart + kInformationEpsilon) + kInformationEpsilon);
    }
  }
  // The small number in the published formula leads a little beyond what is possible.
  return std::clamp(1 - information / std::log(fewer), 0.0, 1.0);
}

// As sorted_distance, of lists that may be sorted.
double distance_of_sorted(std::vector<double>& first, std::vector<double>& second) {
  const std::size_t size = std::max(first.size(), second.size());
  first.resize(size);
  second.resize(size);
  std::ranges::sort(first, std::greater<>());
  std::ranges::sort(second, std::greater<>());
  double distance = 0;
  for (std::size_t place = 0; place < size; ++place) {
    distance += std::abs(first[place] - second[place]);
  }
  return distance / 2;
}

// What pairs do not share, and what has no pair.
double matched_distance(std::span<const double> frequencies, std::span<const double> shares,
                        const std::vector<int>& module_of_rule, const std::vector<bool>& is_paired) {
  double distance = 0;
  for (std::size_t rule = 0; rule < frequencies.size(); ++rule) {
    const int module = module_of_rule[rule];
    distance += std::abs(frequencies[rule] - (module < 0 ? 0 : shares[static_cast<std::size_t>(module)]));
  }
  for (std::size_t module = 0; module < shares.size(); ++module) {
    distance += is_paired[module] ? 0 : shares[module];
  }
  return distance / 2;
}

using Frequencies = std::vector<std::vector<double>>;  // [draw][rule]

Frequencies draw_all(int rules) {
  Frequencies draws;
  for (std::uint32_t seed = 0; seed < kFrequencyDraws; ++seed) {
    draws.push_back(drawn_frequencies(rules, seed));
  }
  return draws;
}

// Drawing takes longer than all that is measured with them, and a study measures many networks with few rules.
const Frequencies& kept_draws(int rules) {
  static std::array<std::once_flag, kMostKept + 1> drawn;
  static std::array<Frequencies, kMostKept + 1> kept;
  const auto place = static_cast<std::size_t>(rules);
  std::call_once(drawn[place], [&] { kept[place] = draw_all(rules); });
  return kept[place];
}

// Memory is asked for once, not for every draw: a study measures many networks.
void add_adaptations(const ModuleUse& use, const Frequencies& draws, UseMeasures& found) {
  std::vector<bool> is_paired(static_cast<std::size_t>(use.modules()));
  for (const int module : found.module_of_rule) {
    if (module >= 0) {
      is_paired[static_cast<std::size_t>(module)] = true;
    }
  }
  std::vector<double> shares;
  std::vector<double> sorted_rules;
  std::vector<double> sorted_shares;
  for (const std::vector<double>& frequencies : draws) {
    find_shares(use, frequencies, shares);
    sorted_rules = frequencies;
    sorted_shares = shares;
    found.adaptation += distance_of_sorted(sorted_rules, sorted_shares) / kFrequencyDraws;
    found.adaptation_matched +=
        matched_distance(frequencies, shares, found.module_of_rule, is_paired) / kFrequencyDraws;
  }
}

double mean_entropy(const ModuleUse& use) {
  if (use.modules() < 2) {
    return 0;
  }
  double sum = 0;
  for (int rule = 0; rule < use.rules(); ++rule) {
    for (const double share : use.row(rule)) {
      sum -= share > 0 ? share * std::log(share) : 0;
    }
  }
  return sum / use.rules() / std::log(use.modules());
}

}  // namespace

ModuleUse::ModuleUse(int rules, int modules, std::vector<double> values)
    : rules_(rules), modules_(modules), values_(std::move(values)) {
  if (rules < 1 || modules < 1) {
    throw ConfigError("there is no rule or no module: every line is a rule, every column a module");
  }
  if (rules > kMostRules || modules > kMostRules) {
    throw ConfigError(
        fmt::format("{} rules and {} modules; at most {} of each are possible here", rules, modules, kMostRules));
  }
  for (int rule = 0; rule < rules; ++rule) {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(rule) * modules;
    const auto end = begin + modules;
    if (!std::all_of(begin, end, [](double value) { return std::isfinite(value) && value >= 0; })) {
      throw ConfigError(fmt::format("rule {} has a negative or infinite use, or one that is no number", rule + 1));
    }
    const double sum = std::accumulate(begin, end, 0.0);
    if (!(sum > 0) || !std::isfinite(sum)) {
      throw ConfigError(fmt::format("rule {} uses no module at all: leave it out, or say what it uses", rule + 1));
    }
    std::transform(begin, end, begin, [&](double value) { return value / sum; });
  }
}

std::span<const double> ModuleUse::row(int rule) const {
  return std::span(values_).subspan(static_cast<std::size_t>(rule) * static_cast<std::size_t>(modules_),
                                    static_cast<std::size_t>(modules_));
}

ModuleUse uniform_use(int rules, int modules) {
  return {rules, modules,
          std::vector<double>(static_cast<std::size_t>(rules) * static_cast<std::size_t>(modules), 1.0)};
}

UseMeasures measure_use(const ModuleUse& use) {
  UseMeasures found;
  const std::vector<double> equal(static_cast<std::size_t>(use.rules()), 1.0 / use.rules());
  const double equal_share = 1.0 / use.modules();
  find_shares(use, equal, found.share);
  found.module_of_rule = best_pairs(use);
  found.alignment = alignment_of(use, found.module_of_rule);
  found.imi = inverse_information(use, found.share);
  found.entropy = mean_entropy(use);
  if (use.modules() > 1) {
    for (const double share : found.share) {
      found.collapse_avg += std::max(0.0, equal_share - share) / (1 - equal_share);
      found.dead_modules += is_dead(share, use.modules()) ? 1 : 0;
    }
    found.collapse_worst = 1 - *std::ranges::min_element(found.share) / equal_share;
  }
  add_adaptations(use, use.rules() <= kMostKept ? kept_draws(use.rules()) : draw_all(use.rules()), found);
  return found;
}

std::span<const UseMeasure> use_measures() {
  static constexpr std::array<UseMeasure, 7> kMeasures = {{
      {"collapse_avg", "collapse, average", "share that modules lack to an equal one", &UseMeasures::collapse_avg},
      {"collapse_worst", "collapse, worst", "the same of the least used module", &UseMeasures::collapse_worst},
      {"alignment", "alignment", "use outside the best pairing of rules with modules", &UseMeasures::alignment},
      {"adaptation", "adaptation", "distance of sorted use to sorted rule frequencies", &UseMeasures::adaptation},
      {"adaptation_matched", "adaptation, matched", "the same, paired by use instead of by size",
       &UseMeasures::adaptation_matched},
      {"imi", "inverse mutual information", "what use does not tell of the rule", &UseMeasures::imi},
      {"entropy", "entropy of the gates", "how many modules a rule uses: 0 one, 1 all alike", &UseMeasures::entropy},
  }};
  return kMeasures;
}

bool is_dead(double share, int modules) { return share < kDeadShare / modules; }

std::vector<double> drawn_frequencies(int rules, std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<double> drawn;
  for (int rule = 0; rule < rules; ++rule) {
    drawn.push_back(-std::log(1 - random.uniform()));
  }
  const double sum = std::accumulate(drawn.begin(), drawn.end(), 0.0);
  for (double& value : drawn) {
    value /= sum;
  }
  return drawn;
}

double sorted_distance(std::vector<double> first, std::vector<double> second) {
  return distance_of_sorted(first, second);
}

}  // namespace modlab::measures

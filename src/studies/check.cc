#include "studies/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/text.h"
#include "measures/flops.h"
#include "studies/check_text.h"

namespace modlab::studies {
namespace {

using measures::Interval;

// A comparison leaves out where both sides are saturated or both at the base rate; one-sided p below 0.1.
constexpr double kSaturated = 99;
constexpr double kNearBaseRate = 2;
constexpr double kSignificance = 0.1;

// A measure on one side of a check: for each combination of the shared axes, the units' values.
struct Side {
  std::map<std::string, UnitValues> values;  // by key
  std::map<std::string, double> base_rates;
};

std::vector<const Cell*> cells_of(const CheckContext& context, const Selector& side) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : context.findings.cells(context.claim.tune)) {
    if (context.findings.matches(cell, side) && context.findings.matches(cell, context.where)) {
      cells.push_back(&cell);
    }
  }
  return cells;
}

// Axes on which the sides are matched: the shared ones but those that a side names.
std::vector<std::string> key_axes(const CheckContext& context) {
  std::vector<std::string> axes;
  for (const std::string& axis : context.claim.over) {
    const bool named =
        std::ranges::any_of(context.check.sides, [&](const Selector& side) { return side.contains(axis); });
    if (!named && !context.check.best.contains(axis)) {
      axes.push_back(axis);
    }
  }
  return axes;
}

UnitValues measured(const std::vector<const Cell*>& cells, const experiments::Measure& measure) {
  UnitValues values = unit_values(cells, measure.name);
  if (measure.log) {
    for (auto& [unit, value] : values) {
      value = std::log10(std::max(value, 1.0));
    }
  }
  return values;
}

std::map<std::string, std::vector<const Cell*>> by_axes(const Findings& findings, const std::vector<const Cell*>& cells,
                                                        const std::vector<std::string>& axes) {
  std::map<std::string, std::vector<const Cell*>> groups;
  for (const Cell* cell : cells) {
    std::string key;
    for (const std::string& axis : axes) {
      key += findings.value(*cell, axis) + "\n";
    }
    groups[key].push_back(cell);
  }
  return groups;
}

Side side_of(const CheckContext& context, const Selector& selector, const experiments::Measure& measure,
             const std::vector<std::string>& axes) {
  Side side;
  for (const auto& [key, cells] : by_axes(context.findings, cells_of(context, selector), axes)) {
    UnitValues values = measured(cells, measure);
    if (!values.empty()) {
      side.values[key] = std::move(values);
      side.base_rates[key] = context.findings.base_rate(*cells.front(), measure);
    }
  }
  return side;
}

// Sides may be of different tasks: each has its own base rate.
bool says_nothing(const experiments::Measure& measure, double a, double base_rate_a, double b, double base_rate_b) {
  return measure.is_accuracy() &&
         ((a > kSaturated && b > kSaturated) || (a < base_rate_a + kNearBaseRate && b < base_rate_b + kNearBaseRate));
}

// Mean over keys for each unit that all keys have.
std::vector<double> unit_means(const std::vector<UnitValues>& keys) {
  std::vector<double> means;
  for (const auto& [unit, first] : keys.front()) {
    double sum = 0;
    bool complete = true;
    for (const UnitValues& values : keys) {
      const auto found = values.find(unit);
      complete = complete && found != values.end();
      sum += complete ? found->second : 0;
    }
    if (complete) {
      means.push_back(sum / static_cast<double>(keys.size()));
    }
  }
  return means;
}

// What is left of the evidence once `threshold` is the zero, seen from the side of the expectation.
Verdict judge(const Check& check, Interval interval) {
  interval.estimate -= check.threshold;
  interval.low -= check.threshold;
  interval.high -= check.threshold;
  switch (check.expect) {
    case Check::Expect::kComparable:
      if (std::abs(interval.estimate) < check.margin) {
        return Verdict::kHolds;
      }
      return interval.low > check.margin || interval.high < -check.margin ? Verdict::kFails : Verdict::kUndecided;
    case Check::Expect::kLess:
    case Check::Expect::kAtMost:
      interval = {-interval.estimate, -interval.high, -interval.low, interval.p_below, interval.p};
      break;
    default:
      break;
  }
  const bool strict = check.expect == Check::Expect::kGreater || check.expect == Check::Expect::kLess;
  if (interval.estimate > 0 && interval.p < kSignificance) {
    return Verdict::kHolds;
  }
  if (!strict && interval.low >= -check.margin) {
    return Verdict::kHolds;
  }
  const double floor = strict ? 0 : -check.margin;
  return interval.estimate < floor && interval.p_below < kSignificance ? Verdict::kFails : Verdict::kUndecided;
}

void conclude(const CheckContext& context, CheckResult& result, const Interval& interval) {
  result.interval = interval;
  result.is_factor = context.measure != nullptr && context.measure->log;
  const Check::Expect expect = context.check.expect;
  if (expect != Check::Expect::kComparable) {
    result.p = expect == Check::Expect::kLess || expect == Check::Expect::kAtMost ? interval.p_below : interval.p;
  }
  result.verdict = judge(context.check, interval);
}

Interval shifted(Interval interval, double by) {
  interval.estimate += by;
  interval.low += by;
  interval.high += by;
  return interval;
}

// Of values shifted by the threshold, so that p speaks of the threshold; the interval is shifted back.
Interval bootstrap_against(std::vector<double> values, double threshold) {
  for (double& value : values) {
    value -= threshold;
  }
  return shifted(measures::bootstrap_mean(values), threshold);
}

// The same for any statistic.
Interval bootstrap_against(std::size_t units, const std::function<double(std::span<const std::size_t>)>& statistic,
                           double threshold) {
  return shifted(
      measures::bootstrap(units, [&](std::span<const std::size_t> drawn) { return statistic(drawn) - threshold; }),
      threshold);
}

void compare(const CheckContext& context, CheckResult& result) {
  const std::vector<std::string> axes = key_axes(context);
  const Side a = side_of(context, context.check.sides[0], *context.measure, axes);
  const Side b = side_of(context, context.check.sides[1], *context.measure, axes);
  std::vector<UnitValues> differences;
  std::vector<UnitValues> all;
  for (const auto& [key, values] : a.values) {
    const auto other = b.values.find(key);
    if (other == b.values.end()) {
      continue;
    }
    UnitValues difference;
    for (const auto& [unit, value] : values) {
      if (const auto paired = other->second.find(unit); paired != other->second.end()) {
        difference[unit] = value - paired->second;
      }
    }
    if (difference.empty()) {
      continue;
    }
    all.push_back(difference);
    if (!says_nothing(*context.measure, mean_of(values), a.base_rates.at(key), mean_of(other->second),
                      b.base_rates.at(key))) {
      differences.push_back(std::move(difference));
    }
  }
  if (all.empty()) {
    return;
  }
  const std::size_t left_out = all.size() - differences.size();
  if (left_out > 0) {
    result.note =
        fmt::format("{} of {} points left out: both saturated or both at the base rate", left_out, all.size());
  }
  const bool says_nothing_anywhere = differences.empty();
  if (says_nothing_anywhere) {
    result.note = "both saturated or both at the base rate everywhere";
    differences = std::move(all);
  }
  const std::vector<double> means = unit_means(differences);
  result.runs = static_cast<int>(means.size());
  if (!means.empty()) {
    conclude(context, result, bootstrap_against(means, context.check.threshold));
  }
  // That they are alike such points can show, that one is above the other they cannot.
  const Check::Expect expect = context.check.expect;
  if (says_nothing_anywhere && (expect == Check::Expect::kGreater || expect == Check::Expect::kLess)) {
    result.verdict = Verdict::kUndecided;
  }
}

void value(const CheckContext& context, CheckResult& result) {
  const Side side = side_of(context, context.check.sides[0], *context.measure, key_axes(context));
  std::vector<UnitValues> keys;
  for (const auto& [key, values] : side.values) {
    keys.push_back(values);
  }
  const std::vector<double> means = keys.empty() ? std::vector<double>{} : unit_means(keys);
  result.runs = static_cast<int>(means.size());
  if (!means.empty()) {
    conclude(context, result, bootstrap_against(means, context.check.threshold));
  }
  if (result.is_factor) {
    // One side alone is no factor but a number of its own.
    for (double* number : {&result.interval->estimate, &result.interval->low, &result.interval->high}) {
      *number = std::pow(10, *number);
    }
    result.is_factor = false;
  }
}

// A measure along a numeric axis: [x] -> units' values, averaged over whatever else the side covers.
std::map<double, UnitValues> along(const CheckContext& context, const Selector& side) {
  std::map<double, std::vector<const Cell*>> cells;
  for (const Cell* cell : cells_of(context, side)) {
    if (const auto x = parse_real(context.findings.value(*cell, context.check.along)); x) {
      cells[*x].push_back(cell);
    }
  }
  std::map<double, UnitValues> values;
  for (const auto& [x, group] : cells) {
    if (UnitValues measured_values = measured(group, *context.measure); !measured_values.empty()) {
      values[x] = std::move(measured_values);
    }
  }
  return values;
}

std::vector<Unit> shared_units(const std::vector<const std::map<double, UnitValues>*>& sides) {
  std::vector<Unit> units;
  for (const auto& first : sides.front()->begin()->second) {
    const bool everywhere = std::ranges::all_of(sides, [&](const auto* side) {
      return std::ranges::all_of(*side, [&](const auto& entry) { return entry.second.contains(first.first); });
    });
    if (everywhere) {
      units.push_back(first.first);
    }
  }
  return units;
}

void trend(const CheckContext& context, CheckResult& result) {
  const std::map<double, UnitValues> values = along(context, context.check.sides[0]);
  if (values.size() < 2) {
    return;
  }
  const double range = values.rbegin()->first - values.begin()->first;
  std::vector<double> changes;
  for (const Unit& unit : shared_units({&values})) {
    std::vector<double> x;
    std::vector<double> y;
    for (const auto& [at, units] : values) {
      x.push_back(at);
      y.push_back(units.at(unit));
    }
    changes.push_back(measures::slope(x, y) * range);
  }
  result.runs = static_cast<int>(changes.size());
  if (!changes.empty()) {
    conclude(context, result, bootstrap_against(changes, context.check.threshold));
  }
}

double reaching(const std::map<double, UnitValues>& values, const std::vector<Unit>& units,
                std::span<const std::size_t> drawn, double level) {
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [at, by_unit] : values) {
    double sum = 0;
    for (const std::size_t index : drawn) {
      sum += by_unit.at(units[index]);
    }
    x.push_back(at);
    y.push_back(sum / static_cast<double>(drawn.size()));
  }
  // Never reached: one step beyond the end.
  const double step = x.size() > 1 ? x[1] - x[0] : 0;
  return measures::first_reaching(x, y, level).value_or(x.back() + step);
}

void reaches(const CheckContext& context, CheckResult& result) {
  const std::map<double, UnitValues> a = along(context, context.check.sides[0]);
  const std::map<double, UnitValues> b = along(context, context.check.sides[1]);
  if (a.empty() || b.empty()) {
    return;
  }
  const std::vector<Unit> units = shared_units({&a, &b});
  if (units.empty()) {
    return;
  }
  std::vector<std::size_t> each(units.size());
  for (std::size_t index = 0; index < each.size(); ++index) {
    each[index] = index;
  }
  const double first = reaching(a, units, each, context.check.level);
  const double second = reaching(b, units, each, context.check.level);
  const auto text = [](double at, const std::map<double, UnitValues>& values) {
    return at > values.rbegin()->first ? std::string("never") : fmt::format("{:.3g}", at);
  };
  result.note = fmt::format("{} % reached at {} and {}", context.check.level, text(first, a), text(second, b));
  result.runs = static_cast<int>(units.size());
  const auto difference = [&](std::span<const std::size_t> drawn) {
    return reaching(b, units, drawn, context.check.level) - reaching(a, units, drawn, context.check.level);
  };
  conclude(context, result, bootstrap_against(units.size(), difference, context.check.threshold));
  if (first > a.rbegin()->first && second > b.rbegin()->first) {
    result.verdict = Verdict::kUndecided;  // who would be the first cannot be seen
  }
  result.is_factor = false;
  result.unit = "of " + context.check.along;
}

void tracks(const CheckContext& context, CheckResult& result) {
  const std::vector<std::string> axes = key_axes(context);
  const Side a = side_of(context, context.check.sides[0], *context.measure, axes);
  const Side b =
      side_of(context, context.check.sides[0], *experiments::find_measure(context.check.other_measure), axes);
  std::set<Unit> all;
  for (const auto& [key, values] : a.values) {
    for (const auto& [unit, each] : values) {
      all.insert(unit);
    }
  }
  const std::vector<Unit> units(all.begin(), all.end());
  if (a.values.size() < 3 || units.empty()) {
    return;
  }
  result.runs = static_cast<int>(units.size());
  const auto mean = [&](const UnitValues& values, std::span<const std::size_t> drawn) {
    double sum = 0;
    int count = 0;
    for (const std::size_t index : drawn) {
      if (const auto found = values.find(units[index]); found != values.end()) {
        sum += found->second;
        ++count;
      }
    }
    return count > 0 ? sum / count : 0;
  };
  const auto correlation = [&](std::span<const std::size_t> drawn) {
    std::vector<double> x;
    std::vector<double> y;
    for (const auto& [key, values] : a.values) {
      if (const auto other = b.values.find(key); other != b.values.end()) {
        x.push_back(mean(values, drawn));
        y.push_back(mean(other->second, drawn));
      }
    }
    return measures::spearman(x, y);
  };
  conclude(context, result, bootstrap_against(units.size(), correlation, context.check.threshold));
  result.is_factor = false;
  result.unit = "rank correlation";
}

void best_at(const CheckContext& context, CheckResult& result) {
  std::vector<std::string> axes;
  for (const auto& [axis, values] : context.check.best) {
    axes.push_back(axis);
  }
  std::vector<UnitValues> others;
  std::vector<std::string> names;
  std::vector<const Cell*> best_cells;
  for (const auto& [key, cells] : by_axes(context.findings, cells_of(context, context.check.sides[0]), axes)) {
    if (context.findings.matches(*cells.front(), context.check.best)) {
      best_cells.insert(best_cells.end(), cells.begin(), cells.end());
    } else if (UnitValues values = measured(cells, *context.measure); !values.empty()) {
      others.push_back(std::move(values));
      std::vector<std::string> parts;
      for (const std::string& axis : axes) {
        parts.push_back(axis + " " + context.findings.value(*cells.front(), axis));
      }
      names.push_back(join_text(parts, ", "));
    }
  }
  if (others.empty()) {
    return;
  }
  const UnitValues best = measured(best_cells, *context.measure);
  std::vector<Unit> units;
  for (const auto& each : best) {
    if (std::ranges::all_of(others, [&](const UnitValues& values) { return values.contains(each.first); })) {
      units.push_back(each.first);
    }
  }
  if (units.empty()) {
    return;
  }
  result.runs = static_cast<int>(units.size());
  const auto mean = [&](const UnitValues& values, std::span<const std::size_t> drawn) {
    double sum = 0;
    for (const std::size_t index : drawn) {
      sum += values.at(units[index]);
    }
    return sum / static_cast<double>(drawn.size());
  };
  const auto better = [&](double a, double b) { return context.measure->higher_is_better ? a > b : a < b; };
  std::size_t runner_up = 0;
  for (std::size_t at = 1; at < others.size(); ++at) {
    runner_up = better(mean_of(others[at]), mean_of(others[runner_up])) ? at : runner_up;
  }
  result.note = fmt::format("best of the others: {}", names[runner_up]);
  const auto difference = [&](std::span<const std::size_t> drawn) {
    double nearest = mean(others.front(), drawn);
    for (const UnitValues& values : others) {
      const double each = mean(values, drawn);
      nearest = better(each, nearest) ? each : nearest;
    }
    return mean(best, drawn) - nearest;
  };
  conclude(context, result, bootstrap_against(units.size(), difference, context.check.threshold));
}

void every(const CheckContext& context, CheckResult& result) {
  int given = 0;
  int violating = 0;
  const auto has = [](const Record& record, const std::map<std::string, double>& measures_wanted) {
    return std::ranges::all_of(measures_wanted,
                               [&](const auto& entry) { return record.measure(entry.first) == entry.second; });
  };
  for (const Cell* cell : cells_of(context, context.check.sides[0])) {
    for (const Cell::Split& split : cell->splits) {
      for (const Record* record : split.runs) {
        if (has(*record, context.check.given)) {
          ++given;
          violating += has(*record, context.check.then) ? 0 : 1;
        }
      }
    }
  }
  result.runs = given;
  if (given == 0) {
    result.note = "no run meets the condition";
    return;
  }
  result.note = violating == 0 ? fmt::format("all {} such runs do", given)
                               : fmt::format("{} of {} such runs do not", violating, given);
  result.verdict = violating == 0 ? Verdict::kHolds : Verdict::kFails;
}

void flop_table(CheckResult& result) {
  int equal = 0;
  int entries = 0;
  for (const measures::TableOneRow& row : measures::table_one()) {
    for (const auto& [computed, printed] :
         {std::pair{row.computed.forward, row.printed.forward}, std::pair{row.computed.backward, row.printed.backward},
          std::pair{row.computed.update, row.printed.update}}) {
      ++entries;
      equal += computed == printed ? 1 : 0;
    }
  }
  result.runs = entries;
  result.note = fmt::format(
      "{} of {} entries as printed; the other one is misprinted, it leaves out the Boolean modules", equal, entries);
  // One entry of the paper is known to be wrong.
  result.verdict = entries - equal == 1 ? Verdict::kHolds : Verdict::kFails;
}

}  // namespace

CheckResult evaluate_check(const CheckContext& context) {
  CheckResult result;
  result.text = check_text(context);
  if (context.measure != nullptr) {
    result.unit = context.measure->unit == "%" ? "points" : context.measure->unit;
    if (context.check.kind == Check::Kind::kValue) {
      result.unit = context.measure->unit;
    }
  }
  switch (context.check.kind) {
    case Check::Kind::kCompare:
      compare(context, result);
      break;
    case Check::Kind::kTrend:
      trend(context, result);
      break;
    case Check::Kind::kValue:
      value(context, result);
      break;
    case Check::Kind::kReaches:
      reaches(context, result);
      break;
    case Check::Kind::kTracks:
      tracks(context, result);
      break;
    case Check::Kind::kBestAt:
      best_at(context, result);
      break;
    case Check::Kind::kEvery:
      every(context, result);
      break;
    case Check::Kind::kFlopTable:
      flop_table(result);
      break;
  }
  return result;
}

}  // namespace modlab::studies

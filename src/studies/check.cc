#include "studies/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/text.h"
#include "measures/flops.h"
#include "measures/statistics.h"
#include "studies/check_places.h"
#include "studies/check_text.h"
#include "studies/votes.h"

namespace modlab::studies {
namespace {

// A comparison leaves out where both sides are saturated or both at the base rate.
constexpr double kSaturated = 99;
constexpr double kNearBaseRate = 2;
// What is allowed is allowed to the last bit.
constexpr double kRounding = 1e-9;

void conclude(const CheckContext& context, CheckResult& result, Evidence evidence) {
  evidence.drawn = context.findings.split_word();
  const Judgements judgements = judge(evidence, result.expected);
  result.judgement = judgements.general;
  result.here = judgements.here;
  result.verdict = judgements.general.verdict;
  result.splits = evidence.splits;
  result.seeds = evidence.seeds;
  result.is_factor = context.measure != nullptr && context.measure->log;
}

bool conclude(const CheckContext& context, CheckResult& result, const Draws& draws, const Statistic& statistic) {
  const std::optional<Evidence> evidence = evidence_of(draws, statistic);
  if (evidence) {
    conclude(context, result, *evidence);
  }
  return evidence.has_value();
}

void for_each_number(CheckResult& result, const std::function<double(double number)>& change) {
  for (std::optional<Judgement>* judgement : {&result.judgement, &result.here}) {
    if (*judgement) {
      for (double* number : {&(*judgement)->mean, &(*judgement)->low, &(*judgement)->high}) {
        *number = change(*number);
      }
    }
  }
}

// Intervals do not go where there are no numbers.
void keep_within(CheckResult& result, const std::pair<double, double>& domain) {
  for_each_number(result, [&](double number) {
    return std::isfinite(number) ? std::clamp(number, domain.first, domain.second) : number;
  });
}

// There is a number, but it cannot tell.
void leave_undecided(CheckResult& result) {
  result.verdict = result.judgement->verdict = Verdict::kUndecided;
  if (result.here) {
    result.here->verdict = Verdict::kUndecided;
  }
}

// Sides may be of different tasks: each has its own base rate.
bool says_nothing(const CheckContext& context, const CheckPlace& a, const CheckPlace& b) {
  if (!context.measure->is_accuracy()) {
    return false;
  }
  const double mean_a = mean_of(measured(a, false));
  const double mean_b = mean_of(measured(b, false));
  const auto at_chance = [&](double mean, const CheckPlace& place) {
    return mean < context.findings.base_rate(*place.cells.front(), *context.measure) + kNearBaseRate;
  };
  return (mean_a > kSaturated && mean_b > kSaturated) || (at_chance(mean_a, a) && at_chance(mean_b, b));
}

void compare(const CheckContext& context, CheckResult& result) {
  const std::vector<std::string> axes = key_axes(context);
  const auto side = [&](std::size_t at) {
    return by_axes(context.findings, cells_of(context, context.check.sides[at]), axes);
  };
  const std::map<std::string, Cells> first = side(0);
  const std::map<std::string, Cells> second = side(1);
  std::vector<std::pair<CheckPlace, CheckPlace>> all;
  std::vector<std::pair<CheckPlace, CheckPlace>> telling;
  for (const auto& [key, cells] : first) {
    if (const auto other = second.find(key); other != second.end()) {
      const std::pair<CheckPlace, CheckPlace> pair{{cells, context.measure}, {other->second, context.measure}};
      if (!has_any(draws_at({pair.first, pair.second}))) {
        continue;
      }
      all.push_back(pair);
      if (!says_nothing(context, pair.first, pair.second)) {
        telling.push_back(pair);
      }
    }
  }
  if (all.empty()) {
    return;
  }
  const bool says_nothing_anywhere = telling.empty();
  if (says_nothing_anywhere) {
    result.note = "both saturated or both at the base rate everywhere";
    telling = all;
  } else if (telling.size() < all.size()) {
    result.covered = fmt::format("at {} of {} points", telling.size(), all.size());
    result.note = "at the others both are saturated or both at the base rate";
  }
  std::vector<CheckPlace> places;
  for (const auto& pair : telling) {
    places.push_back(pair.first);
  }
  for (const auto& pair : telling) {
    places.push_back(pair.second);
  }
  if (!conclude(context, result, draws_at(places), difference_of_places)) {
    return;
  }
  // That they are alike such points can show, that one is above the other they cannot.
  const Check::Expect expect = context.check.expect;
  if (says_nothing_anywhere && (expect == Check::Expect::kGreater || expect == Check::Expect::kLess)) {
    leave_undecided(result);
  }
}

// How many say yes where each says yes or no (100 or 0). Nothing where one says something between, as a trial does of
// several tied networks, and of accuracies: 100 % of many answers is no yes.
std::optional<int> count_yes(const experiments::Measure& measure, const std::vector<double>& numbers) {
  const auto yes = std::ranges::count(numbers, 100.0);
  const bool all_or_nothing = measure.is_yes_or_no && yes + std::ranges::count(numbers, 0.0) == std::ssize(numbers);
  return all_or_nothing ? std::optional(static_cast<int>(yes)) : std::nullopt;
}

// The trials at some places, each place by itself: as many successes as there are, otherwise the mean of the places.
Evidence evidence_of_trials(const std::vector<CheckPlace>& places) {
  std::vector<double> all;
  std::vector<measures::Stratum> strata;
  for (const CheckPlace& place : places) {
    std::vector<double> values;
    for (const auto& [unit, value] : measured(place, true)) {
      values.push_back(value);
    }
    all.insert(all.end(), values.begin(), values.end());
    const measures::MeanWithErrors mean = measures::combine({values});
    strata.push_back({mean.mean, mean.error_within * mean.error_within, mean.count});
  }
  Evidence evidence{.has_splits = false, .seeds = static_cast<int>(all.size())};
  if (const std::optional<int> yes = count_yes(*places.front().measure, all)) {
    evidence.general = measures::chance_of(*yes, evidence.seeds, 100);
  } else {
    evidence.general = places.size() == 1 ? measures::mean_of_draws(all) : measures::mean_of_strata(strata);
  }
  return evidence;
}

// Where some splits say yes and the others no, as when one network is chosen on each, the share of splits that say yes
// is a count: a mean of such numbers, however its interval is made, would end too high or too low.
void count_splits(const CheckContext& context, const Draws& draws, Evidence& evidence) {
  std::vector<double> numbers;
  for (const std::vector<double>& means : means_by_split(draws)) {
    numbers.push_back(mean_of_places(means));
  }
  if (const std::optional<int> yes = count_yes(*context.measure, numbers); yes && *yes > 0 && *yes < evidence.splits) {
    evidence.general = measures::chance_of(*yes, evidence.splits, 100);
  }
}

void value(const CheckContext& context, CheckResult& result) {
  std::vector<CheckPlace> places;
  for (const auto& [key, cells] :
       by_axes(context.findings, cells_of(context, context.check.sides[0]), key_axes(context))) {
    places.push_back({cells, context.measure});
  }
  std::erase_if(places, [](const CheckPlace& place) { return measured(place, false).empty(); });
  if (places.empty()) {
    return;
  }
  if (const Draws draws = draws_at(places); draws.has_splits) {
    if (std::optional<Evidence> evidence = evidence_of(draws, mean_of_places)) {
      count_splits(context, draws, *evidence);
      conclude(context, result, *evidence);
    }
  } else {
    conclude(context, result, evidence_of_trials(places));
  }
  if (result.is_factor) {
    // One side alone is no factor but a number of its own.
    for_each_number(result, [](double number) { return std::pow(10, number); });
    result.expected = {std::pow(10, result.expected.low), std::pow(10, result.expected.high)};
    result.is_factor = false;
  }
  if (context.measure->domain) {
    keep_within(result, *context.measure->domain);
  }
}

// The places of one side along the axis, where there are runs.
void add_places(const CheckContext& context, const Selector& side, std::vector<double>& x,
                std::vector<CheckPlace>& places) {
  for (const auto& [at, cells] : along(context, side)) {
    const CheckPlace place{cells, context.measure};
    if (!measured(place, false).empty()) {
      x.push_back(at);
      places.push_back(place);
    }
  }
}

// Of one side, or of how far the first is above the second where both have runs.
void trend(const CheckContext& context, CheckResult& result) {
  std::vector<std::vector<double>> x(context.check.sides.size());
  std::vector<std::vector<CheckPlace>> sides(x.size());
  for (std::size_t side = 0; side < x.size(); ++side) {
    add_places(context, context.check.sides[side], x[side], sides[side]);
  }
  std::vector<double> shared;
  std::ranges::copy_if(x.front(), std::back_inserter(shared), [&](double at) {
    return std::ranges::all_of(x, [&](const auto& other) { return std::ranges::find(other, at) != other.end(); });
  });
  if (shared.size() < 2) {
    return;
  }
  std::vector<CheckPlace> places;
  for (std::size_t side = 0; side < x.size(); ++side) {
    for (const double at : shared) {
      places.push_back(sides[side][static_cast<std::size_t>(std::ranges::find(x[side], at) - x[side].begin())]);
    }
  }
  if (context.check.even) {
    std::iota(shared.begin(), shared.end(), 0.0);
  }
  conclude(context, result, draws_at(places), [&](std::span<const double> y) {
    std::vector<double> height(y.begin(), y.begin() + std::ssize(shared));
    for (std::size_t at = shared.size(); at < y.size(); ++at) {
      height[at - shared.size()] -= y[at];
    }
    return measures::slope(shared, height) * (shared.back() - shared.front());
  });
}

// The least lead counts: over the strongest of the others. On these very splits there is no verdict: votes go by steps,
// and leaving one seed out says nothing of how far they are from the next.
void votes(const CheckContext& context, CheckResult& result) {
  std::vector<Cells> sides;
  for (const Selector& side : context.check.sides) {
    sides.push_back(cells_of(context, side));
  }
  const Contests contests(context.findings, sides, key_axes(context), context.check.measures);
  if (!has_any(contests.draws())) {
    return;
  }
  Evidence evidence = *evidence_of(contests.draws(), contests.lead(0, 1));
  evidence.general = measures::smallest_mean(sides.size() - 1, [&](std::size_t which, double tail) {
    return evidence_of(contests.draws(), contests.lead(0, which + 1), tail)->general;
  });
  evidence.here.reset();
  conclude(context, result, evidence);
  result.is_factor = false;
  result.unit = "points";
  keep_within(result, {-100, 100});
  Votes all;
  for (const Votes& split : contests.by_split()) {
    all.add(split);
  }
  std::vector<std::string> parts;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    parts.push_back(fmt::format("{} {}", side_text(context.check.sides[side]), all.won[side]));
  }
  result.note =
      fmt::format("of {}: {}, {}", counted(all.contests, "contest"), join_text(parts, ", "), counted(all.tied, "tie"));
}

// Never reached: one step beyond the end.
double reaching(std::span<const double> x, std::span<const double> y, double level) {
  const double step = x.size() > 1 ? x[1] - x[0] : 0;
  return measures::first_reaching(x, y, level - kRounding).value_or(x.back() + step);
}

void reaches(const CheckContext& context, CheckResult& result) {
  std::vector<double> x;
  std::vector<CheckPlace> places;
  add_places(context, context.check.sides[0], x, places);
  const std::size_t first_count = places.size();
  add_places(context, context.check.sides[1], x, places);
  if (first_count == 0 || places.size() == first_count) {
    return;
  }
  const std::span<const double> all_x(x);
  const std::span<const double> first_x = all_x.first(first_count);
  const std::span<const double> second_x = all_x.subspan(first_count);
  const double level = context.check.level;
  const Draws draws = draws_at(places);
  const auto difference = [&](std::span<const double> y) {
    return reaching(second_x, y.subspan(first_count), level) - reaching(first_x, y.first(first_count), level);
  };
  if (!conclude(context, result, draws, difference)) {
    return;
  }
  result.is_factor = false;
  result.unit = "of " + context.check.along;
  // Means over everything, for the reader.
  std::vector<double> means;
  std::ranges::transform(places, std::back_inserter(means),
                         [](const CheckPlace& place) { return mean_of(measured(place, false)); });
  const std::span<const double> all_means(means);
  const double first = reaching(first_x, all_means.first(first_count), level);
  const double second = reaching(second_x, all_means.subspan(first_count), level);
  const auto text = [](double at, std::span<const double> axis) {
    return at > axis.back() ? std::string("never") : fmt::format("{:.3g}", at);
  };
  result.note = fmt::format("the means reach {} % at {} and {}", level, text(first, first_x), text(second, second_x));
  if (first > first_x.back() && second > second_x.back()) {
    leave_undecided(result);  // who would be the first cannot be seen
  }
}

void tracks(const CheckContext& context, CheckResult& result) {
  const experiments::Measure* other = experiments::find_measure(context.check.other_measure);
  std::vector<CheckPlace> places;
  std::vector<CheckPlace> others;
  for (const auto& [key, cells] :
       by_axes(context.findings, cells_of(context, context.check.sides[0]), key_axes(context))) {
    const CheckPlace place{cells, context.measure};
    const CheckPlace other_place{cells, other};
    if (!measured(place, false).empty() && !measured(other_place, false).empty()) {
      places.push_back(place);
      others.push_back(other_place);
    }
  }
  if (places.size() < 3) {
    return;
  }
  places.insert(places.end(), others.begin(), others.end());
  conclude(context, result, draws_at(places), [](std::span<const double> values) {
    const std::size_t half = values.size() / 2;
    return measures::spearman(values.first(half), values.subspan(half));
  });
  result.is_factor = false;
  result.unit = "rank correlation";
  keep_within(result, {-1, 1});
}

// The named values against each of the others: the least lead counts.
void best_at(const CheckContext& context, CheckResult& result) {
  std::vector<std::string> axes;
  for (const auto& [axis, values] : context.check.best) {
    axes.push_back(axis);
  }
  CheckPlace best{{}, context.measure};
  std::vector<CheckPlace> others;
  for (const auto& [key, cells] : by_axes(context.findings, cells_of(context, context.check.sides[0]), axes)) {
    if (context.findings.matches(*cells.front(), context.check.best)) {
      best.cells.insert(best.cells.end(), cells.begin(), cells.end());
    } else if (const CheckPlace place{cells, context.measure}; !measured(place, false).empty()) {
      others.push_back(place);
    }
  }
  // A lead is positive, whatever is better.
  const double sign = context.measure->higher_is_better ? 1 : -1;
  const Statistic lead = [&](std::span<const double> values) { return sign * (values[0] - values[1]); };
  std::vector<Draws> against;
  const CheckPlace* runner_up = nullptr;
  double least_lead = 0;
  Evidence evidence;
  for (const CheckPlace& other : others) {
    const Draws draws = draws_at({best, other});
    if (const std::optional<Evidence> one = evidence_of(draws, lead); one) {
      if (runner_up == nullptr || one->general.mean < least_lead) {
        runner_up = &other;
        least_lead = one->general.mean;
        evidence = *one;
      }
      against.push_back(draws);
    }
  }
  if (runner_up == nullptr) {
    return;
  }
  const auto least = [&](const std::function<measures::Estimate(const Evidence&)>& part) {
    const measures::Estimate smallest = measures::smallest_mean(
        against.size(), [&](std::size_t which, double tail) { return part(*evidence_of(against[which], lead, tail)); });
    return sign > 0 ? smallest : measures::negated(smallest);
  };
  const bool has_here = evidence.here.has_value();
  evidence.general = least([](const Evidence& one) { return one.general; });
  if (has_here) {
    evidence.here = least([](const Evidence& one) { return *one.here; });
  }
  conclude(context, result, evidence);
  std::vector<std::string> parts;
  for (const std::string& axis : axes) {
    parts.push_back(axis + " " + context.findings.value(*runner_up->cells.front(), axis));
  }
  result.note = "best of the others: " + join_text(parts, ", ");
}

// One run that does not is enough to refute the sentence; without one it holds as far as there were draws to refute it.
void every(const CheckContext& context, CheckResult& result) {
  const auto has = [](const Record& record, const std::map<std::string, double>& measures_wanted) {
    return std::ranges::all_of(measures_wanted,
                               [&](const auto& entry) { return record.measure(entry.first) == entry.second; });
  };
  Draws draws;
  int given = 0;
  int violating = 0;
  const Cells cells = cells_of(context, context.check.sides[0]);
  for (std::size_t at = 0; at < cells.size(); ++at) {
    for (const Cell::Split& split : cells[at]->splits) {
      draws.has_splits = !split.name.empty();
      for (std::size_t run = 0; run < split.runs.size(); ++run) {
        const Record& record = *split.runs[run];
        if (has(record, context.check.given)) {
          const bool violates = !has(record, context.check.then);
          draws.units[{split.number, split.repetition(run), at}] = {violates ? 100.0 : 0.0};
          ++given;
          violating += violates ? 1 : 0;
        }
      }
    }
  }
  if (given == 0) {
    result.note = "no run meets the condition";
    return;
  }
  result.unit = "%";
  conclude(context, result,
           draws.has_splits
               ? *evidence_of(draws, mean_of_places)
               : Evidence{.general = measures::chance_of(violating, given, 100), .has_splits = false, .seeds = given});
  keep_within(result, {0, 100});
  result.note = violating == 0 ? fmt::format("all {} such runs do", given)
                               : fmt::format("{} of {} such runs do not", violating, given);
  const auto decide = [&](Judgement& judgement, bool is_enough) {
    judgement.p_wrong = violating > 0 ? 1 : 0;
    judgement.p_right = violating > 0 ? 0 : 1;
    judgement.verdict = violating > 0 ? Verdict::kFails : is_enough ? Verdict::kHolds : Verdict::kUndecided;
  };
  decide(*result.judgement, result.judgement->too_few.empty());
  if (violating > 0) {
    result.judgement->too_few.clear();
  }
  if (result.here) {
    decide(*result.here, true);
  }
  result.verdict = result.judgement->verdict;
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
  result.note = fmt::format(
      "{} of {} entries as printed; the other one is misprinted, it leaves out the Boolean modules", equal, entries);
  // One entry of the paper is known to be wrong.
  result.verdict = entries - equal == 1 ? Verdict::kHolds : Verdict::kFails;
}

// Whatever is at least something may be just that; what is greater may not.
Range expected_range(const Check& check) {
  Range range;
  switch (check.expect) {
    case Check::Expect::kGreater:
      range.low = check.threshold;
      break;
    case Check::Expect::kLess:
      range.high = check.threshold;
      break;
    case Check::Expect::kAtLeast:
      range.low = check.threshold - check.margin - kRounding;
      break;
    case Check::Expect::kAtMost:
      range.high = check.threshold + check.margin + kRounding;
      break;
    case Check::Expect::kComparable:
      range = {check.threshold - check.margin - kRounding, check.threshold + check.margin + kRounding};
      break;
  }
  return range;
}

}  // namespace

CheckResult evaluate_check(const CheckContext& given) {
  CheckContext context = given;
  experiments::Measure logarithmic;
  if (context.check.as_factor) {
    logarithmic = *context.measure;
    logarithmic.log = true;
    context.measure = &logarithmic;
  }
  CheckResult result;
  result.text = check_text(context);
  result.expected = expected_range(context.check);
  result.is_difference = context.check.kind != Check::Kind::kValue && context.check.kind != Check::Kind::kEvery &&
                         context.check.kind != Check::Kind::kTracks;
  if (context.measure != nullptr) {
    result.measure = context.measure->name;
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
    case Check::Kind::kVotes:
      votes(context, result);
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
  result.expectation = expectation_text(context, result);
  return result;
}

}  // namespace modlab::studies

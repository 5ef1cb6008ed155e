#include "studies/check_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

namespace modlab::studies {
namespace {

std::string measures_text(const std::map<std::string, double>& wanted) {
  std::vector<std::string> parts;
  for (const auto& [name, number] : wanted) {
    const experiments::Measure& measure = *experiments::find_measure(name);
    parts.push_back(fmt::format("{} {}{}{}", measure.label, number, measure.unit == "%" ? " " : "",
                                measure.unit == "%" ? "%" : ""));
  }
  return join_text(parts, ", ");
}

}  // namespace

std::string side_text(const Selector& selector) {
  std::vector<std::string> parts;
  for (const auto& [axis, values] : selector) {
    const std::string joined = join_text(values, "/");
    parts.push_back(axis == "series" || axis == "task" || axis == "model" ? joined
                                                                          : fmt::format("{} {}", axis, joined));
  }
  // "series" sorts before "task": what it is, then where.
  return parts.empty() ? "all" : join_text(parts, ", ");
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kFails:
      return "fails";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kNoData:
      return "no data";
  }
  return "";
}

std::string check_text(const CheckContext& context) {
  const Check& check = context.check;
  std::string text = check.text;
  if (text.empty()) {
    const std::string label = context.measure == nullptr ? "" : context.measure->label;
    switch (check.kind) {
      case Check::Kind::kCompare:
        text = fmt::format("{}: {} against {}", label, side_text(check.sides[0]), side_text(check.sides[1]));
        break;
      case Check::Kind::kTrend:
        text = check.sides.size() == 1
                   ? fmt::format("{} of {} as {} grows", label, side_text(check.sides[0]), check.along)
                   : fmt::format("{}: {} above {} as {} grows", label, side_text(check.sides[0]),
                                 side_text(check.sides[1]), check.along);
        break;
      case Check::Kind::kVotes: {
        std::vector<std::string> others;
        for (std::size_t side = 1; side < check.sides.size(); ++side) {
          others.push_back(side_text(check.sides[side]));
        }
        text = fmt::format("contests won by {} against {}", side_text(check.sides[0]), join_text(others, ", "));
        break;
      }
      case Check::Kind::kValue:
        text = fmt::format("{} of {}", label, side_text(check.sides[0]));
        break;
      case Check::Kind::kReaches:
        text = fmt::format("{} reaches {} % {} no later than {}", side_text(check.sides[0]), check.level, label,
                           side_text(check.sides[1]));
        break;
      case Check::Kind::kTracks:
        text = fmt::format("{} of {} goes with its {}", label, side_text(check.sides[0]),
                           experiments::find_measure(check.other_measure)->label);
        break;
      case Check::Kind::kBestAt:
        text = fmt::format("{}, {}: best at {}", label, side_text(check.sides[0]), side_text(check.best));
        break;
      case Check::Kind::kEvery:
        text = fmt::format("{} with {} have {}", side_text(check.sides[0]), measures_text(check.given),
                           measures_text(check.then));
        break;
      case Check::Kind::kFlopTable:
        text = "entries of Table 1, computed from shapes";
        break;
    }
  }
  if (check.text.empty() && !check.where.empty()) {
    text = side_text(check.where) + ": " + text;
  }
  if (!context.claim.each.empty()) {
    if (const auto found = context.where.find(context.claim.each); found != context.where.end()) {
      text = found->second.front() + ": " + text;
    }
  }
  return text;
}

namespace {

// A number of a check's own, as a reader takes it: "3 points", "a factor of 3".
std::string amount(const CheckResult& result, double number) {
  if (result.is_factor) {
    return fmt::format("a factor of {:.3g}", std::pow(10, number));
  }
  const std::string unit = result.unit == "points" && std::abs(number) == 1 ? "point" : result.unit;
  return fmt::format("{:.4g}{}{}", number, unit.empty() ? "" : " ", unit);
}

// The words for more and for less of a difference; none for a number that stands for itself.
struct Directions {
  const char* more;
  const char* less;
};
std::optional<Directions> directions_of(const Check& check, const CheckResult& result) {
  if (result.is_factor) {
    return std::nullopt;
  }
  switch (check.kind) {
    case Check::Kind::kCompare:
    case Check::Kind::kBestAt:
      return Directions{"above", "below"};
    case Check::Kind::kTrend:
      return Directions{"up", "down"};
    case Check::Kind::kVotes:
      return Directions{"ahead", "behind"};
    case Check::Kind::kReaches:
      return Directions{"later", "earlier"};
    default:
      return std::nullopt;
  }
}

// "above", "more than 5 points above", "at most 1 point below".
std::string bound_text(const CheckResult& result, double bound, bool is_strict, const char* towards, const char* away) {
  const std::string size = amount(result, std::abs(bound));
  if (bound == 0) {
    return is_strict ? towards : fmt::format("not {}", away);
  }
  return bound > 0 ? fmt::format("{} {} {}", is_strict ? "more than" : "at least", size, towards)
                   : fmt::format("{} {} {}", is_strict ? "less than" : "at most", size, away);
}

std::string difference_text(const Check& check, const CheckResult& result, const Directions& directions) {
  const double low = check.threshold - check.margin;
  const double high = check.threshold + check.margin;
  switch (check.expect) {
    case Check::Expect::kGreater:
      return bound_text(result, check.threshold, true, directions.more, directions.less);
    case Check::Expect::kAtLeast:
      return bound_text(result, low, false, directions.more, directions.less);
    case Check::Expect::kLess:
      return bound_text(result, -check.threshold, true, directions.less, directions.more);
    case Check::Expect::kAtMost:
      return bound_text(result, -high, false, directions.less, directions.more);
    case Check::Expect::kComparable:
      break;
  }
  return check.threshold == 0 ? "within " + amount(result, check.margin)
                              : fmt::format("between {} and {}", amount(result, low), amount(result, high));
}

std::string value_text(const Check& check, const CheckResult& result, bool is_logarithm) {
  const auto number = [&](double value) { return amount(result, is_logarithm ? std::pow(10, value) : value); };
  switch (check.expect) {
    case Check::Expect::kGreater:
      return "above " + number(check.threshold);
    case Check::Expect::kAtLeast:
      return "at least " + number(check.threshold - check.margin);
    case Check::Expect::kLess:
      return "below " + number(check.threshold);
    case Check::Expect::kAtMost:
      return "at most " + number(check.threshold + check.margin);
    case Check::Expect::kComparable:
      break;
  }
  return result.is_factor && check.threshold == 0
             ? "within " + number(check.margin)
             : fmt::format("between {} and {}", number(check.threshold - check.margin),
                           number(check.threshold + check.margin));
}

}  // namespace

std::string expectation_text(const CheckContext& context, const CheckResult& result) {
  const Check& check = context.check;
  if (check.kind == Check::Kind::kEvery) {
    return "none that does not";
  }
  if (check.kind == Check::Kind::kFlopTable) {
    return "all but one as printed";
  }
  if (const std::optional<Directions> directions = directions_of(check, result); directions) {
    return difference_text(check, result, *directions);
  }
  return value_text(check, result, context.measure->log && check.kind == Check::Kind::kValue);
}

std::string number_text(const CheckResult& result) {
  if (!result.judgement) {
    return result.note.empty() ? "no runs" : result.note;
  }
  const Judgement& judgement = *result.judgement;
  const std::string estimate = result.is_factor
                                   ? amount(result, judgement.mean)
                                   : fmt::format(fmt::runtime(result.is_difference ? "{:+.3g}{}{}" : "{:.3g}{}{}"),
                                                 judgement.mean, result.unit.empty() ? "" : " ", result.unit);
  return fmt::format("{}{} ({}); expected {}", estimate, result.covered.empty() ? "" : " " + result.covered,
                     interval_text(judgement, result.is_factor), result.expectation);
}

std::string verdict_text(const Judgement& judgement) {
  return judgement.too_few.empty() ? verdict_text(judgement.verdict)
                                   : fmt::format("{}: {}", verdict_text(judgement.verdict), judgement.too_few);
}

}  // namespace modlab::studies

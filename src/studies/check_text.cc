#include "studies/check_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

namespace modlab::studies {
namespace {

std::string selector_text(const Selector& selector) {
  std::vector<std::string> parts;
  for (const auto& [axis, values] : selector) {
    const std::string joined = join_text(values, "/");
    parts.push_back(axis == "series" || axis == "task" || axis == "model" ? joined
                                                                          : fmt::format("{} {}", axis, joined));
  }
  // "series" sorts before "task": what it is, then where.
  return parts.empty() ? "all" : join_text(parts, ", ");
}

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
        text = fmt::format("{}: {} against {}", label, selector_text(check.sides[0]), selector_text(check.sides[1]));
        break;
      case Check::Kind::kTrend:
        text = fmt::format("{} of {} as {} grows", label, selector_text(check.sides[0]), check.along);
        break;
      case Check::Kind::kValue:
        text = fmt::format("{} of {}", label, selector_text(check.sides[0]));
        break;
      case Check::Kind::kReaches:
        text = fmt::format("{} reaches {} % {} no later than {}", selector_text(check.sides[0]), check.level, label,
                           selector_text(check.sides[1]));
        break;
      case Check::Kind::kTracks:
        text = fmt::format("{} of {} goes with its {}", label, selector_text(check.sides[0]),
                           experiments::find_measure(check.other_measure)->label);
        break;
      case Check::Kind::kBestAt:
        text = fmt::format("{}, {}: best at {}", label, selector_text(check.sides[0]), selector_text(check.best));
        break;
      case Check::Kind::kEvery:
        text = fmt::format("{} with {} have {}", selector_text(check.sides[0]), measures_text(check.given),
                           measures_text(check.then));
        break;
      case Check::Kind::kFlopTable:
        text = "entries of Table 1, computed from shapes";
        break;
    }
  }
  if (!context.claim.each.empty()) {
    if (const auto found = context.where.find(context.claim.each); found != context.where.end()) {
      text = found->second.front() + ": " + text;
    }
  }
  return text;
}

std::string number_text(const CheckResult& check) {
  if (!check.interval) {
    return check.note.empty() ? "no runs" : check.note;
  }
  const measures::Interval& interval = *check.interval;
  const std::string p = check.p ? fmt::format(", p {:.2g}", *check.p) : "";
  if (check.is_factor) {
    return fmt::format("a factor of {:.2g} [{:.2g}, {:.2g}]{}", std::pow(10, interval.estimate),
                       std::pow(10, interval.low), std::pow(10, interval.high), p);
  }
  return fmt::format("{:+.3g}{}{} [{:.3g}, {:.3g}]{}", interval.estimate, check.unit.empty() ? "" : " ", check.unit,
                     interval.low, interval.high, p);
}

}  // namespace modlab::studies

#include "cli/study_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "report/tables.h"
#include "studies/check_text.h"

namespace modlab::cli {
namespace {

using studies::Cell;
using studies::Findings;
using studies::Verdict;

const char* mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "✓";
    case Verdict::kFails:
      return "✗";
    case Verdict::kUndecided:
      return "?";
    case Verdict::kNoData:
      return "·";
  }
  return "";
}

std::string varying_values(const studies::StudyPlan& plan, std::size_t series, const std::string& axis) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const studies::PlannedRun& run : plan.runs) {
    if (run.series == series) {
      const std::string value = plan.value(run, axis);
      if (!value.empty() && seen.insert(value).second) {
        values.push_back(value);
      }
    }
  }
  constexpr std::size_t kFewValues = 12;
  const char* separator =
      std::ranges::any_of(values, [](const std::string& value) { return value.find(',') != std::string::npos; }) ? "; "
                                                                                                                 : ", ";
  return values.size() <= kFewValues
             ? join_text(values, separator)
             : fmt::format("{} to {} ({} values)", values.front(), values.back(), values.size());
}

}  // namespace

std::string plan_table(const studies::Study& study, const studies::StudyPlan& plan,
                       const std::unordered_set<std::string>& finished) {
  struct Count {
    std::set<std::string> ids;
    std::size_t done = 0;
    std::set<std::string> settings;
  };
  std::vector<Count> counts(plan.series.size());
  for (const studies::PlannedRun& run : plan.runs) {
    Count& count = counts[run.series];
    if (count.ids.insert(run.id).second && finished.contains(run.id)) {
      ++count.done;
    }
    std::string settings;
    for (const std::string& name : study.analysis.tune) {
      settings += plan.value(run, name) + "\n";
    }
    count.settings.insert(settings);
  }
  std::size_t width = 6;
  for (const std::string& series : plan.series) {
    width = std::max(width, series.size());
  }
  std::string text =
      fmt::format("{:<{}}  {:>8}  {:>8}  {:>14}\n", "series", width, "runs", "finished", "configurations");
  for (std::size_t series = 0; series < counts.size(); ++series) {
    text += fmt::format("{:<{}}  {:>8}  {:>8}  {:>14}\n", plan.series[series], width, counts[series].ids.size(),
                        counts[series].done, counts[series].settings.size());
  }
  text += "\n";
  for (const std::string& axis : plan.axes) {
    // One line if all series agree, otherwise each says its own.
    std::map<std::string, std::vector<std::string>> by_values;
    for (std::size_t series = 0; series < plan.series.size(); ++series) {
      if (const std::string values = varying_values(plan, series, axis); !values.empty()) {
        by_values[values].push_back(plan.series[series]);
      }
    }
    if (axis == "model" || by_values.empty()) {
      continue;
    }
    bool first = true;
    for (const auto& [values, series] : by_values) {
      text += fmt::format("{:<14} {}{}\n", first ? axis : "", values,
                          by_values.size() == 1 ? "" : "   (" + join_text(series, ", ") + ")");
      first = false;
    }
  }
  return text;
}

std::string result_table(const Findings& findings) {
  const std::size_t measure = studies::measure_index(findings.plan().is_sculpted() ? "true_modules" : "test_accuracy");
  std::vector<std::string> task_names;
  std::map<std::pair<std::string, std::string>, std::vector<const Cell*>> cells;
  for (const Cell& cell : findings.cells()) {
    const std::string task = findings.value(cell, "task");
    if (std::ranges::find(task_names, task) == task_names.end()) {
      task_names.push_back(task);
    }
    cells[{findings.value(cell, "series"), task}].push_back(&cell);
  }
  // Many tasks stand below each other.
  constexpr std::size_t kMostColumns = 8;
  const bool tasks_are_rows = task_names.size() > kMostColumns;
  const std::vector<std::string>& rows = tasks_are_rows ? task_names : findings.plan().series;
  const std::vector<std::string>& columns = tasks_are_rows ? findings.plan().series : task_names;
  const auto widest = [](const std::vector<std::string>& names, std::size_t least) {
    for (const std::string& name : names) {
      least = std::max(least, name.size());
    }
    return least;
  };
  const std::size_t first_width = widest(rows, 6);
  const std::size_t width = widest(columns, 12);
  std::string text = fmt::format("{:<{}}", "", first_width);
  for (const std::string& column : columns) {
    text += fmt::format("  {:>{}}", column, width);
  }
  text += "\n";
  for (const std::string& row : rows) {
    text += fmt::format("{:<{}}", row, first_width);
    for (const std::string& column : columns) {
      const auto found = cells.find(tasks_are_rows ? std::pair(column, row) : std::pair(row, column));
      const studies::UnitValues values =
          found == cells.end() ? studies::UnitValues() : studies::unit_values(found->second, measure);
      if (values.empty()) {
        text += fmt::format("  {:>{}}", "-", width);
        continue;
      }
      const measures::MeanWithErrors mean = studies::combine_units(values);
      // One run alone says nothing about chance.
      const std::string error = std::isnan(mean.error_within) ? "" : fmt::format(" ± {:.1f}", mean.error_within);
      text += fmt::format("  {:>{}}", fmt::format("{:.1f}{}", mean.mean, error), width);
    }
    text += "\n";
  }
  return text;
}

std::string claims_text(const std::vector<studies::ClaimResult>& claims) {
  std::string text;
  std::map<Verdict, int> counts;
  for (const studies::ClaimResult& result : claims) {
    ++counts[result.verdict];
    text += fmt::format("{} {:<6} {}\n", mark(result.verdict), result.claim->id, result.claim->text);
    text += fmt::format("         {}: {}\n", studies::verdict_text(result.verdict), result.reason);
    // What speaks against a claim; the report has the rest.
    for (const studies::CheckResult& check : result.checks) {
      if (check.verdict != Verdict::kHolds || result.checks.size() == 1) {
        text += fmt::format("         {} {}: {}{}\n", mark(check.verdict), check.text, studies::number_text(check),
                            check.interval && !check.note.empty() ? " (" + check.note + ")" : "");
      }
    }
  }
  text += fmt::format("\n{} claims: {} hold, {} fail, {} undecided{}.\n", claims.size(), counts[Verdict::kHolds],
                      counts[Verdict::kFails], counts[Verdict::kUndecided],
                      counts[Verdict::kNoData] > 0 ? fmt::format(", {} without data", counts[Verdict::kNoData]) : "");
  return text;
}

std::string ties_text(const Findings& findings) {
  int splits = 0;
  int tied = 0;
  for (const Cell& cell : findings.cells()) {
    for (const Cell::Split& split : cell.splits) {
      splits += split.configurations > 1 ? 1 : 0;
      tied += split.tied > 1 ? 1 : 0;
    }
  }
  if (splits == 0) {
    return "";
  }
  std::string text =
      fmt::format("Validation accuracy chose among configurations {} times and was tied {} times.", splits, tied);
  for (const report::TieSensitivity& other : report::tie_sensitivity(findings)) {
    text += fmt::format(" With ties={} test accuracy changes by {:.2f} points on average (at most {:.1f}).", other.rule,
                        other.mean_change, other.largest_change);
  }
  return text + "\n";
}

}  // namespace modlab::cli

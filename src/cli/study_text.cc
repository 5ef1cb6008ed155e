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

// The values of an axis among the runs of one series.
class AxisValues {
 public:
  void add(const std::string& value) {
    if (!value.empty() && seen_.insert(value).second) {
      values_.push_back(value);
    }
  }
  std::string text() const {
    constexpr std::size_t kFewValues = 12;
    const bool has_commas =
        std::ranges::any_of(values_, [](const std::string& value) { return value.find(',') != std::string::npos; });
    return values_.size() <= kFewValues
               ? join_text(values_, has_commas ? "; " : ", ")
               : fmt::format("{} to {} ({} values)", values_.front(), values_.back(), values_.size());
  }

 private:
  std::vector<std::string> values_;
  std::set<std::string> seen_;
};

// Runs of one series.
struct SeriesCount {
  studies::RunSet runs;
  std::size_t done = 0;
  std::set<std::string> settings;
  std::map<std::string, AxisValues> axes;
};

std::vector<SeriesCount> count_series(const studies::Study& study, const studies::StudyPlan& plan,
                                      const studies::RunSet& finished) {
  std::vector<SeriesCount> counts(plan.series.size());
  std::vector<std::string> replicates;
  std::vector<std::string> others;
  for (const std::string& axis : plan.axes) {
    (experiments::find_setting(axis)->is_replicate() ? replicates : others).push_back(axis);
  }
  const settings::Values::Row* last = nullptr;
  for (const studies::PlannedRun& run : plan.runs) {
    SeriesCount& count = counts[run.series];
    if (count.runs.insert(run.number()).second && finished.contains(run.number())) {
      ++count.done;
    }
    for (const std::string& axis : replicates) {
      count.axes[axis].add(plan.value(run, axis));
    }
    // Runs that share the rest differ in splits and seeds alone.
    if (run.run.values.row() == last) {
      continue;
    }
    last = run.run.values.row();
    std::string settings;
    for (const std::string& name : study.analysis.tune) {
      settings += plan.value(run, name) + "\n";
    }
    count.settings.insert(settings);
    for (const std::string& axis : others) {
      count.axes[axis].add(plan.value(run, axis));
    }
  }
  return counts;
}

}  // namespace

std::string plan_table(const studies::Study& study, const studies::StudyPlan& plan, const studies::RunSet& finished) {
  const std::vector<SeriesCount> counts = count_series(study, plan, finished);
  std::size_t width = 6;
  for (const std::string& series : plan.series) {
    width = std::max(width, series.size());
  }
  std::string text =
      fmt::format("{:<{}}  {:>8}  {:>8}  {:>14}\n", "series", width, "runs", "finished", "configurations");
  for (std::size_t series = 0; series < counts.size(); ++series) {
    text += fmt::format("{:<{}}  {:>8}  {:>8}  {:>14}\n", plan.series[series], width, counts[series].runs.size(),
                        counts[series].done, counts[series].settings.size());
  }
  text += "\n";
  for (const std::string& axis : plan.axes) {
    // One line if all series agree, otherwise each says its own.
    std::map<std::string, std::vector<std::string>> by_values;
    for (std::size_t series = 0; series < plan.series.size(); ++series) {
      const auto found = counts[series].axes.find(axis);
      if (const std::string values = found == counts[series].axes.end() ? "" : found->second.text(); !values.empty()) {
        by_values[values].push_back(plan.series[series]);
      }
    }
    if (experiments::find_setting(axis)->role == settings::Setting::Role::kModel || by_values.empty()) {
      continue;
    }
    // Where most series have the same, naming those that have not is enough.
    constexpr std::size_t kMostNamed = 5;
    const auto most = std::ranges::max_element(by_values, {}, [](const auto& entry) { return entry.second.size(); });
    bool first = true;
    for (const auto& [values, series] : by_values) {
      const bool others = values == most->first && series.size() > kMostNamed;
      const std::string whose = others ? "all others that have it" : join_text(series, ", ");
      text +=
          fmt::format("{:<14} {}{}\n", first ? axis : "", values, by_values.size() == 1 ? "" : "   (" + whose + ")");
      first = false;
    }
  }
  return text;
}

namespace {

// The headline of the runs of one kind, by series and task, or what else its columns are, averaged over the other axes.
std::string result_table(const Findings& findings, const experiments::Experiment& kind) {
  const std::string headline = kind.parts().headline;
  const bool is_share = experiments::find_measure(headline)->unit == "%";
  std::vector<std::string> task_names;
  std::vector<std::string> series_names;
  std::map<std::pair<std::string, std::string>, std::vector<const Cell*>> cells;
  const auto add_name = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  // With restarts the table is that of the most of them.
  int restarts = 0;
  for (const Cell& cell : findings.cells()) {
    restarts = std::max(restarts, cell.restarts);
  }
  for (const Cell& cell : findings.cells()) {
    if (cell.example->run.kind != &kind || cell.restarts != restarts) {
      continue;
    }
    const std::string task = findings.value(cell, kind.table_axis());
    add_name(task_names, task);
    add_name(series_names, findings.value(cell, "series"));
    cells[{findings.value(cell, "series"), task}].push_back(&cell);
  }
  // Many tasks stand below each other.
  constexpr std::size_t kMostColumns = 8;
  const bool tasks_are_rows = task_names.size() > kMostColumns;
  const std::vector<std::string>& rows = tasks_are_rows ? task_names : series_names;
  const std::vector<std::string>& columns = tasks_are_rows ? series_names : task_names;
  const auto widest = [](const std::vector<std::string>& names, std::size_t least) {
    for (const std::string& name : names) {
      least = std::max(least, name.size());
    }
    return least;
  };
  const auto cell_text = [&](const std::string& row, const std::string& column) -> std::string {
    const auto found = cells.find(tasks_are_rows ? std::pair(column, row) : std::pair(row, column));
    const studies::UnitValues values =
        found == cells.end() ? studies::UnitValues() : studies::unit_values(found->second, headline);
    if (values.empty()) {
      return "-";
    }
    const measures::MeanWithErrors mean = studies::combine_units(values);
    const auto number = [&](double value) { return fmt::format(fmt::runtime(is_share ? "{:.1f}" : "{:.3g}"), value); };
    // One run alone says nothing about chance.
    return number(mean.mean) + (std::isnan(mean.error_within) ? "" : " ± " + number(mean.error_within));
  };
  const std::size_t first_width = widest(rows, 6);
  std::vector<std::size_t> widths;
  std::string text =
      fmt::format("{}{}\n{:<{}}", kind.table_title(),
                  restarts == 0 ? "" : fmt::format("; the best of {} by validation", restarts), "", first_width);
  for (const std::string& column : columns) {
    std::vector<std::string> shown = {column};
    std::ranges::transform(rows, std::back_inserter(shown),
                           [&](const std::string& row) { return cell_text(row, column); });
    widths.push_back(widest(shown, 12));
    text += fmt::format("  {:>{}}", column, widths.back());
  }
  text += "\n";
  for (const std::string& row : rows) {
    text += fmt::format("{:<{}}", row, first_width);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      text += fmt::format("  {:>{}}", cell_text(row, columns[column]), widths[column]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string result_tables(const Findings& findings) {
  std::string text;
  for (const experiments::Experiment* kind : findings.plan().kinds) {
    text += result_table(findings, *kind) + "\n";
  }
  return text;
}

namespace {

std::string claim_text(const studies::ClaimResult& result, std::size_t id_width) {
  std::string text =
      fmt::format("{} {:<{}} {}\n", mark(result.verdict), result.claim->id, id_width, result.claim->text);
  const std::string indent(id_width + 3, ' ');
  text += fmt::format(
      "{}{}: {}{}\n", indent, studies::verdict_text(result.verdict), result.reason,
      result.here ? fmt::format("; on these {}s: {}", result.drawn, studies::verdict_text(*result.here)) : "");
  // What speaks against a claim; the report has the rest, and so it has what too few splits cannot decide.
  for (const studies::CheckResult& check : result.checks) {
    const bool is_told = check.judgement && !check.judgement->too_few.empty();
    if ((check.verdict != Verdict::kHolds && !is_told) || result.checks.size() == 1) {
      text += fmt::format("{}{} {}: {}\n", indent, mark(check.verdict), check.text, studies::number_text(check));
      if (check.judgement && !check.note.empty()) {
        text += fmt::format("{}  {}\n", indent, check.note);
      }
    }
  }
  return text;
}

}  // namespace

std::string claims_text(const std::vector<studies::ClaimResult>& claims) {
  std::size_t id_width = 6;
  std::map<Verdict, int> counts;
  std::vector<std::string> without_data;
  for (const studies::ClaimResult& result : claims) {
    ++counts[result.verdict];
    if (result.verdict == Verdict::kNoData) {
      without_data.push_back(result.claim->id);
    } else {
      id_width = std::max(id_width, result.claim->id.size());
    }
  }
  std::string text;
  for (const studies::ClaimResult& result : claims) {
    if (result.verdict != Verdict::kNoData) {
      text += claim_text(result, id_width);
    }
  }
  // Studies have claims for each of their sizes: those for others would bury what this one says.
  if (!without_data.empty()) {
    text += fmt::format("{} Nothing is trained here, or not yet, for {}.\n", mark(Verdict::kNoData),
                        join_text(without_data, ", "));
  }
  text += fmt::format("\n{} claims: {} hold, {} fail, {} undecided{}.\n", claims.size(), counts[Verdict::kHolds],
                      counts[Verdict::kFails], counts[Verdict::kUndecided],
                      without_data.empty() ? "" : fmt::format(", {} without data", without_data.size()));
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

std::string other_runs_text(studies::OpenedStudy& opened) {
  const std::size_t others = opened.other_runs();
  return others == 0 ? ""
                     : fmt::format(
                           "The store has {} run{} of earlier grids besides, with in_grid 0; report and tables "
                           "leave them out.\n",
                           others, others == 1 ? "" : "s");
}

}  // namespace modlab::cli

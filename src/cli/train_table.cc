#include "cli/train_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/errors.h"

namespace modlab::cli {
namespace {

using experiments::Column;
using experiments::Run;
using settings::Setting;

constexpr double kFull = 100;
constexpr std::size_t kHeadingWidth = 90;

// Runs of one kind, with what became of them.
struct KindRuns {
  const experiments::Experiment* kind = nullptr;
  std::vector<Run> runs;
  std::vector<const RunSummary*> summaries;
};

std::string value_text(const Setting& setting, const Run& run) {
  return run.values.has(setting.name) ? run.values.text(setting.name) : "-";
}

// Settings that say nothing which others do not say: one that stands for several where those differ, and those that it
// stands for where they do not.
std::set<std::string> silent_settings(const KindRuns& group) {
  std::set<std::string> silent;
  for (const Setting& setting : group.kind->settings()) {
    if (!setting.sets_others) {
      continue;
    }
    const bool speaks = std::ranges::all_of(group.runs, [&](const Run& run) {
      return !run.values.has(setting.name) || !run.values.get(setting.name).is_null();
    });
    for (const Setting& other : group.kind->settings()) {
      if (speaks ? other.is_set_by == setting.name : &other == &setting) {
        silent.insert(other.name);
      }
    }
  }
  return silent;
}

// The settings in which runs differ, without the seed.
std::vector<const Setting*> varying_settings(const KindRuns& group) {
  std::vector<const Setting*> varying;
  const std::set<std::string> silent = silent_settings(group);
  bool task_varies = false;
  for (const Setting& setting : group.kind->settings()) {
    if (setting.role == Setting::Role::kSeed || setting.role == Setting::Role::kFact || silent.contains(setting.name)) {
      continue;
    }
    std::set<std::string> values;
    for (const Run& run : group.runs) {
      if (run.values.has(setting.name)) {
        values.insert(run.values.text(setting.name));
      }
    }
    // Sizes that follow from the task vary with it; the task's column says it.
    const bool follows_task = setting.is_list || setting.is_size;
    if (values.size() > 1 && !(follows_task && task_varies)) {
      varying.push_back(&setting);
      task_varies = task_varies || setting.role == Setting::Role::kTask;
    }
  }
  return varying;
}

struct Statistics {
  double mean = 0;
  double error = 0;  // not a number for a single run
  int at_full = 0;
  int count = 0;
};

Statistics statistics(const std::vector<const RunSummary*>& runs, const std::string& measure) {
  Statistics result;
  std::vector<double> values;
  for (const RunSummary* run : runs) {
    if (const auto found = run->numbers.find(measure); found != run->numbers.end()) {
      values.push_back(found->second);
      result.mean += found->second;
      result.at_full += found->second == kFull ? 1 : 0;
    }
  }
  result.count = static_cast<int>(values.size());
  result.mean /= result.count;
  double squares = 0;
  for (const double value : values) {
    squares += (value - result.mean) * (value - result.mean);
  }
  result.error = std::sqrt(squares / (result.count - 1.0) / result.count);
  return result;
}

std::vector<std::string> cells_of(const std::vector<const RunSummary*>& runs, const std::vector<Column>& columns,
                                  bool in_seconds) {
  const auto diverged = std::ranges::count_if(runs, &RunSummary::diverged);
  std::vector<std::string> cells = {fmt::format("{}", runs.size())};
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const Statistics found = statistics(runs, columns[at].measure);
    const int digits = columns[at].digits;
    const std::string mean = found.count == 0 ? "-" : fmt::format("{:.{}f}", found.mean, digits);
    switch (columns[at].show) {
      case Column::Show::kMeanAndError:
        cells.push_back(mean);
        cells.push_back(found.count > 1 ? fmt::format("{:.{}f}", found.error, digits) : "-");
        break;
      case Column::Show::kMean:
        cells.push_back(mean);
        break;
      case Column::Show::kWhole:
        cells.push_back(found.count == 0 ? "-" : fmt::format("{:.0f}", found.mean));
        break;
      case Column::Show::kAtFull:
        cells.push_back(
            fmt::format("{} ({:.0f} %)", found.at_full, kFull * found.at_full / static_cast<double>(runs.size())));
        break;
    }
    if (at == 1 && diverged > 0) {
      cells.back() += fmt::format(", {} diverged", diverged);
    }
  }
  double seconds = 0;
  for (const RunSummary* run : runs) {
    seconds += run->seconds / static_cast<double>(runs.size());
  }
  cells.push_back(fmt::format("{:.2f}", in_seconds ? seconds : 1000 * seconds));
  return cells;
}

// What a run would be if nothing but its task and model were said.
class Defaults {
 public:
  explicit Defaults(const experiments::Experiment& kind) : kind_(kind), plain_(kind.defaults()) {}

  bool has(const Setting& setting, const Run& run) {
    settings::Given given;
    for (const Setting& each : kind_.settings()) {
      if ((each.role == Setting::Role::kTask || each.role == Setting::Role::kModel) && run.values.has(each.name)) {
        given[each.name] = run.values.text(each.name);
      }
    }
    const auto [found, is_new] = resolved_.try_emplace(given);
    if (is_new) {
      try {
        found->second = kind_.resolve(given);
      } catch (const UserError&) {
        // The task needs something more of this model; what it is will then be shown.
      }
    }
    const nlohmann::json value = run.values.get(setting.name);
    return found->second.has(setting.name) ? value == found->second.get(setting.name) : value == plain_[setting.name];
  }

 private:
  const experiments::Experiment& kind_;
  std::map<std::string, nlohmann::json> plain_;
  std::map<settings::Given, settings::Values> resolved_;
};

// Names and values that all runs share which have them, in lines of moderate width: the main settings, and every other
// one that is not as it is by default.
std::string shared_lines(const KindRuns& group, const std::vector<const Setting*>& varying) {
  const std::set<std::string> silent = silent_settings(group);
  Defaults defaults(*group.kind);
  std::vector<std::string> lines = {""};
  for (const Setting& setting : group.kind->settings()) {
    const auto has_it = [&](const Run& run) { return run.values.has(setting.name); };
    const auto found = std::ranges::find_if(group.runs, has_it);
    if (found == group.runs.end() || setting.role == Setting::Role::kFact || silent.contains(setting.name) ||
        std::ranges::find(varying, &setting) != varying.end()) {
      continue;
    }
    const Run& first = *found;
    const std::string shared = value_text(setting, first);
    const bool is_shared = std::ranges::all_of(
        group.runs, [&](const Run& run) { return !has_it(run) || value_text(setting, run) == shared; });
    if (!is_shared || (!setting.is_named && defaults.has(setting, first))) {
      continue;
    }
    const std::string item = setting.name + " " + value_text(setting, first);
    if (lines.back().size() + item.size() > kHeadingWidth) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : ", ") + item;
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

std::string kind_table(const KindRuns& group) {
  const std::vector<const Setting*> varying = varying_settings(group);
  std::vector<std::pair<std::vector<std::string>, std::vector<const RunSummary*>>> lines;
  std::map<std::vector<std::string>, std::size_t> line_of;
  double seconds = 0;
  for (std::size_t run = 0; run < group.runs.size(); ++run) {
    std::vector<std::string> values;
    for (const Setting* setting : varying) {
      values.push_back(value_text(*setting, group.runs[run]));
    }
    const auto [found, is_new] = line_of.emplace(values, lines.size());
    if (is_new) {
      lines.push_back({values, {}});
    }
    lines[found->second].second.push_back(group.summaries[run]);
    seconds += group.summaries[run]->seconds / static_cast<double>(group.runs.size());
  }
  // Long trainings are told in seconds.
  const bool in_seconds = seconds >= 0.5;
  std::vector<Column> columns = group.kind->columns();
  std::erase_if(columns, [&](const Column& column) {
    return std::ranges::none_of(group.summaries,
                                [&](const RunSummary* summary) { return summary->numbers.contains(column.measure); });
  });
  std::vector<std::vector<std::string>> rows(1);
  for (const Setting* setting : varying) {
    rows[0].push_back(setting->name);
  }
  rows[0].emplace_back("runs");
  for (const Column& column : columns) {
    rows[0].push_back(column.heading);
    if (column.show == Column::Show::kMeanAndError) {
      rows[0].emplace_back("s.e.");
    }
  }
  rows[0].emplace_back(in_seconds ? "s each" : "ms each");
  for (const auto& [values, summaries] : lines) {
    std::vector<std::string> row = values;
    const std::vector<std::string> numbers = cells_of(summaries, columns, in_seconds);
    row.insert(row.end(), numbers.begin(), numbers.end());
    rows.push_back(std::move(row));
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text = shared_lines(group, varying) + "\n";
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      // Settings are words and stand left, numbers right.
      line += column < varying.size() ? fmt::format("{:<{}}  ", row[column], widths[column])
                                      : fmt::format("{:>{}}  ", row[column], widths[column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  const std::string note = group.kind->footnote(group.runs);
  return text + (note.empty() ? "" : "\n" + note + "\n");
}

}  // namespace

std::string train_table(const std::vector<Run>& runs, const std::vector<RunSummary>& summaries) {
  std::vector<KindRuns> groups;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    auto group = std::ranges::find(groups, runs[run].kind, &KindRuns::kind);
    if (group == groups.end()) {
      groups.push_back({runs[run].kind, {}, {}});
      group = groups.end() - 1;
    }
    group->runs.push_back(runs[run]);
    group->summaries.push_back(&summaries[run]);
  }
  std::string text;
  for (const KindRuns& group : groups) {
    text += (text.empty() ? "" : "\n") + kind_table(group);
  }
  return text;
}

}  // namespace modlab::cli

#include "cli/train_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/settings.h"

namespace modlab::cli {
namespace {

using models::RunSpec;
using models::Setting;

std::string value_text(const Setting& setting, const RunSpec& spec) {
  if (!models::applies(setting, spec)) {
    return "-";
  }
  return models::setting_text(setting.get(spec));
}

// The settings in which runs differ, without the seed, and without lr_input and lr_module where lr_structural says it
// all.
std::vector<const Setting*> varying_settings(const std::vector<RunSpec>& runs) {
  std::vector<const Setting*> varying;
  const bool one_rate = std::ranges::all_of(runs, [](const RunSpec& spec) { return spec.lr_input == spec.lr_module; });
  for (const Setting& setting : models::settings()) {
    if (setting.name == "seed" || (one_rate && (setting.name == "lr_input" || setting.name == "lr_module")) ||
        (!one_rate && setting.name == "lr_structural")) {
      continue;
    }
    std::set<std::string> values;
    for (const RunSpec& spec : runs) {
      if (models::applies(setting, spec)) {
        values.insert(value_text(setting, spec));
      }
    }
    // Sizes that follow from the task vary with it; the task's column says it.
    const bool follows_task = setting.is_list || setting.name == "pool";
    if (values.size() > 1 && !(follows_task && !varying.empty() && varying.front()->name == "task")) {
      varying.push_back(&setting);
    }
  }
  return varying;
}

struct RunGroup {
  std::vector<std::string> settings;
  std::vector<const RunSummary*> runs;
};

std::vector<std::string> statistics(const std::vector<const RunSummary*>& runs, bool on_images) {
  const auto count = static_cast<double>(runs.size());
  double sum = 0;
  double seen = 0;
  double epochs = 0;
  double seconds = 0;
  int perfect = 0;
  int diverged = 0;
  for (const RunSummary* run : runs) {
    sum += run->test_accuracy;
    seen += run->seen_accuracy;
    epochs += run->best_epoch;
    seconds += run->seconds;
    perfect += run->test_accuracy == 100.0 ? 1 : 0;
    diverged += run->diverged ? 1 : 0;
  }
  const double mean = sum / count;
  double squares = 0;
  for (const RunSummary* run : runs) {
    squares += (run->test_accuracy - mean) * (run->test_accuracy - mean);
  }
  const std::string error =
      runs.size() > 1 ? fmt::format("{:.2f}", std::sqrt(squares / (count - 1) / count)) : std::string("-");
  const std::string diverged_text = diverged > 0 ? fmt::format(", {} diverged", diverged) : "";
  std::vector<std::string> cells = {fmt::format("{}", runs.size()), fmt::format("{:.2f}", mean), error};
  if (on_images) {
    cells.push_back(fmt::format("{:.2f}", seen / count) + diverged_text);
  } else {
    cells.push_back(fmt::format("{} ({:.0f} %){}", perfect, 100.0 * perfect / count, diverged_text));
  }
  cells.push_back(fmt::format("{:.0f}", epochs / count));
  cells.push_back(on_images ? fmt::format("{:.2f}", seconds / count) : fmt::format("{:.2f}", 1000.0 * seconds / count));
  return cells;
}

std::string shared_line(const std::vector<RunSpec>& runs, const std::vector<const Setting*>& varying) {
  const RunSpec& first = runs.front();
  const std::set<std::string> named = {"task",    "model", "ratio",         "split_seed", "epochs",       "batch_size",
                                       "samples", "lr",    "lr_structural", "tau",        "weight_decay", "noise"};
  std::vector<std::string> lines = {""};
  for (const Setting& setting : models::settings()) {
    if (!named.contains(setting.name) || !models::applies(setting, first) ||
        std::ranges::find(varying, &setting) != varying.end()) {
      continue;
    }
    const std::string item = setting.name + " " + value_text(setting, first);
    if (lines.back().size() + item.size() > 90) {
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

}  // namespace

std::string train_table(const models::Plan& plan, const std::vector<RunSummary>& runs) {
  const std::vector<const Setting*> varying = varying_settings(plan.runs);
  std::vector<RunGroup> groups;
  std::map<std::vector<std::string>, std::size_t> group_of;
  for (std::size_t run = 0; run < plan.runs.size(); ++run) {
    std::vector<std::string> values;
    for (const Setting* setting : varying) {
      values.push_back(value_text(*setting, plan.runs[run]));
    }
    const auto [found, is_new] = group_of.emplace(values, groups.size());
    if (is_new) {
      groups.push_back({values, {}});
    }
    groups[found->second].runs.push_back(&runs[run]);
  }

  std::vector<std::vector<std::string>> rows(1);
  for (const Setting* setting : varying) {
    rows[0].push_back(setting->name);
  }
  // A perfect run is a thing of truth tables; with images there is a second test.
  const bool on_images = std::ranges::any_of(plan.runs, &RunSpec::on_images);
  for (const char* name : {"runs", on_images ? "unseen %" : "test %", "s.e.", on_images ? "seen %" : "perfect",
                           "epochs to best", on_images ? "s each" : "ms each"}) {
    rows[0].emplace_back(name);
  }
  for (const RunGroup& group : groups) {
    std::vector<std::string> row = group.settings;
    const std::vector<std::string> numbers = statistics(group.runs, on_images);
    row.insert(row.end(), numbers.begin(), numbers.end());
    rows.push_back(std::move(row));
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text = shared_line(plan.runs, varying) + "\n";
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      // Settings are words and stand left, numbers right.
      line += column < varying.size() ? fmt::format("{:<{}}  ", row[column], widths[column])
                                      : fmt::format("{:>{}}  ", row[column], widths[column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace modlab::cli

#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/text.h"
#include "io/csv_file.h"
#include "io/file.h"
#include "report/epoch_table.h"
#include "studies/check_text.h"

namespace modlab::report {
namespace {

using io::csv_cell;
using studies::Cell;
using studies::Findings;

bool is_tuned(const Findings& findings, const std::string& axis) {
  const std::vector<std::string>& tune = findings.study().analysis.tune;
  return std::ranges::find(tune, axis) != tune.end();
}

// Those axes that some run has a value on, in their order.
std::vector<std::string> with_values(const Findings& findings, std::vector<std::string> axes) {
  std::erase_if(axes, [&](const std::string& axis) {
    return std::ranges::none_of(findings.plan().runs, [&](const studies::PlannedRun& run) {
      return !findings.plan().value(run, axis).empty();
    });
  });
  return axes;
}

// Axes that tell cells apart: all but the tuned ones, splits and seeds.
std::vector<std::string> cell_axes(const Findings& findings) {
  std::vector<std::string> axes = findings.plan().axes;
  std::erase_if(axes, [&](const std::string& axis) {
    return experiments::find_setting(axis)->is_replicate() || is_tuned(findings, axis);
  });
  axes = with_values(findings, std::move(axes));
  if (!findings.study().analysis.restarts.empty()) {
    axes.emplace_back(studies::kRestarts);
  }
  return axes;
}

// What else says which runs stand for a cell: its splits, and on each of them what was chosen.
std::vector<std::string> choice_axes(const Findings& findings) {
  std::vector<std::string> axes;
  for (const std::string& axis : experiments::setting_names()) {
    if (experiments::find_setting(axis)->role == settings::Setting::Role::kSplit) {
      axes.push_back(axis);
    }
  }
  std::ranges::copy_if(findings.plan().axes, std::back_inserter(axes),
                       [&](const std::string& axis) { return is_tuned(findings, axis); });
  return with_values(findings, std::move(axes));
}

// The runs that selection chose, each in its series.
std::set<std::pair<std::size_t, std::uint64_t>> chosen_runs(const Findings& findings) {
  std::set<std::pair<std::size_t, std::uint64_t>> chosen;
  for (const Cell& cell : findings.cells()) {
    for (const Cell::Split& split : cell.splits) {
      for (const studies::Record* record : split.runs) {
        chosen.emplace(record->run->series, record->run->number());
      }
    }
  }
  return chosen;
}

std::string header(const std::vector<std::string>& names) { return join_text(names, ",") + "\n"; }

}  // namespace

nlohmann::ordered_json axis_number(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json split_json(const Cell::Split& split) {
  return split.name.empty() ? nlohmann::ordered_json(nullptr) : axis_number(split.name);
}

CellNames::CellNames(const Findings& findings) : findings_(findings) {
  for (const std::string& axis : cell_axes(findings)) {
    // The series says what the model is; what is the same everywhere need not be said.
    if (axis == studies::kRestarts ||
        (experiments::find_setting(axis)->role == settings::Setting::Role::kPlain && findings.plan().varies(axis))) {
      axes_.push_back(axis);
    }
  }
}

std::string CellNames::name(const Cell& cell) const {
  std::vector<std::string> parts;
  if (const std::string task = findings_.value(cell, "task"); !task.empty()) {
    parts.push_back(task);
  }
  for (const std::string& axis : axes_) {
    if (const std::string value = findings_.value(cell, axis); !value.empty()) {
      parts.push_back(fmt::format("{} {}", axis, value));
    }
  }
  return join_text(parts, ", ");
}

std::string runs_csv(const Findings& findings) {
  const studies::StudyPlan& plan = findings.plan();
  const std::vector<std::string> axes = with_values(findings, plan.axes);
  const std::vector<const experiments::Measure*> measures = findings.measures();
  const auto chosen = chosen_runs(findings);
  std::vector<std::string> names = {"id", "series"};
  names.insert(names.end(), axes.begin(), axes.end());
  names.emplace_back("chosen");
  std::vector<std::size_t> columns;
  for (const experiments::Measure* measure : measures) {
    names.push_back(measure->name);
    columns.push_back(*findings.table().column(measure->name));
  }
  std::string text = header(names);
  for (const studies::Record& record : findings.records()) {
    text += record.run->id() + "," + csv_cell(plan.series[record.run->series]);
    for (const std::string& axis : axes) {
      text += "," + csv_cell(plan.value(*record.run, axis));
    }
    text += chosen.contains({record.run->series, record.run->number()}) ? ",1" : ",0";
    for (const std::size_t column : columns) {
      text += "," + csv_cell(record.table->at(record.row, column));
    }
    text += "\n";
  }
  return text;
}

std::string chosen_csv(const Findings& findings) {
  const std::vector<std::string> axes = cell_axes(findings);
  const std::vector<std::string> choices = choice_axes(findings);
  std::vector<std::string> names = {"series"};
  names.insert(names.end(), axes.begin(), axes.end());
  names.insert(names.end(), choices.begin(), choices.end());
  names.insert(names.end(), {"validation", "configurations", "tied"});
  std::string text = header(names);
  for (const Cell& cell : findings.cells()) {
    for (const Cell::Split& split : cell.splits) {
      text += csv_cell(findings.value(cell, "series"));
      for (const std::string& axis : axes) {
        text += "," + csv_cell(findings.value(cell, axis));
      }
      for (const std::string& axis : choices) {
        text += "," + csv_cell(findings.plan().value(*split.runs.front()->run, axis));
      }
      text += fmt::format(",{},{},{}\n", csv_cell(split.validation), split.configurations, split.tied);
    }
  }
  return text;
}

std::string means_csv(const Findings& findings) {
  const std::vector<std::string> axes = cell_axes(findings);
  std::vector<std::string> names = {"series"};
  names.insert(names.end(), axes.begin(), axes.end());
  names.insert(names.end(), {"measure", "mean", "error_within", "error_between", "deviation", "runs"});
  std::string text = header(names);
  const std::vector<const experiments::Measure*> measures = findings.measures();
  for (const Cell& cell : findings.cells()) {
    std::string start = csv_cell(findings.value(cell, "series"));
    for (const std::string& axis : axes) {
      start += "," + csv_cell(findings.value(cell, axis));
    }
    for (const experiments::Measure* measure : measures) {
      const studies::UnitValues units = studies::unit_values({&cell}, measure->name);
      if (units.empty()) {
        continue;
      }
      const measures::MeanWithErrors mean = studies::combine_units(units);
      text +=
          fmt::format("{},{},{},{},{},{},{}\n", start, measure->name, csv_cell(mean.mean), csv_cell(mean.error_within),
                      csv_cell(mean.error_between), csv_cell(mean.deviation), mean.count);
    }
  }
  return text;
}

std::string claims_csv(const std::vector<studies::ClaimResult>& claims) {
  std::string text = header({"claim",       "claim_verdict", "claim_verdict_here",
                             "check",       "measure",       "verdict",
                             "expectation", "threshold_low", "threshold_high",
                             "population",  "estimate",      "low",
                             "high",        "level",         "p",
                             "splits",      "seeds",         "verdict_here",
                             "low_here",    "high_here",     "p_here",
                             "unit",        "covered",       "note"});
  for (const studies::ClaimResult& claim : claims) {
    for (const studies::CheckResult& check : claim.checks) {
      const auto number = [&](double value) {
        return std::isfinite(value) ? csv_cell(check.is_factor ? std::pow(10, value) : value) : "";
      };
      // As the study's file says it, without what is allowed for rounding.
      const auto threshold = [&](double value) { return number(std::round(value * 1e6) / 1e6); };
      const std::optional<studies::Judgement>& general = check.judgement;
      const std::optional<studies::Judgement>& here = check.here;
      const std::vector<std::string> fields = {
          csv_cell(claim.claim->id),
          studies::verdict_text(claim.verdict),
          claim.here ? studies::verdict_text(*claim.here) : "",
          csv_cell(check.text),
          check.measure,
          csv_cell(general ? studies::verdict_text(*general) : studies::verdict_text(check.verdict)),
          csv_cell(check.expectation),
          threshold(check.expected.low),
          threshold(check.expected.high),
          general ? csv_cell(general->population) : "",
          general ? number(general->mean) : "",
          general ? number(general->low) : "",
          general ? number(general->high) : "",
          general ? csv_cell(measures::kLevel) : "",
          general ? csv_cell(general->p_wrong) : "",
          fmt::format("{}", check.splits),
          fmt::format("{}", check.seeds),
          here ? studies::verdict_text(here->verdict) : "",
          here ? number(here->low) : "",
          here ? number(here->high) : "",
          here ? csv_cell(here->p_wrong) : "",
          check.is_factor ? "factor" : csv_cell(check.unit),
          csv_cell(check.covered),
          csv_cell(check.note)};
      text += join_text(fields, ",") + "\n";
    }
  }
  return text;
}

std::string timing_csv(const Findings& findings) {
  std::string text = "id,seconds\n";
  studies::RunSet seen;
  for (const studies::Record& record : findings.records()) {
    if (seen.insert(record.run->number()).second) {
      text += fmt::format("{},{}\n", record.run->id(), record.table->row(record.row).seconds);
    }
  }
  return text;
}

void write_curves_csv(const Findings& findings, studies::Store& store, const std::string& path) {
  // Kinds differ in what they know of an epoch: a column is there if some run has it.
  std::vector<std::string> columns;
  const auto each_curve = [&](const std::function<void(const std::string& id, const EpochTable& table)>& take) {
    studies::RunSet seen;
    for (const studies::Record& record : findings.records()) {
      const experiments::Run& run = record.run->run;
      const std::optional<std::string> stored =
          seen.insert(run.number).second ? store.blob(run.id(), "curve") : std::nullopt;
      if (stored) {
        take(run.id(), EpochTable(run.kind->curve_csv(run, store.snapshots(run.id()), *stored, store.path())));
      }
    }
  };
  for (const experiments::Experiment* kind : findings.plan().kinds) {
    for (const studies::Record& record : findings.records()) {
      const experiments::Run& run = record.run->run;
      const std::optional<std::string> stored = run.kind == kind ? store.blob(run.id(), "curve") : std::nullopt;
      if (stored) {
        EpochTable(run.kind->curve_csv(run, store.snapshots(run.id()), *stored, store.path())).add_names(columns);
        break;
      }
    }
  }
  io::AtomicFile file(path);
  file.write("id," + join_text(columns, ",") + "\n");
  each_curve([&](const std::string& id, const EpochTable& table) { file.write(table.lines(id, columns)); });
  file.commit();
}

std::vector<TieSensitivity> tie_sensitivity(const Findings& findings) {
  const std::vector<Cell>& ours = findings.cells();
  std::vector<TieSensitivity> list;
  for (const auto& [rule, name] :
       {std::pair{studies::Ties::kLoss, "loss"}, std::pair{studies::Ties::kUpdates, "updates"},
        std::pair{studies::Ties::kFirst, "first"}}) {
    if (rule == findings.study().analysis.ties) {
      continue;
    }
    const std::vector<Cell> others = studies::choose(
        findings.plan(), findings.records(), findings.study().analysis.tune, rule, findings.study().analysis.restarts);
    TieSensitivity sensitivity{name, static_cast<int>(ours.size()), 0, 0, 0};
    for (std::size_t at = 0; at < ours.size(); ++at) {
      bool changed = false;
      for (std::size_t split = 0; split < ours[at].splits.size(); ++split) {
        changed = changed || ours[at].splits[split].settings != others[at].splits[split].settings;
      }
      const std::string headline = ours[at].example->run.kind->parts().headline;
      const studies::UnitValues mine = studies::unit_values({&ours[at]}, headline);
      const studies::UnitValues theirs = studies::unit_values({&others[at]}, headline);
      const double change =
          mine.empty() || theirs.empty() ? 0 : std::abs(studies::mean_of(mine) - studies::mean_of(theirs));
      sensitivity.changed += changed ? 1 : 0;
      sensitivity.mean_change += change / static_cast<double>(ours.size());
      sensitivity.largest_change = std::max(sensitivity.largest_change, change);
    }
    list.push_back(sensitivity);
  }
  return list;
}

}  // namespace modlab::report

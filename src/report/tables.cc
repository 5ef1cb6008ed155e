#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "io/file.h"
#include "studies/check_text.h"
#include "studies/curve.h"

namespace modlab::report {
namespace {

using studies::Cell;
using studies::Findings;

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char letter : text) {
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  }
  return quoted + "\"";
}

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

// Axes that tell cells apart: all but the tuned ones, splits and seeds.
std::vector<std::string> cell_axes(const Findings& findings) {
  std::vector<std::string> axes;
  const std::vector<std::string>& tune = findings.study().analysis.tune;
  for (const std::string& axis : findings.plan().axes) {
    if (axis != "seed" && axis != "split_seed" && std::ranges::find(tune, axis) == tune.end()) {
      axes.push_back(axis);
    }
  }
  return axes;
}

std::string header(const std::vector<std::string>& names) { return join_text(names, ",") + "\n"; }

}  // namespace

CellNames::CellNames(const Findings& findings) : findings_(findings) {
  for (const std::string& axis : cell_axes(findings)) {
    // The series says what the model is; what is the same everywhere need not be said.
    if (axis != "task" && axis != "model" && axis != "density" && findings.plan().varies(axis)) {
      axes_.push_back(axis);
    }
  }
}

std::string CellNames::name(const Cell& cell) const {
  std::vector<std::string> parts = {findings_.value(cell, "task")};
  for (const std::string& axis : axes_) {
    if (const std::string value = findings_.value(cell, axis); !value.empty()) {
      parts.push_back(fmt::format("{} {}", axis, value));
    }
  }
  return join_text(parts, ", ");
}

std::string runs_csv(const Findings& findings) {
  const studies::StudyPlan& plan = findings.plan();
  std::vector<std::string> names = {"id", "series"};
  names.insert(names.end(), plan.axes.begin(), plan.axes.end());
  names.insert(names.end(), {"best_epoch"});
  const std::vector<std::string> measures = studies::measure_names();
  names.insert(names.end(), measures.begin(), measures.end());
  std::string text = header(names);
  for (const studies::Record& record : findings.records()) {
    text += record.run->id + "," + csv_text(plan.series[record.run->series]);
    for (const std::string& value : record.run->values) {
      text += "," + csv_text(value);
    }
    text += fmt::format(",{}", record.best_epoch);
    for (const double value : record.values) {
      text += "," + csv_number(value);
    }
    text += "\n";
  }
  return text;
}

std::string chosen_csv(const Findings& findings) {
  const std::vector<std::string> axes = cell_axes(findings);
  std::vector<std::string> names = {"series"};
  names.insert(names.end(), axes.begin(), axes.end());
  names.insert(names.end(), {"split_seed", "chosen", "validation_accuracy", "configurations", "tied"});
  std::string text = header(names);
  for (const Cell& cell : findings.cells()) {
    for (const Cell::Split& split : cell.splits) {
      text += csv_text(findings.value(cell, "series"));
      for (const std::string& axis : axes) {
        text += "," + csv_text(findings.value(cell, axis));
      }
      text += fmt::format(",{},{},{},{},{}\n", split.split_seed, csv_text(split.settings), csv_number(split.validation),
                          split.configurations, split.tied);
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
  for (const Cell& cell : findings.cells()) {
    std::string start = csv_text(findings.value(cell, "series"));
    for (const std::string& axis : axes) {
      start += "," + csv_text(findings.value(cell, axis));
    }
    for (const studies::Measure& measure : studies::all_measures()) {
      const studies::UnitValues units = studies::unit_values({&cell}, studies::measure_index(measure.name));
      if (units.empty()) {
        continue;
      }
      const measures::MeanWithErrors mean = studies::combine_units(units);
      text += fmt::format("{},{},{},{},{},{},{}\n", start, measure.name, csv_number(mean.mean),
                          csv_number(mean.error_within), csv_number(mean.error_between), csv_number(mean.deviation),
                          mean.count);
    }
  }
  return text;
}

std::string claims_csv(const std::vector<studies::ClaimResult>& claims) {
  std::string text = "claim,claim_verdict,check,verdict,estimate,low,high,p,unit,runs,note\n";
  for (const studies::ClaimResult& claim : claims) {
    for (const studies::CheckResult& check : claim.checks) {
      const auto number = [&](double value) { return csv_number(check.is_factor ? std::pow(10, value) : value); };
      text += fmt::format("{},{},{},{}", csv_text(claim.claim->id), studies::verdict_text(claim.verdict),
                          csv_text(check.text), studies::verdict_text(check.verdict));
      text += check.interval
                  ? fmt::format(",{},{},{},{}", number(check.interval->estimate), number(check.interval->low),
                                number(check.interval->high), check.p ? csv_number(*check.p) : "")
                  : ",,,,";
      text += fmt::format(",{},{},{}\n", check.is_factor ? "factor" : csv_text(check.unit), check.runs,
                          csv_text(check.note));
    }
  }
  return text;
}

std::string timing_csv(const Findings& findings, studies::Store& store) {
  const auto results = store.results();
  std::string text = "id,seconds\n";
  std::set<std::string> seen;
  for (const studies::Record& record : findings.records()) {
    if (seen.insert(record.run->id).second) {
      text += fmt::format("{},{}\n", record.run->id, results.at(record.run->id).seconds);
    }
  }
  return text;
}

void write_curves_csv(const Findings& findings, studies::Store& store, const std::string& path) {
  io::AtomicFile file(path);
  const bool has_images =
      std::ranges::any_of(findings.records(), [](const studies::Record& record) { return record.run->spec.on_images; });
  file.write(std::string("id,epoch,train_accuracy,validation_accuracy,test_accuracy") +
             (has_images ? ",seen_accuracy" : "") + "\n");
  std::set<std::string> seen;
  for (const studies::Record& record : findings.records()) {
    const studies::PlannedRun& run = *record.run;
    if (!seen.insert(run.id).second) {
      continue;
    }
    const std::optional<std::string> stored = store.curve(run.id);
    if (!stored) {
      continue;
    }
    const models::PartRows& rows = record.rows;
    const std::size_t parts = run.spec.on_images ? engine::kScoreParts : engine::kParts;
    const studies::Curve curve = studies::decode_curve(*stored, run.spec.epochs, parts, store.path());
    std::string text;
    for (std::size_t epoch = 0; epoch < curve.right_bits[0].size(); ++epoch) {
      text += fmt::format("{},{}", run.id, epoch + 1);
      for (std::size_t part = 0; part < (has_images ? engine::kScoreParts : engine::kParts); ++part) {
        text += part < parts
                    ? fmt::format(",{:.6g}", 100.0 * curve.right_bits[part][epoch] / (rows[part] * rows.outputs))
                    : std::string(",");
      }
      text += "\n";
    }
    file.write(text);
  }
  file.commit();
}

std::vector<TieSensitivity> tie_sensitivity(const Findings& findings) {
  const std::size_t test = studies::measure_index("test_accuracy");
  const std::vector<Cell>& ours = findings.cells();
  std::vector<TieSensitivity> list;
  for (const auto& [rule, name] :
       {std::pair{studies::Ties::kLoss, "loss"}, std::pair{studies::Ties::kUpdates, "updates"},
        std::pair{studies::Ties::kFirst, "first"}}) {
    if (rule == findings.study().analysis.ties) {
      continue;
    }
    const std::vector<Cell> others =
        studies::choose(findings.plan(), findings.records(), findings.study().analysis.tune, rule);
    TieSensitivity sensitivity{name, static_cast<int>(ours.size()), 0, 0, 0};
    for (std::size_t at = 0; at < ours.size(); ++at) {
      bool changed = false;
      for (std::size_t split = 0; split < ours[at].splits.size(); ++split) {
        changed = changed || ours[at].splits[split].settings != others[at].splits[split].settings;
      }
      const double change = std::abs(studies::mean_of(studies::unit_values({&ours[at]}, test)) -
                                     studies::mean_of(studies::unit_values({&others[at]}, test)));
      sensitivity.changed += changed ? 1 : 0;
      sensitivity.mean_change += change / static_cast<double>(ours.size());
      sensitivity.largest_change = std::max(sensitivity.largest_change, change);
    }
    list.push_back(sensitivity);
  }
  return list;
}

}  // namespace modlab::report

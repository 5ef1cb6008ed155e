#include "studies/findings.h"

#include <algorithm>
#include <cmath>

namespace modlab::studies {
namespace {

double constant_accuracy(const tasks::TaskSuite& suite) {
  double sum = 0;
  int outputs = 0;
  for (const tasks::Task& task : suite.tasks) {
    for (int output = 0; output < task.table.outputs; ++output, ++outputs) {
      const std::vector<int> rows = tasks::possible_rows(task);
      const auto ones =
          std::ranges::count_if(rows, [&](int row) { return tasks::output_bit(task.table, row, output); });
      const double share = static_cast<double>(ones) / static_cast<double>(rows.size());
      sum += std::max(share, 1 - share);
    }
  }
  return 100 * sum / outputs;
}

}  // namespace

Findings::Findings(const Study& study, const StudyPlan& plan, Store& store)
    : study_(study), plan_(plan), records_(load_records(store, plan, study.analysis.snapshot)) {
  for (const auto& [name, suite] : plan.suites) {
    base_rates_[name] = constant_accuracy(suite);
  }
}

const std::vector<Cell>& Findings::cells(const std::optional<std::vector<std::string>>& tune) const {
  const std::vector<std::string>& names = tune ? *tune : study_.analysis.tune;
  const auto found = cells_.find(names);
  if (found != cells_.end()) {
    return found->second;
  }
  return cells_.emplace(names, choose(plan_, records_, names, study_.analysis.ties)).first->second;
}

bool Findings::matches(const Cell& cell, const Selector& selector) const {
  return std::ranges::all_of(selector, [&](const auto& entry) {
    return std::ranges::find(entry.second, value(cell, entry.first)) != entry.second.end();
  });
}

double Findings::base_rate(const Cell& cell, const Measure& measure) const {
  const models::RunSpec& spec = cell.example->spec;
  if (!spec.on_images || measure.name == "seen_accuracy") {
    return base_rates_.at(spec.task);
  }
  const UnitValues accuracies = unit_values({&cell}, measure_index("unseen_accuracy"));
  const UnitValues gains = unit_values({&cell}, measure_index("unseen_gain"));
  return mean_of(accuracies) - mean_of(gains);
}

std::vector<std::string> axis_values(const Findings& findings, const std::vector<const Cell*>& cells,
                                     const std::string& axis) {
  std::vector<std::string> values;
  for (const Cell* cell : cells) {
    const std::string value_here = findings.value(*cell, axis);
    if (std::ranges::find(values, value_here) == values.end()) {
      values.push_back(value_here);
    }
  }
  return values;
}

UnitValues unit_values(const std::vector<const Cell*>& cells, std::size_t measure) {
  std::map<Unit, std::pair<double, int>> sums;
  for (const Cell* cell : cells) {
    for (const Cell::Split& split : cell->splits) {
      for (const Record* record : split.runs) {
        const double value = record->values[measure];
        if (!std::isnan(value)) {
          auto& [sum, count] = sums[{split.split_seed, record->run->spec.seed}];
          sum += value;
          ++count;
        }
      }
    }
  }
  UnitValues values;
  for (const auto& [unit, sum] : sums) {
    values[unit] = sum.first / sum.second;
  }
  return values;
}

double mean_of(const UnitValues& values) {
  double sum = 0;
  for (const auto& [unit, value] : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

measures::MeanWithErrors combine_units(const UnitValues& values) {
  std::map<std::uint32_t, std::vector<double>> by_split;
  for (const auto& [unit, value] : values) {
    by_split[unit.first].push_back(value);
  }
  std::vector<std::vector<double>> groups;
  for (auto& [split, group] : by_split) {
    groups.push_back(std::move(group));
  }
  return measures::combine(groups);
}

}  // namespace modlab::studies

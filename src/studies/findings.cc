#include "studies/findings.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace modlab::studies {
Findings::Findings(const Study& study, const StudyPlan& plan, Store& store)
    : study_(study),
      plan_(plan),
      results_(std::make_shared<const StudyResults>(store, study.analysis.snapshot)),
      records_(load_records(*results_, plan, store.path())) {}

const std::vector<Cell>& Findings::cells(const std::optional<std::vector<std::string>>& tune) const {
  const std::vector<std::string>& names = tune ? *tune : study_.analysis.tune;
  const auto found = cells_.find(names);
  if (found != cells_.end()) {
    return found->second;
  }
  return cells_.emplace(names, choose(plan_, records_, names, study_.analysis.ties, study_.analysis.restarts))
      .first->second;
}

std::string Findings::value(const Cell& cell, const std::string& axis) const {
  if (axis == kRestarts) {
    return cell.restarts == 0 ? "" : std::to_string(cell.restarts);
  }
  return plan_.value(*cell.example, axis);
}

bool Findings::matches(const Cell& cell, const Selector& selector) const {
  return std::ranges::all_of(selector, [&](const auto& entry) {
    return std::ranges::find(entry.second, value(cell, entry.first)) != entry.second.end();
  });
}

double Findings::base_rate(const Cell& cell, const experiments::Measure& measure) const {
  const UnitValues values = unit_values({&cell}, measure.chance);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : mean_of(values);
}

std::string Findings::split_word() const {
  const std::vector<const experiments::Experiment*>& kinds = plan_.kinds;
  const bool agree = !kinds.empty() && std::ranges::all_of(kinds, [&](const experiments::Experiment* kind) {
    return kind->split_word() == kinds.front()->split_word();
  });
  return agree ? kinds.front()->split_word() : "split";
}

std::vector<const experiments::Measure*> Findings::measures() const {
  std::vector<const experiments::Measure*> list;
  for (const experiments::Measure& measure : experiments::all_measures()) {
    const std::optional<std::size_t> column = table().column(measure.name);
    if (column && std::ranges::any_of(
                      records_, [&](const Record& record) { return !std::isnan(table().at(record.row, *column)); })) {
      list.push_back(&measure);
    }
  }
  return list;
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

UnitValues unit_values(const std::vector<const Cell*>& cells, const std::string& measure) {
  std::map<Unit, std::pair<double, int>> sums;
  const ResultTable* table = nullptr;
  std::optional<std::size_t> column;
  for (const Cell* cell : cells) {
    for (const Cell::Split& split : cell->splits) {
      for (std::size_t run = 0; run < split.runs.size(); ++run) {
        const Record* record = split.runs[run];
        if (record->table != table) {
          table = record->table;
          column = table->column(measure);
        }
        const double value = column ? table->at(record->row, *column) : std::numeric_limits<double>::quiet_NaN();
        if (!std::isnan(value)) {
          auto& [sum, count] = sums[{split.number, split.repetition(run)}];
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
  std::map<std::uint64_t, std::vector<double>> by_split;
  for (const auto& [unit, value] : values) {
    by_split[unit.split].push_back(value);
  }
  std::vector<std::vector<double>> groups;
  for (auto& [split, group] : by_split) {
    groups.push_back(std::move(group));
  }
  return measures::combine(groups);
}

}  // namespace modlab::studies

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measures/statistics.h"
#include "studies/selection.h"
#include "studies/study.h"

namespace modlab::studies {

// A training that can be paired with another one: the same rows, and the same number of the training seed.
struct Unit {
  std::uint64_t split = 0;  // Cell::Split::number
  std::uint64_t seed = 0;   // Record::seed
  std::size_t place = 0;    // among the cells that are taken together, where each of their runs counts for itself

  friend auto operator<=>(const Unit&, const Unit&) = default;
};
using UnitValues = std::map<Unit, double>;

// What a study has found: its finished runs and the configurations that selection chose. The source of figures, claims
// and tables.
class Findings {
 public:
  Findings(const Study& study, const StudyPlan& plan, Store& store);

  const Study& study() const { return study_; }
  const StudyPlan& plan() const { return plan_; }
  const std::vector<Record>& records() const { return records_; }
  // The chosen cells, with the study's list of tuned settings or another one.
  const std::vector<Cell>& cells(const std::optional<std::vector<std::string>>& tune = std::nullopt) const;

  // On an axis: "series", "restarts", or the name of a setting.
  std::string value(const Cell& cell, const std::string& axis) const;
  bool matches(const Cell& cell, const Selector& selector) const;
  // What chance reaches in the runs of a cell: the mean of the measure that says so. Not a number where nothing does.
  double base_rate(const Cell& cell, const experiments::Measure& measure) const;
  // What its kinds of run call what was drawn: "split", where they do not agree.
  std::string split_word() const;
  // The measures that some run of the study has, in the order of the list of measures.
  std::vector<const experiments::Measure*> measures() const;
  const ResultTable& table() const { return results_->shown(); }

 private:
  const Study& study_;
  const StudyPlan& plan_;
  std::shared_ptr<const StudyResults> results_;
  std::vector<Record> records_;
  mutable std::map<std::vector<std::string>, std::vector<Cell>> cells_;
};

// The values of an axis among some cells, in the order in which the plan has them.
std::vector<std::string> axis_values(const Findings& findings, const std::vector<const Cell*>& cells,
                                     const std::string& axis);

// A measure of all runs of some cells, averaged over the cells for each unit; runs without the measure are left out.
UnitValues unit_values(const std::vector<const Cell*>& cells, const std::string& measure);
double mean_of(const UnitValues& values);
// Mean with standard errors within and between splits.
measures::MeanWithErrors combine_units(const UnitValues& values);

}  // namespace modlab::studies

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace modlab::experiments {

// A number of one run that figures and claims can name. A kind's list of measures is the only place that knows its
// label and unit; kinds that share a name mean the same by it.
struct Measure {
  std::string name;
  std::string label;
  std::string unit;
  bool log = false;  // spans orders of magnitude: drawn and compared as a logarithm
  std::optional<std::pair<double, double>> domain;
  bool higher_is_better = true;
  std::string chance;  // of an accuracy: the measure that says what guessing reaches. It saturates at 100
  // Of a percentage: 100 for a run that has it and 0 for one that has not, where others are shares of many answers.
  bool is_yes_or_no = false;

  bool is_accuracy() const { return !chance.empty(); }
};

// Of one snapshot of a run, by name. What means nothing for a run is not there.
using Numbers = std::map<std::string, double>;

}  // namespace modlab::experiments

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace modlab::measures {

// How often each module is used where each rule applies: rows are rules, columns are modules, every row sums to 1.
class ModuleUse {
 public:
  static constexpr int kMostRules = 1024;  // and modules: matching them takes the third power of it

  // values[rule * modules + module], of rows with any positive sum: shares or counts. Throws ConfigError that names the
  // row where they are none.
  ModuleUse(int rules, int modules, std::vector<double> values);

  int rules() const { return rules_; }
  int modules() const { return modules_; }
  std::span<const double> row(int rule) const;
  double at(int rule, int module) const { return row(rule)[static_cast<std::size_t>(module)]; }

 private:
  int rules_;
  int modules_;
  std::vector<double> values_;
};

// Use that tells nothing of the rule: every module equally often, the baseline of random gates.
ModuleUse uniform_use(int rules, int modules);

// Whether modules specialise or collapse: equations (16) to (20) of "Is a Modular Architecture Enough?", for rules that
// are equally frequent. 0 is best in all of them. With other numbers of modules than of rules the least that is
// possible is 0 and independence is 1 as well: sums are taken over as many pairs as there can be, information is held
// against the logarithm of the smaller number. Of a single module or rule there is nothing to say, which counts as 0.
struct UseMeasures {
  std::vector<double> share;        // of each module in all use
  double collapse_avg = 0;          // share that modules lack to an equal one, from 0 to 1
  double collapse_worst = 0;        // the same of the least used module
  double alignment = 0;             // use that lies outside the best pairing of rules with modules
  double imi = 0;                   // inverse mutual information of rules and modules, from 0 to 1
  double adaptation = 0;            // distance of sorted module use to sorted rule frequencies, as these change
  double adaptation_matched = 0;    // the same for rules and modules that are paired by use instead of by size
  double entropy = 0;               // of the modules that a rule uses, averaged; 0 is one module, 1 all alike
  int dead_modules = 0;             // used less than a hundredth of an equal share
  std::vector<int> module_of_rule;  // the best pairing; -1 where no module is left
};
UseMeasures measure_use(const ModuleUse& use);

// Those of them that are real numbers, by the names that they have everywhere.
struct UseMeasure {
  const char* name;
  const char* label;    // on the axis of a picture
  const char* meaning;  // beside the number
  double UseMeasures::*value;
};
std::span<const UseMeasure> use_measures();

bool is_dead(double share, int modules);

// Rule frequencies to which module use should adapt: the published draws from Dirichlet(1, ..., 1), of seeds 0 to 99.
inline constexpr std::uint32_t kFrequencyDraws = 100;
std::vector<double> drawn_frequencies(int rules, std::uint32_t seed);

// Half the distance between two distributions, largest against largest; the shorter one is filled up with zeros.
double sorted_distance(std::vector<double> first, std::vector<double> second);

}  // namespace modlab::measures

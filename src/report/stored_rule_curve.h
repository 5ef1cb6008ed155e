#pragma once

#include <array>
#include <limits>
#include <vector>

#include "experiments/experiment.h"
#include "studies/store.h"

namespace modlab::report {

// The five published measures of module use, as the store calls them.
inline constexpr std::array<const char*, 5> kRuleMeasures = {"collapse_avg", "collapse_worst", "alignment",
                                                             "adaptation", "imi"};

// A network on rules at one moment of its training. What is not known is not a number.
struct RuleMoment {
  int iteration = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();
  std::array<double, kRuleMeasures.size()> measures{};
  std::vector<double> activation;  // [rule][module]; empty without modules, and of a training that diverged
};

// The training of a run, from the first moment to the last; where no curve was kept, the last moment alone. Throws
// FormatError that names the run where what the store has does not fit its settings.
std::vector<RuleMoment> stored_rule_curve(const experiments::Run& run, studies::Store& store);

}  // namespace modlab::report

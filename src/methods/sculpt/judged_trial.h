#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/detect/criteria.h"
#include "methods/detect/detect.h"
#include "methods/sculpt/trial.h"

namespace modlab::methods {

struct JudgedNetwork {
  models::LayeredNetwork network;
  Detection detection;
  std::vector<Criterion> criteria;
  std::optional<bool> success;  // nothing where the task does not say what its modules are
};

// The modules of all networks of a trial that are tied for the fewest edges. Which of them stands for the trial is
// open, so a share of them is what is said of it; the paper took the one that looked best.
class JudgedTrial {
 public:
  std::vector<JudgedNetwork> networks;

  // The share, from 0 to 1, of tied networks that have the expected structure, or that meet one criterion; nothing
  // where the task does not say, and 0 where no network was carved.
  std::optional<double> success() const;
  std::optional<double> meets(const std::string& criterion) const;
  // The same as success() by the rule of the paper's tables for networks with one hidden layer.
  std::optional<double> success_as_in_tables(const tasks::Task& task) const;

 private:
  double share_of(int count) const;
};

JudgedTrial judge(const TrialOutcome& outcome, const tasks::Task& task, const DetectSettings& settings);

}  // namespace modlab::methods

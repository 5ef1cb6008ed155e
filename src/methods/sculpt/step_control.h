#pragma once

#include <optional>

#include "methods/sculpt/sculpt_spec.h"

namespace modlab::methods {

// Which percentage to prune next: the same step again after one that was accepted, half of it after one that was not,
// and the end where the smallest possible step is not accepted (Neural Sculpting, section 4.2 of its behaviour).
class StepControl {
 public:
  // `done` percent are pruned already; `least_step` is one unit, or one edge.
  StepControl(PruneSchedule schedule, double step, double done, double least_step);

  // The percentage, of what there was before pruning, to try next; nothing at the end. 100 percent are never tried.
  std::optional<double> next();
  void accept();
  void reject();

  double step() const { return step_; }

 private:
  double proposal() const;

  PruneSchedule schedule_;
  double step_;
  double done_;
  double least_step_;
  int accepted_ = 0;
  bool ended_ = false;
};

}  // namespace modlab::methods

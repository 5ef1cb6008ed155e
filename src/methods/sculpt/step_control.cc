#include "methods/sculpt/step_control.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace modlab::methods {

StepControl::StepControl(PruneSchedule schedule, double step, double done, double least_step)
    : schedule_(schedule), step_(std::max(step, least_step)), done_(done), least_step_(least_step) {}

// Each schedule is a curve from 0 to 100 percent; a step goes `step_` percent further along it from where it is.
double StepControl::proposal() const {
  const double step = step_ / 100;
  const double left = std::clamp(1 - done_ / 100, 0.0, 1.0);
  switch (schedule_) {
    case PruneSchedule::kLinear:
      break;
    case PruneSchedule::kLottery:
      return 100 - 100 * left * (1 - step);
    case PruneSchedule::kExponential:
      return done_ + std::max(step_ * std::pow(0.5, accepted_), least_step_);
    case PruneSchedule::kCosine: {
      const double position = std::acos(2 * left - 1) / std::numbers::pi;
      return position + step >= 1 ? 100 : 50 - 50 * std::cos(std::numbers::pi * (position + step));
    }
    case PruneSchedule::kCubic: {
      const double rest = std::max(std::cbrt(left) - step, 0.0);
      return 100 - 100 * rest * rest * rest;
    }
  }
  return done_ + step_;
}

std::optional<double> StepControl::next() {
  while (!ended_ && proposal() >= 100) {
    reject();
  }
  if (ended_) {
    return std::nullopt;
  }
  return proposal();
}

void StepControl::accept() {
  done_ = proposal();
  ++accepted_;
}

void StepControl::reject() {
  if (step_ > least_step_) {
    step_ = std::max(step_ / 2, least_step_);
  } else {
    ended_ = true;
  }
}

}  // namespace modlab::methods

#include "engine/training.h"

#include <cmath>
#include <numbers>

namespace modlab::engine {

double schedule_factor(Schedule schedule, double gamma, int epoch, int epochs) {
  switch (schedule) {
    case Schedule::kExponential:
      return std::pow(gamma, epoch - 1);
    case Schedule::kCosine:
      return 0.5 * (1.0 + std::cos(std::numbers::pi * (epoch - 1) / epochs));
    case Schedule::kConstant:
      break;
  }
  return 1.0;
}

}  // namespace modlab::engine

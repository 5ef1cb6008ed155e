#include "engine/training.h"

#include <algorithm>
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

int next_curve_epoch(int epoch) {
  constexpr int kPointsPerFold = 2000;
  return epoch + std::max(1, epoch / kPointsPerFold);
}

std::vector<int> curve_epochs(int epochs) {
  std::vector<int> kept;
  for (int epoch = 1; epoch < epochs; epoch = next_curve_epoch(epoch)) {
    kept.push_back(epoch);
  }
  kept.push_back(epochs);
  return kept;
}

}  // namespace modlab::engine

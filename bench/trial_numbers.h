#pragma once

namespace modlab::bench {

// What became of a network that was sculpted.
struct TrialNumbers {
  double trainings = 0;
  double edges = 0;  // of its winners
  double ties = 0;   // winners
};

}  // namespace modlab::bench

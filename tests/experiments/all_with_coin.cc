// The list of kinds with one line more. It takes the place of src/experiments/all.cc in the program that
// tests/experiments/coin_test.cc runs: nothing else is different there.

#include "experiments/bits/bits.h"
#include "experiments/coin.h"
#include "experiments/experiment.h"
#include "experiments/images/images.h"
#include "experiments/rules/rules.h"
#include "experiments/sculpt/sculpt.h"

namespace modlab::experiments {

std::span<const Experiment* const> all() {
  static const Experiment* const kKinds[] = {
      &bits(), &images(), &sculpt(), &rules(), &test::coin(),
  };
  return kKinds;
}

}  // namespace modlab::experiments

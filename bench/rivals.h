#pragma once

#include <optional>
#include <string>

#include "bench/work.h"

namespace modlab::bench {

struct RivalTiming {
  double us_per_net_step = 0;
  double test_accuracy = 0;  // of so few epochs that it says nothing; shown in the JSON only
  std::string torch;         // its version
  std::string blas;
};

// Runs one script of bench/rivals on the work, one thread; nothing if it cannot (functorch is missing, say). Throws
// ConfigError if PyTorch itself is not there.
std::optional<RivalTiming> time_rival(const std::string& rival, const Work& work, int ensemble, int epochs);

// Throws ConfigError with the way out if there is no Debian python3 with torch.
void require_torch();

}  // namespace modlab::bench

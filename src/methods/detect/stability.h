#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "methods/detect/detect.h"

// Would the modules be the same had a setting or the order of the units been a little different?
namespace modlab::methods {

struct StabilitySettings {
  std::vector<double> thresholds = {0.1, 0.15, 0.2, 0.25, 0.3};
  std::vector<double> mergings = {0.8, 0.85, 0.9, 0.95};
  int renumberings = 5;  // random orders of the units within their layers
  std::uint64_t seed = 0;
};

enum class Change { kThreshold, kMerging, kRenumbering };

// One thing is changed at a time.
struct Variation {
  Change change = Change::kThreshold;
  double value = 0;   // the threshold; for renumberings 0, 1, ..
  bool same = false;  // the same units form modules together
};

enum class CloseCall {
  kTiedMerge,      // in the dendrogram, a cluster was as near to a third one as to that which it was merged with
  kTiedClusters,   // merges at the same distance lie on both sides of the cut
  kTiedIndex,      // another number of clusters has the same index
  kTiedPair,       // other two units are as similar as those of the test, and it says otherwise of them
  kTestAtZero,     // a test, or the comparison of both, stands at equality
  kNearThreshold,  // the index is near the threshold, and the tests would decide otherwise
  kNearMerging     // a share of edges is near the one at which clusters merge
};

// A decision that could easily have been another one.
struct CloseDecision {
  CloseCall call = CloseCall::kTiedMerge;
  int layer = 0;
  int cluster = -1;   // for merging, otherwise -1
  double margin = 0;  // to the threshold
};

struct Stability {
  std::vector<Variation> variations;
  std::vector<CloseDecision> close;
  bool all_same() const;
};

Stability stability(const models::LayeredNetwork& network, const DetectSettings& settings,
                    const StabilitySettings& variations = {});

// For people: "a cluster as near to two others".
std::string_view text_of(CloseCall call);

}  // namespace modlab::methods

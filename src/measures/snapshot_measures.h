#pragma once

#include <optional>
#include <vector>

#include "measures/flops.h"
#include "measures/image_measures.h"
#include "measures/network_measures.h"
#include "measures/pool_use.h"
#include "measures/specialisation.h"
#include "models/saved_snapshot.h"

// Everything that `modlab measure` says of a saved network.
namespace modlab::measures {

struct TaskMeasures {
  double accuracy = 0;  // percent, over the whole truth table
  std::optional<InSitu> in_situ;
  std::optional<int> relaxed;  // the relaxed edit distance, if it was asked for
};

// Of training up to the snapshot's epoch.
struct TrainingCost {
  FlopCount count;
  double updates = 0;
  double flops = 0;
};

struct SnapshotMeasures {
  std::vector<TaskMeasures> tasks;  // empty on images
  NetworkMeasures network;
  std::optional<Specialisation> specialisation;
  std::optional<PoolUse> pool;
  std::optional<TrainingCost> paper;  // nothing if the file does not say the epoch
  std::optional<TrainingCost> exact;
};

// Nothing is relaxed on images.
SnapshotMeasures measure_snapshot(const models::SavedSnapshot& snapshot, bool with_relaxed);
SnapshotMeasures measure_snapshot(const models::SavedImageSnapshot& snapshot, bool with_relaxed);

// Runs a network on images on its own samples and on all test images.
ImageView view_images(const models::SavedImageSnapshot& snapshot);

}  // namespace modlab::measures

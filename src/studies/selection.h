#pragma once

#include <string>
#include <vector>

#include "studies/measure.h"
#include "studies/store.h"
#include "studies/study_plan.h"

namespace modlab::studies {

// A planned run that has been trained, with all measures of the snapshot under study.
struct Record {
  const PlannedRun* run = nullptr;
  models::PartRows rows;
  int best_epoch = 0;
  double validation_accuracy = 0;  // at the best epoch: what selection may look at
  double validation_loss = 0;
  double updates = 0;
  std::vector<double> values;  // [measure]
};

// The finished runs of a plan, in its order.
std::vector<Record> load_records(Store& store, const StudyPlan& plan, SnapshotKind snapshot);

// One series with every setting fixed but the tuned ones, the split and the seed. On each split the configuration with
// the best validation accuracy stands for it.
struct Cell {
  struct Split {
    std::uint32_t split_seed = 0;
    std::vector<const Record*> runs;  // of the chosen configuration, one for each seed
    std::string settings;             // "lr 0.01, batch_size 4": the chosen values
    double validation = 0;            // mean best validation accuracy over its seeds
    int configurations = 0;
    int tied = 0;  // configurations with that same validation accuracy, the chosen one included
  };
  const PlannedRun* example = nullptr;  // any run: for the values of axes
  std::vector<Split> splits;
};

// Selection as published (spec 4.6): for each cell and split by the mean over training seeds of the best validation
// accuracy; test data play no part. Ties, which are the norm, fall to the lower mean validation loss, then to fewer
// updates, then to the order of the grid (Ties::kLoss); Ties::kUpdates asks for updates first, Ties::kFirst for the
// order alone.
std::vector<Cell> choose(const StudyPlan& plan, const std::vector<Record>& records,
                         const std::vector<std::string>& tune, Ties ties);

}  // namespace modlab::studies

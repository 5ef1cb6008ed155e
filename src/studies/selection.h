#pragma once

#include <string>
#include <vector>

#include "studies/store.h"
#include "studies/study_plan.h"

namespace modlab::studies {

// A planned run that has results, with all measures of the snapshot under study.
struct Record {
  const PlannedRun* run = nullptr;
  const ResultTable* table = nullptr;
  std::size_t row = 0;
  // At the best epoch: what selection may look at. Not a number where the kind has none.
  double validation = 0;
  double loss = 0;
  double cost = 0;
  std::uint64_t seed = 0;  // which repetition of its training it is

  // Not a number where the run does not have the measure.
  double measure(const std::string& name) const;
};

// All results of a store that selection and findings look at.
struct StudyResults {
  StudyResults(Store& store, const std::string& snapshot);

  ResultTable best;
  ResultTable other;  // of the snapshot under study, where that is not the best
  bool is_best = true;

  const ResultTable& shown() const { return is_best ? best : other; }
};

// The finished runs of a plan, in its order. Throws FormatError for one without the numbers that it must have.
std::vector<Record> load_records(const StudyResults& results, const StudyPlan& plan, const std::string& source);

// One series with every setting fixed but the tuned ones, the split and the seed. On each split the configuration with
// the best validation accuracy stands for it.
struct Cell {
  struct Split {
    std::string name;                 // what was drawn: its split seed; empty where nothing was
    std::uint64_t number = 0;         // the same as a number
    std::vector<const Record*> runs;  // of the chosen configuration, one for each seed
    std::string settings;             // "lr 0.01, batch_size 4": the chosen values
    double validation = 0;            // mean best validation accuracy over its seeds
    int configurations = 0;
    int tied = 0;              // configurations with that same validation accuracy, the chosen one included
    bool are_winners = false;  // each run is the best of several

    // What pairs a run with one of another cell: its seed, or which of the draws it has won.
    std::uint64_t repetition(std::size_t run) const { return are_winners ? run : runs[run]->seed; }
  };
  const PlannedRun* example = nullptr;  // any run: for the values of axes
  std::vector<Split> splits;
  int restarts = 0;  // how many runs each of its runs is the best of; 0: every run counts
};

// Selection as published: for each cell and split by the mean over training seeds of the best validation accuracy; test
// data play no part. Ties, which are the norm, fall to the lower mean validation loss, then to fewer
// updates, then to the order of the grid (Ties::kLoss); Ties::kUpdates asks for updates first, Ties::kFirst for the
// order alone.
//
// With restarts a cell becomes one for each of their numbers N: of the chosen configuration's seeds, N at a time and
// each once, the run with the best validation accuracy, then the lowest validation loss, counts; a hundred such draws
// at most.
std::vector<Cell> choose(const StudyPlan& plan, const std::vector<Record>& records,
                         const std::vector<std::string>& tune, Ties ties, const std::vector<int>& restarts = {});

}  // namespace modlab::studies

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/sculpt.h"

// What a store keeps of a trial, and the way back.
namespace modlab::experiments {

// Measures and blobs of a trial, judged as the run says. `names` are of the tied networks where they were not carved
// here; otherwise there are none.
Result record_trial(const Run& run, const methods::SculptRun& spec, const tasks::Task& task,
                    const methods::SculptResult& outcome, const std::vector<std::string>& names = {});

// One of the networks of a trial that are tied for the fewest edges.
struct TiedNetwork {
  double unit_step = 0;
  double edge_step = 0;
  std::optional<bool> success;  // nothing where the task does not say what is true
  // Of those that are worth showing, and of all that came from elsewhere: the network, and its history. Steps have no
  // weights where the history has none; weights in it are shares of the largest in their layer.
  std::optional<methods::SculptedNetwork> carved;
};

struct StoredTrial {
  int epochs = 0;
  bool is_given = false;  // from a file
  std::vector<TiedNetwork> tied;
};

// `blob` gives what the store has under a name. Throws FormatError, naming `source` and the run, for what cannot be.
StoredTrial read_trial(const Run& run, const methods::SculptRun& spec, const tasks::Task& task,
                       const std::function<std::optional<std::string>(const std::string& name)>& blob,
                       const std::string& source);

// Brings the blobs of an older store into the present form.
void upgrade_trial(Result& result);

}  // namespace modlab::experiments

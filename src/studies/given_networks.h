#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "methods/sculpt/sculpt.h"
#include "models/layered_network_file.h"
#include "studies/store.h"

// Networks that were trained and pruned elsewhere, judged as if they were the runs of a study.
namespace modlab::studies {

struct GivenTrial {
  models::RunSpec run;
  methods::SculptResult result;
  std::vector<std::string> names;  // of the tied networks
};

struct GivenTrials {
  std::vector<GivenTrial> trials;
  std::size_t networks = 0;  // that there were, and
  std::size_t used = 0;      // that are of some trial
};

// The runs that have networks: of their task ("task", or "modularity" as a list of numbers), hidden layers and "seed",
// and with their learning rate ("lr"), batch size ("batch") and kind of pruning (whether there is a "p_u" above zero)
// where a file says so. A network with nearly all of its edges is the dense one; of the others those with the fewest
// edges are tied. Throws FormatError for a network that does not say its task and seed, or does not fit the task.
GivenTrials given_trials(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                         std::span<const models::NamedNetwork> networks);

void judge_given(const GivenTrials& given, const std::map<std::string, tasks::TaskSuite>& suites, Store& store);

}  // namespace modlab::studies

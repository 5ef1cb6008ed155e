#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks that were trained and pruned elsewhere, judged as if they were runs of a study: of those runs that have
// networks of their task ("task", or "modularity" as a list of numbers), hidden layers and "seed", and with their
// learning rate ("lr"), batch size ("batch") and kind of pruning (whether there is a "p_u" above zero) where a file
// says so. A network with nearly all of its edges is the dense one; of the others those with the fewest edges are tied.
// Throws FormatError for a network that does not say its task and seed, or does not fit the task, and ConfigError if
// none is of these runs.
std::unique_ptr<Work> judge_given(std::span<const Run> runs, const std::vector<std::string>& files);

}  // namespace modlab::experiments

#pragma once

#include <string>

#include "experiments/experiment.h"
#include "measures/flops.h"

namespace modlab::report {

// What training the network of a run costs, for people, as `modlab flops` prints it. Throws ConfigError for a run that
// is more than one training.
std::string flops_text(const experiments::Run& run);
measures::FlopCount flops_of(const experiments::Run& run, measures::Counting counting);

// The paper's Table 1, computed, with a star at every number that is printed otherwise.
std::string table_one_text();

}  // namespace modlab::report

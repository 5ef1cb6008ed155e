#pragma once

#include "cli/arguments.h"
#include "studies/workbench.h"

namespace modlab::cli {

// `modlab study submit NAME --slurm`: scripts of array jobs for a cluster, and with --run their submission.
int submit_study(const Arguments& arguments, const studies::StudyRequest& request);

}  // namespace modlab::cli

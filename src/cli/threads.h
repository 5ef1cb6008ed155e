#pragma once

#include "cli/arguments.h"

namespace modlab::cli {

// What `--threads` says, or all cores.
int thread_count(const Arguments& arguments);

}  // namespace modlab::cli

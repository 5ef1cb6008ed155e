#pragma once

#include <string>

#include "cli/arguments.h"

namespace modlab::cli {

// --snapshot best|last, for verbs that look at saved networks.
Option snapshot_option();

// What it says. Throws ConfigError, also if the command line names no network.
std::string snapshot_name(const Arguments& arguments);

}  // namespace modlab::cli

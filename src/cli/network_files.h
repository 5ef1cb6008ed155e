#pragma once

#include <vector>

#include "cli/arguments.h"
#include "models/layered_network_file.h"

namespace modlab::cli {

// --id, --tensors, --inputs-first, --sizes and --snapshot, for verbs that read networks of layers.
std::vector<Option> network_file_options();

// The networks of all files that a command line names; with --id those of that name, or else those whose names contain
// it. Throws ConfigError or FormatError.
std::vector<models::NamedNetwork> networks_from(const Arguments& arguments);

}  // namespace modlab::cli

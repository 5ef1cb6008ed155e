#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "models/run_spec.h"

namespace modlab::cli {

// Every setting of the table, and the published flags, as options.
std::vector<Option> setting_options();

// The runs that a command line asks for: the product of all lists and ranges, the seed varying fastest.
std::vector<models::RunSpec> runs_from(const Arguments& arguments);
// The same where the model is not asked for.
std::vector<models::RunSpec> runs_from(const Arguments& arguments, models::ModelKind model);

}  // namespace modlab::cli

#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "experiments/experiment.h"

namespace modlab::cli {

// Every setting that some kind of run has, as options.
std::vector<Option> setting_options();

// Settings for help, a kind's own together: those that runs of the task and model at hand have, or all. Where a verb
// has a model of its own, those of its kinds alone, and nothing of the model.
std::string describe_settings(const Arguments& arguments, bool all, const std::string& model = "");
// Those of one kind, but for its model.
std::string describe_settings(const experiments::Experiment& kind);

// The runs that a command line asks for: the product of all lists and ranges, the seed varying fastest.
std::vector<experiments::Run> runs_from(const Arguments& arguments);
// The same where the model is not asked for.
std::vector<experiments::Run> runs_from(const Arguments& arguments, const std::string& model);

}  // namespace modlab::cli

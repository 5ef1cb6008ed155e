#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "experiments/experiment.h"

namespace modlab::cli {

// The flags of the published training scripts (python3 main.py ...), as options of `modlab train`.
std::vector<Option> published_options();

// The settings that flags of the modular system's script stand for, by our names; a flag that means nothing here
// (paths, workers) gives none. Truth values do what they say: --dataset_noise False switches noise off.
std::map<std::string, std::vector<std::string>> translate_published(const Arguments& arguments);

// Our name for a published model name, or the name itself.
std::string translate_model(const std::string& name);

// The same for scripts of kinds that have tasks of their own: if all tasks are one kind's, it puts in our words what
// was asked for in those of its script. Throws ConfigError for a flag of a script that these tasks are not of.
experiments::Asked translate_for_kind(const Arguments& arguments, experiments::Asked asked);

}  // namespace modlab::cli

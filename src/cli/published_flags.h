#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace modlab::cli {

// The flags of the published training script (python3 main.py ...), as options of `modlab train`.
std::vector<Option> published_options();

// The settings that published flags stand for, by our names; a flag that means nothing here (paths, workers) gives
// none. Truth values do what they say: --dataset_noise False switches noise off.
std::map<std::string, std::vector<std::string>> translate_published(const Arguments& arguments);

// Our name for a published model name, or the name itself.
std::string translate_model(const std::string& name);

}  // namespace modlab::cli

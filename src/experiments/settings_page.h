#pragma once

#include <string>

#include "experiments/experiment.h"

namespace modlab::experiments {

// What a setting of a kind is where nothing is said of it, for help and documentation: "0.01", "from the task".
std::string default_text(const Experiment& kind, const Setting& setting);

// The settings of all kinds as a page of documentation: docs/settings.md.
std::string settings_markdown();

}  // namespace modlab::experiments

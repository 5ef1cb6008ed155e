#pragma once

#include <string>

namespace modlab::experiments {

// The settings of all kinds as a page of documentation: docs/settings.md.
std::string settings_markdown();

}  // namespace modlab::experiments

#pragma once

#include <span>
#include <string>

#include "cli/module_look.h"

namespace modlab::cli {

// One network for people: layers and why they have as many clusters as they have, modules, hierarchy, edges that cross,
// and everything else that was looked at.
std::string module_text(const ModuleLook& look);

// Many networks, a line each, and how many meet each criterion.
std::string module_table(std::span<const ModuleLook> looks);

// The lines below the title of a drawing.
std::vector<std::string> picture_captions(const ModuleLook& look);

}  // namespace modlab::cli

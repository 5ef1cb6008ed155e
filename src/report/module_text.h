#pragma once

#include <span>
#include <string>

#include "methods/detect/module_look.h"
#include "report/layered_picture.h"

namespace modlab::report {

// One network for people: layers and why they have as many clusters as they have, modules, hierarchy, edges that cross,
// and everything else that was looked at.
std::string module_text(const methods::ModuleLook& look);

// Many networks, a line each, and how many meet each criterion.
std::string module_table(std::span<const methods::ModuleLook> looks);

// The network with its modules, their names, and lines on how it came about; a drawing that refers to the look.
LayeredPicture module_picture(const methods::ModuleLook& look);

}  // namespace modlab::report

#pragma once

#include <nlohmann/json.hpp>

#include "cli/module_look.h"

namespace modlab::cli {

// One network as `modlab detect --json` prints it: id, live, clusters, modules and layers as in the published records,
// and then everything else that was looked at. Units are numbers of the network, from 0; hierarchy.modules names the
// modules that other lists refer to by place.
nlohmann::ordered_json module_json(const ModuleLook& look);

}  // namespace modlab::cli

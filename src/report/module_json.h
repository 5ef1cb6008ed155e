#pragma once

#include <nlohmann/json.hpp>

#include "methods/detect/module_look.h"

namespace modlab::report {

// One network as `modlab detect --json` prints it: id, live, clusters, modules and layers as in the published records,
// and then everything else that was looked at. Units are numbers of the network, from 0; hierarchy.modules names the
// modules that other lists refer to by place.
nlohmann::ordered_json module_json(const methods::ModuleLook& look);

}  // namespace modlab::report

#pragma once

#include <vector>

#include "models/layered_network.h"

namespace modlab::methods {

// The network of the live units alone, renumbered from 0 in their order. A layer may be empty; biases are left out.
models::LayeredNetwork live_part(const models::LayeredNetwork& network, const std::vector<std::vector<int>>& live);

}  // namespace modlab::methods

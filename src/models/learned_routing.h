#pragma once

#include <vector>

#include "models/images/shape.h"
#include "models/modular.h"
#include "tasks/routing.h"

namespace modlab::models {

// What a modular network's parameters select without noise, one routing for each task.
std::vector<tasks::Routing> learned_routing(const ModularShape& shape, const std::vector<float>& parameters);

struct ImageRouting {
  std::vector<int> images;   // of each image slot
  std::vector<int> members;  // of the image pool, of each image slot; empty without a pool
  tasks::Routing bits;       // of the levels above
};
ImageRouting learned_routing(const ImageModularShape& shape, const std::vector<float>& parameters);

}  // namespace modlab::models

#pragma once

#include <vector>

#include "tasks/routing.h"
#include "tasks/task.h"

namespace modlab::measures {

// The wiring of a network on images as the edit distance compares it: a first level with one node for each
// value of an image slot, all of which read the image that the slot picked, then the levels that read those values.
// Nothing keeps the values of a slot together but the image they share. Its inputs are the images; the members of a
// pool are left out, since they play no role.
tasks::Routing with_image_level(const std::vector<int>& picked_image, int values_per_slot, const tasks::Routing& bits);

// The truth: slot i reads image i and says the bits of its digit. Throws ConfigError if the task is not one on images
// or its graph has no routing.
tasks::Routing true_image_routing(const tasks::TaskSuite& suite);

}  // namespace modlab::measures

#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/solo/network.h"
#include "engine/training.h"
#include "models/images/image_spec.h"
#include "models/images/shape.h"
#include "tasks/image_data.h"
#include "tasks/routing.h"
#include "tasks/task.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::models {

// What runs of one shape on images have in common. They are trained one at a time.
struct ImageBlueprint {
  std::variant<ImageMlpShape, ImageModularShape> shape;
  engine::Layout layout;
  engine::BlockSettings block;
  std::vector<tasks::Routing> known_routing;  // where some selection is known
};

// As in blueprint.h; also says so where images do not fit the network.
ImageSpec resolve(const ImageSpec& given, const tasks::TaskSuite& suite);

// The rest is for a resolved spec.
std::string block_key(const ImageSpec& spec);
ImageBlueprint make_blueprint(const ImageSpec& spec, const tasks::TaskSuite& suite);

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_network(const ImageBlueprint& blueprint,
                                                       const engine::solo::Kernels<T>& kernels);

// Rates, mask and initial weights.
engine::LaneSettings make_lane(const ImageSpec& spec, const ImageBlueprint& blueprint);

tasks::ImageFiles image_files(const ImageSpec& spec);
// What resolve() has to know of image files of a user's own.
tasks::FileFacts image_facts(const ImageSpec& spec);

}  // namespace modlab::models

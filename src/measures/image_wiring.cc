#include "measures/image_wiring.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/errors.h"

namespace modlab::measures {

tasks::Routing with_image_level(const std::vector<int>& picked_image, int values_per_slot, const tasks::Routing& bits) {
  tasks::Routing routing = bits;
  routing.modules.clear();
  std::vector<std::vector<int>> values;
  for (const int image : picked_image) {
    values.insert(values.end(), values_per_slot, {image});
  }
  if (routing.outputs_from_all_levels) {
    for (int& output : routing.outputs) {
      output += static_cast<int>(values.size());
    }
  }
  routing.inputs.insert(routing.inputs.begin(), std::move(values));
  return routing;
}

tasks::Routing true_image_routing(const tasks::TaskSuite& suite) {
  if (!suite.images()) {
    throw ConfigError(fmt::format("task '{}' is not one on images; choose one such as mnist-xor-and", suite.name));
  }
  std::vector<int> images(suite.images()->images);
  std::iota(images.begin(), images.end(), 0);
  return with_image_level(images, suite.images()->bits,
                          tasks::true_routing(suite, true, tasks::widest_gate(suite)).front());
}

}  // namespace modlab::measures

#include "methods/detect/unit_names.h"

#include <fmt/format.h>

#include "core/text.h"

namespace modlab::methods {

UnitNames::UnitNames(const models::LayeredNetwork& network) : last_layer_(network.layers() - 1) {}

UnitNames::UnitNames(const models::LayeredNetwork& network, const tasks::Task& task)
    : last_layer_(network.layers() - 1), inputs_(task.input_names), outputs_(task.output_names) {}

std::string UnitNames::of(const UnitPlace& place) const {
  if (place.layer == 0) {
    return inputs_.empty() ? fmt::format("in{}", place.unit + 1) : inputs_[place.unit];
  }
  if (place.layer == last_layer_) {
    return outputs_.empty() ? fmt::format("out{}", place.unit + 1) : outputs_[place.unit];
  }
  return fmt::format("h{}.{}", place.layer, place.unit + 1);
}

std::string UnitNames::list(const std::vector<UnitPlace>& places) const {
  std::vector<std::string> names;
  for (const UnitPlace& place : places) {
    names.push_back(of(place));
  }
  return join_text(names, " ");
}

std::string UnitNames::list(int layer, const std::vector<int>& units) const {
  std::vector<UnitPlace> places;
  for (const int unit : units) {
    places.push_back({layer, unit});
  }
  return list(places);
}

std::string layer_name(int layer, int layers) {
  return layer == 0 ? "inputs" : layer + 1 == layers ? "outputs" : fmt::format("hidden {}", layer);
}

}  // namespace modlab::methods

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace modlab::models {

struct NamedMatrix {
  std::string name;
  std::size_t in = 0;
  std::size_t out = 0;
};

// The order in which matrices are the layers of one network, from the inputs up, as places in the list; nothing where
// there is none, or more than one. Names that differ in their numbers alone keep the order of these (layers.2 before
// layers.10, which a file sorted by letters has the other way round). The given order is taken where it fits; otherwise
// sizes must leave one order only.
std::optional<std::vector<std::size_t>> matrix_chain(const std::vector<NamedMatrix>& matrices);

}  // namespace modlab::models

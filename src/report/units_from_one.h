#pragma once

#include <algorithm>
#include <vector>

namespace modlab::report {

// Units as people count them.
inline std::vector<int> units_from_one(std::vector<int> units) {
  std::ranges::transform(units, units.begin(), [](int unit) { return unit + 1; });
  return units;
}

}  // namespace modlab::report

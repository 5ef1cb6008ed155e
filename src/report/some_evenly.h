#pragma once

#include <algorithm>
#include <vector>

namespace modlab::report {

// At most so many of a list, evenly over what there is.
template <typename Item>
std::vector<Item> some_evenly(const std::vector<Item>& items, std::size_t most) {
  std::vector<Item> chosen;
  const std::size_t step = std::max<std::size_t>(1, (items.size() + most - 1) / most);
  for (std::size_t at = 0; at < items.size(); at += step) {
    chosen.push_back(items[at]);
  }
  return chosen;
}

}  // namespace modlab::report

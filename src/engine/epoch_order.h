#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/random.h"

namespace modlab::engine {

// The order in which an epoch sees its samples: a uniform shuffle (Fisher and Yates) of that of the epoch before.
inline void shuffle_order(std::span<std::uint32_t> order, RandomSequence& random) {
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t scaled = static_cast<std::uint64_t>(random.next_word()) * left;
    std::swap(order[left - 1], order[scaled >> 32]);
  }
}

}  // namespace modlab::engine

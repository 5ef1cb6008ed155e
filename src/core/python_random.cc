#include "core/python_random.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <unordered_set>

namespace modlab {
namespace {

// init_by_array of the authors' mt19937ar.c with a key of one word, in the form that std::mt19937 takes its state from.
// The standard's own std::seed_seq mixes in another way.
class OneWordKey {
 public:
  using result_type = std::uint32_t;

  explicit OneWordKey(std::uint32_t word) : word_(word) {}

  template <typename Iterator>
  void generate(Iterator begin, Iterator end) const {
    const auto size = static_cast<std::size_t>(end - begin);
    begin[0] = 19650218;
    for (std::size_t index = 1; index < size; ++index) {
      begin[index] = 1812433253U * mixed(begin[index - 1]) + static_cast<std::uint32_t>(index);
    }
    // Two rounds over the state. Index 0 only carries the end of the state on to its beginning.
    std::size_t index = 1;
    const auto advance = [&] {
      if (++index == size) {
        begin[0] = begin[size - 1];
        index = 1;
      }
    };
    for (std::size_t step = 0; step < size; ++step) {
      begin[index] = (begin[index] ^ (mixed(begin[index - 1]) * 1664525U)) + word_;
      advance();
    }
    for (std::size_t step = 1; step < size; ++step) {
      begin[index] = (begin[index] ^ (mixed(begin[index - 1]) * 1566083941U)) - static_cast<std::uint32_t>(index);
      advance();
    }
    begin[0] = 0x80000000U;
  }

 private:
  static std::uint32_t mixed(std::uint32_t word) { return word ^ (word >> 30); }

  std::uint32_t word_;
};

std::mt19937 make_generator(std::uint32_t seed) {
  OneWordKey key(seed);
  return std::mt19937(key);
}

// Up to this many candidates Python keeps all of them in a list, which it holds for smaller than a set of the chosen.
std::uint64_t largest_pool(std::uint64_t count) {
  if (count <= 5) {
    return 21;
  }
  std::uint64_t table = 1;
  while (table < 3 * count) {
    table *= 4;
  }
  return 21 + table;
}

}  // namespace

PythonRandom::PythonRandom(std::uint32_t seed) : generator_(make_generator(seed)) {}

std::uint64_t PythonRandom::getrandbits(int count) {
  std::uint64_t bits = 0;
  for (int drawn = 0; drawn < count; drawn += 32) {
    const int wanted = std::min(count - drawn, 32);
    // Of a word the upper bits count; of a number the lower word comes first.
    bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(generator_()) >> (32 - wanted)) << drawn;
  }
  return bits;
}

std::uint64_t PythonRandom::below(std::uint64_t limit) {
  // Not the width of limit - 1: for a power of two every second draw is thrown away, as in Python.
  const auto width = static_cast<int>(std::bit_width(limit));
  std::uint64_t drawn = getrandbits(width);
  while (drawn >= limit) {
    drawn = getrandbits(width);
  }
  return drawn;
}

std::vector<std::uint64_t> PythonRandom::sample(std::uint64_t candidates, std::uint64_t count) {
  assert(count <= candidates);
  std::vector<std::uint64_t> chosen;
  chosen.reserve(count);
  if (candidates <= largest_pool(count)) {
    std::vector<std::uint64_t> pool(candidates);
    std::iota(pool.begin(), pool.end(), std::uint64_t{0});
    while (chosen.size() < count) {
      std::uint64_t& place = pool[below(pool.size())];
      chosen.push_back(place);
      place = pool.back();
      pool.pop_back();
    }
    return chosen;
  }
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(count);
  while (chosen.size() < count) {
    const std::uint64_t candidate = below(candidates);
    if (taken.insert(candidate).second) {
      chosen.push_back(candidate);
    }
  }
  return chosen;
}

}  // namespace modlab

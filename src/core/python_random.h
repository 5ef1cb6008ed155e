#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace modlab {

// Python's random.Random(seed), draw for draw: published data were drawn with it.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed);

  // A number of `count` random bits, from 0 to 64.
  std::uint64_t getrandbits(int count);

  // Below `limit`, which is at least 1.
  std::uint64_t below(std::uint64_t limit);

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t last = values.size(); last-- > 1;) {
      std::swap(values[last], values[below(last + 1)]);
    }
  }

  // random.sample(range(candidates), count): different numbers in the order in which they were drawn. There must be as
  // many candidates.
  std::vector<std::uint64_t> sample(std::uint64_t candidates, std::uint64_t count);

 private:
  std::mt19937 generator_;
};

}  // namespace modlab

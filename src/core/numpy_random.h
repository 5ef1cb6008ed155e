#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace modlab {

// numpy.random.RandomState(seed), draw for draw: published rules and splits of images were drawn with it.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : generator_(seed) {}

  // From 0 up to but not including 1, with 53 random bits.
  double uniform();

  // Standard normal, by Marsaglia's polar method, which draws two at a time: the second of a pair waits for the next
  // call.
  double normal();

  // permutation(count): the numbers below count in some order.
  std::vector<std::uint32_t> permutation(std::uint32_t count);

 private:
  std::mt19937 generator_;
  std::optional<double> waiting_;
};

}  // namespace modlab

#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tasks/routing.h"

namespace modlab::test {

// Routings as networks have them: a slot's picks are distinct, and so are the outputs'.
class RandomRouting {
 public:
  explicit RandomRouting(unsigned seed) : generator_(seed) {}

  int below(int count) { return static_cast<int>(generator_() % static_cast<unsigned>(count)); }

  std::vector<int> picks(int candidates, int k) {
    std::vector<int> order(candidates);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator_);
    order.resize(std::min(k, candidates));
    return order;
  }

  tasks::Routing make(int inputs, const std::vector<int>& sizes, int fan_in, int outputs, bool from_all = false) {
    tasks::Routing routing;
    int candidates = inputs;
    int slots = 0;
    for (const int size : sizes) {
      routing.inputs.emplace_back();
      for (int slot = 0; slot < size; ++slot) {
        routing.inputs.back().push_back(picks(candidates, fan_in));
      }
      candidates = size;
      slots += size;
    }
    routing.outputs_from_all_levels = from_all;
    routing.outputs = picks(from_all ? slots : candidates, outputs);
    return routing;
  }

  // The same wiring under other names, picks in another order.
  tasks::Routing renamed(const tasks::Routing& original) {
    tasks::Routing result = original;
    std::vector<int> below_names;
    std::vector<int> all_names;
    for (std::size_t level = 0; level < original.inputs.size(); ++level) {
      const int size = static_cast<int>(original.inputs[level].size());
      const std::vector<int> names = picks(size, size);
      for (int slot = 0; slot < size; ++slot) {
        std::vector<int> reads = original.inputs[level][slot];
        for (int& read : reads) {
          read = level == 0 ? read : below_names[read];
        }
        std::ranges::reverse(reads);
        result.inputs[level][names[slot]] = reads;
      }
      const int first = static_cast<int>(all_names.size());
      for (const int name : names) {
        all_names.push_back(first + name);
      }
      below_names = names;
    }
    for (int& output : result.outputs) {
      output = original.outputs_from_all_levels ? all_names[output] : below_names[output];
    }
    return result;
  }

 private:
  std::mt19937 generator_;
};

}  // namespace modlab::test

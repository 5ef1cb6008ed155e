#include "measures/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measures/random_routing.h"

namespace modlab::measures {
namespace {

using test::RandomRouting;

bool contains(const std::vector<int>& nodes, int node) { return std::ranges::find(nodes, node) != nodes.end(); }

// Edges that both sides have, counted from the routings.
int preserved_edges(const tasks::Routing& learned, const tasks::Routing& truth,
                    const std::vector<std::vector<int>>& gates) {
  int preserved = 0;
  for (std::size_t level = 0; level < gates.size(); ++level) {
    for (std::size_t slot = 0; slot < gates[level].size(); ++slot) {
      for (const int pick : learned.inputs[level][slot]) {
        const int read = level == 0 ? pick : gates[level - 1][pick];
        preserved += contains(truth.inputs[level][gates[level][slot]], read) ? 1 : 0;
      }
    }
  }
  for (std::size_t output = 0; output < truth.outputs.size(); ++output) {
    preserved += gates.back()[learned.outputs[output]] == truth.outputs[output] ? 1 : 0;
  }
  return preserved;
}

double sum_of(const Preference& preference, const std::vector<std::vector<int>>& gates) {
  double sum = 0;
  for (std::size_t level = 0; level < gates.size(); ++level) {
    for (std::size_t slot = 0; slot < gates[level].size(); ++slot) {
      sum += preference[level][slot][gates[level][slot]];
    }
  }
  return sum;
}

TEST(BestMatching, PreferencesDecideBetweenEquals) {
  RandomRouting random(9);
  int decided = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::vector<int> sizes = {3, 3, 2};
    // Few inputs and fan-in 1 at times make twins.
    const auto routing = [&] { return random.make(3, sizes, 1 + repeat % 2, 2); };
    const tasks::Routing learned = routing();
    const tasks::Routing truth = routing();
    Preference preference;
    for (const int size : sizes) {
      preference.emplace_back(size, std::vector<double>(size));
      for (std::vector<double>& row : preference.back()) {
        std::ranges::generate(row, [&] { return random.below(1001) / 1000.0; });
      }
    }

    int most = -1;
    double best_sum = 0;
    int equals = 0;
    std::vector<std::vector<int>> gates = {{0, 1, 2}, {0, 1, 2}, {0, 1}};
    do {
      do {
        do {
          const int preserved = preserved_edges(learned, truth, gates);
          const double sum = sum_of(preference, gates);
          equals = preserved > most ? 1 : equals + (preserved == most ? 1 : 0);
          best_sum = preserved > most || (preserved == most && sum > best_sum) ? sum : best_sum;
          most = std::max(most, preserved);
        } while (std::ranges::next_permutation(gates[2]).found);
      } while (std::ranges::next_permutation(gates[1]).found);
    } while (std::ranges::next_permutation(gates[0]).found);

    const Matching found = best_matching(wiring_of(learned, 3), wiring_of(truth, 3), preference);
    ASSERT_EQ(found.saved, 2 * most);
    ASSERT_EQ(preserved_edges(learned, truth, found.gates), most);
    ASSERT_NEAR(sum_of(preference, found.gates), best_sum, 1e-6);
    decided += equals > 1 ? 1 : 0;
  }
  EXPECT_GT(decided, 50) << "or the test does not test it";
}

}  // namespace
}  // namespace modlab::measures

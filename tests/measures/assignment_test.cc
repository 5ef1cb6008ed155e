#include "measures/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace modlab::measures {
namespace {

TEST(Assignment, ByHand) {
  Assignment assignment;
  // The greedy choice (row 0, column 0) would leave 1 to row 1.
  EXPECT_EQ(assignment.maximise(std::vector<std::int64_t>{9, 8, 9, 1}, 2, 2), 17);
  EXPECT_EQ(assignment.column_of(0), 1);
  EXPECT_EQ(assignment.column_of(1), 0);
  EXPECT_EQ(assignment.maximise(std::vector<std::int64_t>{-5, -2, -3}, 1, 3), -2);
  EXPECT_EQ(assignment.column_of(0), 1);
  EXPECT_EQ(assignment.maximise({}, 0, 0), 0);
}

TEST(Assignment, RandomProblemsAgainstAllPermutations) {
  std::mt19937 generator(3);
  Assignment assignment;
  for (int repeat = 0; repeat < 500; ++repeat) {
    const int rows = 1 + static_cast<int>(generator() % 5);
    const int columns = rows + static_cast<int>(generator() % 3);
    std::vector<std::int64_t> weights(static_cast<std::size_t>(rows) * columns);
    for (std::int64_t& weight : weights) {
      weight = static_cast<std::int64_t>(generator() % 10) - 3;
    }
    std::vector<int> order(columns);
    std::iota(order.begin(), order.end(), 0);
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    do {
      std::int64_t sum = 0;
      for (int row = 0; row < rows; ++row) {
        sum += weights[static_cast<std::size_t>(row) * columns + order[row]];
      }
      best = std::max(best, sum);
    } while (std::ranges::next_permutation(order).found);
    ASSERT_EQ(assignment.maximise(weights, rows, columns), best);
    std::int64_t found = 0;
    std::vector<bool> taken(columns, false);
    for (int row = 0; row < rows; ++row) {
      found += weights[static_cast<std::size_t>(row) * columns + assignment.column_of(row)];
      ASSERT_FALSE(taken[assignment.column_of(row)]);
      taken[assignment.column_of(row)] = true;
    }
    ASSERT_EQ(found, best);
  }
}

}  // namespace
}  // namespace modlab::measures

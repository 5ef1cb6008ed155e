#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace modlab::tasks {

// Row numbers of a truth table, in the order of the permutation they were drawn in.
struct Split {
  std::vector<int> train;
  std::vector<int> validation;
  std::vector<int> test;
};

struct SplitCounts {
  std::ptrdiff_t train = 0;
  std::ptrdiff_t validation = 0;
};

// How many of the rows are for training and validation; the others are test rows. Throws ConfigError if the ratio
// leaves no training, validation or test row.
SplitCounts count_rows(double ratio, int rows);

// The published splits, one for each task: successive permutations of one MT19937 generator. The permutation does not
// depend on the ratio, so for one seed the training sets of growing ratios are nested. Throws as count_rows does.
std::vector<Split> published_splits(double ratio, std::uint32_t seed, int rows, int tasks);

}  // namespace modlab::tasks

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace modlab::measures {

// Linear assignment (the Hungarian method): a column of its own for every row, so that the weights sum up to the most.
// Keeps its working memory from one problem to the next.
class Assignment {
 public:
  // weights[row * columns + column]; there must be no more rows than columns. Returns the largest sum.
  std::int64_t maximise(std::span<const std::int64_t> weights, int rows, int columns);

  // Of the last problem.
  int column_of(int row) const { return column_of_[row]; }

 private:
  void add_row(std::span<const std::int64_t> weights, int row, int columns);

  // Row and column 0 stand for "none yet"; real ones count from 1.
  std::vector<std::int64_t> row_price_;
  std::vector<std::int64_t> column_price_;
  std::vector<std::int64_t> slack_;
  std::vector<int> row_of_;
  std::vector<int> came_from_;
  std::vector<char> reached_;
  std::vector<int> column_of_;
};

}  // namespace modlab::measures

#include "measures/assignment.h"

#include <algorithm>
#include <limits>

namespace modlab::measures {

std::int64_t Assignment::maximise(std::span<const std::int64_t> weights, int rows, int columns) {
  row_price_.assign(rows + 1, 0);
  column_price_.assign(columns + 1, 0);
  row_of_.assign(columns + 1, 0);
  came_from_.assign(columns + 1, 0);
  for (int row = 1; row <= rows; ++row) {
    add_row(weights, row, columns);
  }
  column_of_.assign(rows, 0);
  std::int64_t sum = 0;
  for (int column = 1; column <= columns; ++column) {
    if (const int row = row_of_[column]; row > 0) {
      column_of_[row - 1] = column - 1;
      sum += weights[static_cast<std::size_t>(row - 1) * columns + column - 1];
    }
  }
  return sum;
}

// Finds the shortest way (in reduced costs, the negated weights) from a new row to a free column, and moves the rows on
// it along by one.
void Assignment::add_row(std::span<const std::int64_t> weights, int row, int columns) {
  slack_.assign(columns + 1, std::numeric_limits<std::int64_t>::max());
  reached_.assign(columns + 1, 0);
  row_of_[0] = row;
  int column = 0;
  do {
    reached_[column] = 1;
    const int from = row_of_[column];
    const std::int64_t* from_weights = weights.data() + static_cast<std::size_t>(from - 1) * columns - 1;
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    int next = 0;
    for (int other = 1; other <= columns; ++other) {
      if (reached_[other] != 0) {
        continue;
      }
      const std::int64_t cost = -from_weights[other] - row_price_[from] - column_price_[other];
      if (cost < slack_[other]) {
        slack_[other] = cost;
        came_from_[other] = column;
      }
      if (slack_[other] < step) {
        step = slack_[other];
        next = other;
      }
    }
    for (int other = 0; other <= columns; ++other) {
      if (reached_[other] != 0) {
        row_price_[row_of_[other]] += step;
        column_price_[other] -= step;
      } else {
        slack_[other] -= step;
      }
    }
    column = next;
  } while (row_of_[column] != 0);
  while (column != 0) {
    const int previous = came_from_[column];
    row_of_[column] = row_of_[previous];
    column = previous;
  }
}

}  // namespace modlab::measures

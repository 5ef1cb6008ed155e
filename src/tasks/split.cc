#include "tasks/split.h"

#include <fmt/format.h>

#include <numeric>
#include <random>
#include <utility>

#include "core/errors.h"

namespace modlab::tasks {
namespace {

// torch.randperm on the CPU, draw for draw.
std::vector<int> draw_permutation(std::mt19937& generator, int rows) {
  std::vector<int> permutation(rows);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int place = 0; place + 1 < rows; ++place) {
    const auto offset = static_cast<int>(generator() % static_cast<std::uint32_t>(rows - place));
    std::swap(permutation[place], permutation[place + offset]);
  }
  return permutation;
}

}  // namespace

SplitCounts count_rows(double ratio, int rows) {
  // Written so that NaN fails too.
  const bool in_range = ratio > 0 && ratio < 1;
  const int train_count = in_range ? static_cast<int>(rows * ratio) : 0;
  const int validation_count = (rows - train_count) / 2;
  if (rows < 3) {
    throw ConfigError(
        fmt::format("{} rows cannot be split into training, validation and test rows; a task needs at "
                    "least 2 inputs",
                    rows));
  }
  if (train_count == 0 || validation_count == 0) {
    const std::string what = !in_range          ? "is not between 0 and 1"
                             : train_count == 0 ? "leaves no training row"
                                                : fmt::format(
                                                      "leaves no validation row ({} training, 0 validation, "
                                                      "{} test)",
                                                      train_count, rows - train_count);
    throw ConfigError(fmt::format("ratio {} {} of {} rows; use a ratio from {} to just below {}", ratio, what, rows,
                                  1.0 / rows, (rows - 1.0) / rows));
  }
  return {train_count, validation_count};
}

std::vector<Split> published_splits(double ratio, std::uint32_t seed, int rows, int tasks) {
  const SplitCounts counts = count_rows(ratio, rows);
  std::mt19937 generator(seed);
  std::vector<Split> splits;
  for (int task = 0; task < tasks; ++task) {
    const std::vector<int> permutation = draw_permutation(generator, rows);
    const auto train_end = permutation.begin() + counts.train;
    const auto validation_end = train_end + counts.validation;
    splits.push_back(
        {{permutation.begin(), train_end}, {train_end, validation_end}, {validation_end, permutation.end()}});
  }
  return splits;
}

}  // namespace modlab::tasks

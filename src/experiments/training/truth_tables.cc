#include "experiments/training/truth_tables.h"

#include <fmt/format.h>

#include "experiments/task_facts.h"
#include "experiments/training/training_measures.h"
#include "tasks/split.h"

namespace modlab::experiments {

Parts table_parts() { return {"test_accuracy", "validation_accuracy", "validation_loss", "updates", ""}; }

std::vector<Column> table_columns() {
  return {{"test %", "test_accuracy", Column::Show::kMeanAndError},
          {"perfect", "test_accuracy", Column::Show::kAtFull},
          {"epochs to best", "best_epoch", Column::Show::kWhole}};
}

std::string table_footnote(std::span<const Run> runs, const std::function<double(const Run& run)>& base) {
  return fmt::format(
      "Test accuracy is per bit, at the first best validation epoch; on those rows, always saying the more frequent "
      "value scores {}.",
      chance_text(runs, base));
}

Measure base_of_tests_measure() {
  return percent_measure("test_base_rate", "accuracy of always saying the more frequent value of the test rows");
}

double base_of_tests(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite) {
  std::vector<std::vector<int>> rows;
  for (const tasks::Split& split :
       tasks::published_splits(ratio, split_seed, 1 << suite.inputs(), static_cast<int>(suite.tasks.size()))) {
    rows.push_back(split.test);
  }
  return constant_accuracy(suite, rows);
}

}  // namespace modlab::experiments

#include "experiments/training/image_tasks.h"

#include <fmt/format.h>

#include "experiments/task_facts.h"
#include "experiments/training/training_measures.h"
#include "tasks/image_samples.h"

namespace modlab::experiments {

std::vector<Measure> image_task_measures() {
  std::vector<Measure> list = training_measures({"train", "validation", kUnseenPart, "seen"});
  list.push_back({"unseen_gain", "unseen accuracy above that of always 0", "points", false, std::nullopt, true, ""});
  list.push_back(percent_measure("unseen_base_rate", "accuracy of always 0 on the unseen combinations"));
  return list;
}

Parts image_parts() { return {"unseen_accuracy", "validation_accuracy", "validation_loss", "updates", ""}; }

std::vector<Column> image_columns() {
  return {{"unseen %", "unseen_accuracy", Column::Show::kMeanAndError},
          {"seen %", "seen_accuracy", Column::Show::kMean},
          {"epochs to best", "best_epoch", Column::Show::kWhole}};
}

std::string image_footnote(std::span<const Run> runs, const std::function<double(const Run& run)>& base) {
  return fmt::format(
      "Unseen (digit combinations in no training sample) and seen (new images of the others) accuracy is per bit, at "
      "the first best validation epoch; on the unseen ones always 0 scores {}.",
      chance_text(runs, base));
}

double unseen_base(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite) {
  const tasks::TruthTable& table = suite.tasks.front().table;
  const std::vector<int> unseen = tasks::split_combinations(*suite.images(), ratio, split_seed).unseen;
  double zeros = 0;
  for (const int row : unseen) {
    for (int output = 0; output < table.outputs; ++output) {
      zeros += tasks::output_bit(table, row, output) ? 0 : 1;
    }
  }
  return 100 * zeros / (static_cast<double>(unseen.size()) * table.outputs);
}

void add_image_chance(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite, Numbers& numbers) {
  numbers["base_rate"] = constant_accuracy(suite);
  numbers["unseen_base_rate"] = unseen_base(ratio, split_seed, suite);
  numbers["unseen_gain"] = numbers.at("unseen_accuracy") - numbers.at("unseen_base_rate");
}

}  // namespace modlab::experiments

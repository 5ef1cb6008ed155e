#include "experiments/training/training_measures.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/use_measures.h"

namespace modlab::experiments {
namespace {

constexpr double kAll = 100;
constexpr int kMaxTasks = 16;
const std::pair<double, double> kPercents{0, kAll};
const std::pair<double, double> kShares{0, 1};

std::string accuracy_label(const std::string& part) {
  return part == "train"                      ? "training accuracy"
         : part == "unseen" || part == "seen" ? fmt::format("accuracy on {} combinations", part)
                                              : part + " accuracy";
}

// What means nothing is not there.
void put(Numbers& numbers, const std::string& name, double value) {
  if (value == value) {
    numbers[name] = value;
  }
}

void add_scores(const engine::Scores& scores, const models::PartRows& rows, int tasks, const std::string& ending,
                Numbers& numbers) {
  for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
    const int count = rows[part] / tasks;
    if (count == 0) {
      continue;
    }
    const engine::PartScore& score = scores.parts[part];
    const std::string name = models::part_name(part, rows);
    numbers[fmt::format("{}_accuracy{}", name, ending)] = kAll * score.right_bits / (count * rows.outputs);
    numbers[fmt::format("{}_row_accuracy{}", name, ending)] = kAll * score.right_rows / count;
    put(numbers, fmt::format("{}_loss{}", name, ending), score.loss);
  }
}

}  // namespace

Measure share_measure(std::string name, std::string label) {
  return {std::move(name), std::move(label), "", false, kShares, true, ""};
}

Measure percent_measure(std::string name, std::string label, std::string chance) {
  return {std::move(name), std::move(label), "%", false, kPercents, true, std::move(chance)};
}

std::vector<Measure> training_measures(const std::vector<std::string>& parts) {
  const std::string& test = parts[2];
  const auto chance = [&](const std::string& part) {
    return test == "unseen" ? (part == "seen" ? "base_rate" : "unseen_base_rate")
                            : (part == test ? "test_base_rate" : "base_rate");
  };
  std::vector<Measure> list;
  list.push_back(percent_measure(test + "_accuracy", accuracy_label(test), chance(test)));
  for (const std::string& part : parts) {
    if (part != test) {
      list.push_back(percent_measure(part + "_accuracy", accuracy_label(part), chance(part)));
    }
  }
  for (const std::string& part : parts) {
    list.push_back(percent_measure(part + "_row_accuracy", part + " rows with all bits right"));
  }
  for (const std::string& part : parts) {
    list.push_back({part + "_loss", part + " loss", "", false, std::nullopt, false, ""});
  }
  list.push_back({"generalisation_gap", fmt::format("training minus {} accuracy", test), "points", false, std::nullopt,
                  false, ""});
  list.push_back(percent_measure("perfect", "runs that are right on every row"));
  list.back().is_yes_or_no = true;
  list.push_back({"flops", "training cost to the best epoch", "FLOPs", true, std::nullopt, false, ""});
  list.push_back({"updates", "weight updates to the best epoch", "updates", true, std::nullopt, false, ""});
  list.push_back(
      {"best_epoch", "first epoch with the best validation accuracy", "epochs", true, std::nullopt, false, ""});
  list.push_back({"edit_distance", "graph edit distance", "edits", false, std::nullopt, false, ""});
  list.push_back(percent_measure("structure_found", "runs with the true wiring"));
  list.back().is_yes_or_no = true;
  list.push_back(percent_measure("base_rate", "accuracy of always saying the more frequent value"));
  for (const std::string& part : parts) {
    list.push_back({part + "_rows", part + " rows", "rows", false, std::nullopt, true, ""});
  }
  return list;
}

std::vector<Measure> task_measures() {
  std::vector<Measure> list;
  for (int task = 1; task <= kMaxTasks; ++task) {
    for (const char* part : {"test", "train", "validation"}) {
      list.push_back(percent_measure(fmt::format("{}_accuracy_{}", part, task),
                                     fmt::format("{}, task {}", accuracy_label(part), task), "base_rate"));
      list.push_back(percent_measure(fmt::format("{}_row_accuracy_{}", part, task),
                                     fmt::format("{} rows with all bits right, task {}", part, task)));
      list.push_back({fmt::format("{}_loss_{}", part, task), fmt::format("{} loss, task {}", part, task), "", false,
                      std::nullopt, false, ""});
    }
  }
  return list;
}

Numbers snapshot_numbers(const engine::Snapshot& snapshot, const models::PartRows& rows, int tasks) {
  Numbers numbers = {{"best_epoch", snapshot.epoch}};
  add_scores(snapshot.scores, rows, 1, "", numbers);
  for (std::size_t task = 0; task < snapshot.per_task.size(); ++task) {
    add_scores(snapshot.per_task[task], rows, tasks, fmt::format("_{}", task + 1), numbers);
  }
  for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
    if (rows[part] > 0) {
      numbers[fmt::format("{}_rows", models::part_name(part, rows))] = rows[part];
    }
  }
  return numbers;
}

void add_structure(const measures::NetworkMeasures& found, Numbers& numbers) {
  put(numbers, "edit_distance", found.edit_distance);
  put(numbers, "specialisation", found.specialisation);
  put(numbers, "specialisation_max", found.specialisation_max);
  put(numbers, "in_situ", found.in_situ);
  put(numbers, "image_specialisation", found.image_specialisation);
  put(numbers, "module_reuse", kAll * found.module_reuse);
  if (found.pool) {
    add_use(*found.pool, numbers);
  }
}

void add_derived(const measures::FlopCount& flops, int batch_size, const std::string& test, Numbers& numbers) {
  numbers["generalisation_gap"] = numbers.at("train_accuracy") - numbers.at(test + "_accuracy");
  const bool is_perfect =
      std::ranges::all_of(std::vector<std::string>{"train", "validation", test},
                          [&](const std::string& part) { return numbers.at(part + "_accuracy") == kAll; });
  numbers["perfect"] = is_perfect ? kAll : 0;
  const int epoch = static_cast<int>(numbers.at("best_epoch"));
  const int rows = static_cast<int>(numbers.at("train_rows"));
  numbers["updates"] = measures::updates_to_epoch(epoch, rows, batch_size, measures::Counting::kPaper);
  numbers["flops"] = measures::training_flops(flops, epoch, rows, batch_size, measures::Counting::kPaper);
  if (const auto distance = numbers.find("edit_distance"); distance != numbers.end()) {
    numbers["structure_found"] = distance->second == 0 ? kAll : 0;
  }
}

}  // namespace modlab::experiments

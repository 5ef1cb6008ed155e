#include "studies/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

namespace modlab::studies {
namespace {

using engine::Part;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxNamedTasks = 8;
constexpr double kAll = 100;

const PartResult& part(const MeasuredRun& run, Part which) {
  return run.snapshot.parts[static_cast<std::size_t>(which)];
}

double task_accuracy(const MeasuredRun& run, int task, Part which) {
  const auto index = static_cast<std::size_t>(task);
  return index < run.snapshot.tasks.size() ? run.snapshot.tasks[index][static_cast<std::size_t>(which)].accuracy
                                           : kNone;
}

std::vector<Measure> make_table() {
  const std::pair<double, double> percent{0, 100};
  const std::pair<double, double> share{0, 1};
  std::vector<Measure> table = {
      {"test_accuracy", "test accuracy", "%", false, percent, true, true, -1,
       [](const MeasuredRun& run, int) { return part(run, Part::kTest).accuracy; }},
      {"train_accuracy", "training accuracy", "%", false, percent, true, true, -1,
       [](const MeasuredRun& run, int) { return part(run, Part::kTrain).accuracy; }},
      {"validation_accuracy", "validation accuracy", "%", false, percent, true, true, -1,
       [](const MeasuredRun& run, int) { return part(run, Part::kValidation).accuracy; }},
      {"unseen_accuracy", "accuracy on unseen combinations", "%", false, percent, true, true, -1,
       [](const MeasuredRun& run, int) {
         return run.planned.spec.on_images ? part(run, Part::kTest).accuracy : kNone;
       }},
      {"seen_accuracy", "accuracy on seen combinations", "%", false, percent, true, true, -1,
       [](const MeasuredRun& run, int) {
         return run.planned.spec.on_images ? part(run, Part::kSeen).accuracy : kNone;
       }},
      {"unseen_gain", "unseen accuracy above that of always 0", "points", false, std::nullopt, true, false, -1,
       [](const MeasuredRun& run, int) {
         return run.planned.spec.on_images ? part(run, Part::kTest).accuracy - run.unseen_base : kNone;
       }},
      {"test_row_accuracy", "test rows with all bits right", "%", false, percent, true, false, -1,
       [](const MeasuredRun& run, int) { return part(run, Part::kTest).row_accuracy; }},
      {"generalisation_gap", "training minus test accuracy", "points", false, std::nullopt, false, false, -1,
       [](const MeasuredRun& run, int) { return part(run, Part::kTrain).accuracy - part(run, Part::kTest).accuracy; }},
      {"perfect", "runs that are right on every row", "%", false, percent, true, false, -1,
       [](const MeasuredRun& run, int) {
         const std::span parts(run.snapshot.parts, engine::kParts);
         return std::ranges::all_of(parts, [](const PartResult& each) { return each.accuracy == kAll; }) ? kAll : 0;
       }},
      {"flops", "training cost to the best epoch", "FLOPs", true, std::nullopt, false, false, -1,
       [](const MeasuredRun& run, int) {
         return measures::training_flops(run.flops, run.snapshot.epoch, run.train_rows, run.planned.spec.batch_size,
                                         measures::Counting::kPaper);
       }},
      {"updates", "weight updates to the best epoch", "updates", true, std::nullopt, false, false, -1,
       [](const MeasuredRun& run, int) {
         return measures::updates_to_epoch(run.snapshot.epoch, run.train_rows, run.planned.spec.batch_size,
                                           measures::Counting::kPaper);
       }},
      {"best_epoch", "first epoch with the best validation accuracy", "epochs", true, std::nullopt, false, false, -1,
       [](const MeasuredRun& run, int) { return static_cast<double>(run.snapshot.epoch); }},
      {"edit_distance", "graph edit distance", "edits", false, std::nullopt, false, false, -1,
       [](const MeasuredRun& run, int) { return run.snapshot.measures.edit_distance; }},
      {"structure_found", "runs with the true wiring", "%", false, percent, true, false, -1,
       [](const MeasuredRun& run, int) {
         const double distance = run.snapshot.measures.edit_distance;
         return distance != distance ? kNone : distance == 0 ? kAll : 0;
       }},
      {"specialisation", "|correlation| with the first level's gate", "", false, share, true, false, -1,
       [](const MeasuredRun& run, int) { return run.snapshot.measures.specialisation; }},
      {"specialisation_max", "largest |correlation| with the first level's gate", "", false, share, true, false, -1,
       [](const MeasuredRun& run, int) { return run.snapshot.measures.specialisation_max; }},
      {"in_situ", "mean |correlation| with the matched gates", "", false, share, true, false, -1,
       [](const MeasuredRun& run, int) { return run.snapshot.measures.in_situ; }},
      {"image_specialisation", "|correlation| of image modules with the digits' bits", "", false, share, true, false,
       -1, [](const MeasuredRun& run, int) { return run.snapshot.measures.image_specialisation; }},
      {"module_reuse", "modules that several tasks use", "%", false, percent, true, false, -1,
       [](const MeasuredRun& run, int) { return kAll * run.snapshot.measures.module_reuse; }},
  };
  const auto add_trial_measure = [&](const char* name, const char* label, const char* unit,
                                     std::optional<std::pair<double, double>> domain, bool higher_is_better) {
    table.push_back({name, label, unit, false, domain, higher_is_better, false, -1, nullptr, true});
  };
  add_trial_measure("true_modules", "tied networks with the true modules", "%", percent, true);
  add_trial_measure("true_modules_optimistic", "trials with the true modules in some tied network", "%", percent, true);
  add_trial_measure("true_modules_pessimistic", "trials with the true modules in all tied networks", "%", percent,
                    true);
  add_trial_measure("true_modules_tables", "tied networks with the true modules, or one module with one hidden layer",
                    "%", percent, true);
  add_trial_measure("input_sep", "tied networks with the true groups of inputs", "%", percent, true);
  add_trial_measure("output_sep", "tied networks with the true groups of outputs", "%", percent, true);
  add_trial_measure("hidden_sep", "tied networks with hidden units of one output group each", "%", percent, true);
  add_trial_measure("intermediate", "tied networks with the true middle module", "%", percent, true);
  add_trial_measure("learned", "dense networks that learn", "%", percent, true);
  add_trial_measure("dense_accuracy", "accuracy of the dense network", "%", percent, true);
  add_trial_measure("epochs_used", "epochs of each training", "epochs", std::nullopt, false);
  add_trial_measure("trainings", "trainings of a trial", "trainings", std::nullopt, false);
  add_trial_measure("edges", "edges that are left", "edges", std::nullopt, false);
  add_trial_measure("live_units", "hidden units that are left", "units", std::nullopt, false);
  add_trial_measure("module_count", "modules found", "modules", std::nullopt, false);
  add_trial_measure("tied", "networks tied for the fewest edges", "networks", std::nullopt, false);
  add_trial_measure("separable", "networks whose input groups are separable (Welch tests)", "%", percent, true);
  add_trial_measure("separable_dense", "dense networks whose input groups are separable", "%", percent, true);
  add_trial_measure("n90_layer1", "N90 of the first hidden layer", "units", std::nullopt, false);
  add_trial_measure("n90_layer2", "N90 of the second hidden layer", "units", std::nullopt, false);
  add_trial_measure("n90_layer1_dense", "N90 of the first hidden layer before pruning", "units", std::nullopt, false);
  add_trial_measure("n90_layer2_dense", "N90 of the second hidden layer before pruning", "units", std::nullopt, false);
  for (int task = 0; task < kMaxNamedTasks; ++task) {
    table.push_back({fmt::format("test_accuracy_{}", task + 1), fmt::format("test accuracy, task {}", task + 1), "%",
                     false, percent, true, true, task,
                     [](const MeasuredRun& run, int which) { return task_accuracy(run, which, Part::kTest); }});
    table.push_back({fmt::format("train_accuracy_{}", task + 1), fmt::format("training accuracy, task {}", task + 1),
                     "%", false, percent, true, true, task,
                     [](const MeasuredRun& run, int which) { return task_accuracy(run, which, Part::kTrain); }});
  }
  return table;
}

}  // namespace

double Measure::value(const MeasuredRun& run) const {
  if (!of_trial) {
    return get(run, task);
  }
  const auto found = run.sculpted.find(name);
  return found == run.sculpted.end() ? kNone : found->second;
}

const std::vector<Measure>& all_measures() {
  static const std::vector<Measure> kTable = make_table();
  return kTable;
}

const Measure* find_measure(const std::string& name) {
  const auto found = std::ranges::find(all_measures(), name, &Measure::name);
  return found == all_measures().end() ? nullptr : &*found;
}

std::size_t measure_index(const std::string& name) {
  return static_cast<std::size_t>(find_measure(name) - all_measures().data());
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const Measure& measure : all_measures()) {
    names.push_back(measure.name);
  }
  return names;
}

}  // namespace modlab::studies

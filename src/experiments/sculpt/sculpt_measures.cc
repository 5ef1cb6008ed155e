#include "experiments/sculpt/sculpt_measures.h"

#include <vector>

namespace modlab::experiments {
namespace {

std::vector<Measure> make_measures() {
  const std::pair<double, double> percent{0, 100};
  std::vector<Measure> list;
  const auto add = [&](const char* name, const char* label, const char* unit,
                       std::optional<std::pair<double, double>> domain, bool higher_is_better) {
    list.push_back({name, label, unit, false, domain, higher_is_better, ""});
  };
  const auto add_yes_or_no = [&](const char* name, const char* label) {
    add(name, label, "%", percent, true);
    list.back().is_yes_or_no = true;
  };
  add_yes_or_no("true_modules", "tied networks with the true modules");
  add_yes_or_no("true_modules_optimistic", "trials with the true modules in some tied network");
  add_yes_or_no("true_modules_pessimistic", "trials with the true modules in all tied networks");
  add_yes_or_no("true_modules_tables", "tied networks with the true modules, or one module with one hidden layer");
  add_yes_or_no("input_sep", "tied networks with the true groups of inputs");
  add_yes_or_no("output_sep", "tied networks with the true groups of outputs");
  add_yes_or_no("hidden_sep", "tied networks with hidden units of one output group each");
  add_yes_or_no("intermediate", "tied networks with the true middle module");
  add_yes_or_no("learned", "dense networks that learn");
  add("dense_accuracy", "accuracy of the dense network", "%", percent, true);
  add("epochs_used", "epochs of each training", "epochs", std::nullopt, false);
  add("trainings", "trainings of a trial", "trainings", std::nullopt, false);
  add("edges", "edges that are left", "edges", std::nullopt, false);
  add("live_units", "hidden units that are left", "units", std::nullopt, false);
  add("module_count", "modules found", "modules", std::nullopt, false);
  add("tied", "networks tied for the fewest edges", "networks", std::nullopt, false);
  add_yes_or_no("separable", "networks whose input groups are separable (Welch tests)");
  add_yes_or_no("separable_dense", "dense networks whose input groups are separable");
  add("n90_layer1", "N90 of the first hidden layer", "units", std::nullopt, false);
  add("n90_layer2", "N90 of the second hidden layer", "units", std::nullopt, false);
  add("n90_layer1_dense", "N90 of the first hidden layer before pruning", "units", std::nullopt, false);
  add("n90_layer2_dense", "N90 of the second hidden layer before pruning", "units", std::nullopt, false);
  add("accuracy", "accuracy of the network that a trial ends with", "%", percent, true);
  return list;
}

}  // namespace

std::span<const Measure> sculpt_measures() {
  static const std::vector<Measure> kMeasures = make_measures();
  return kMeasures;
}

}  // namespace modlab::experiments

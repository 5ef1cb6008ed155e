#include "methods/detect/criteria.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "methods/detect/agreement.h"

namespace modlab::methods {
namespace {

enum class Family { kSeparable, kReused, kBoth, kNone, kOverlap, kLevels };

struct Published {
  Family family = Family::kNone;
  std::string name;  // 4-1-2-16
  int inputs = 0;
  int outputs = 0;
};

constexpr std::array<std::string_view, 5> kFolders = {"sculpt", "exemplar", "increasing_reuse_non_separable",
                                                      "input_overlap_exp", "increasing_hierarchical_levels"};

// Without the number of outputs, which is twice the use.
struct Series {
  Family family;
  std::string_view name;
  int inputs;
};
constexpr std::array<Series, 7> kSeries = {{{Family::kReused, "4-1-2-", 4},
                                            {Family::kOverlap, "8-2-", 8},
                                            {Family::kOverlap, "7-3-2-", 7},
                                            {Family::kOverlap, "6-3-2-", 6},
                                            {Family::kOverlap, "5-3-2-", 5},
                                            {Family::kOverlap, "4-1-2-2-", 4},
                                            {Family::kLevels, "8-2-1-2-", 8}}};
constexpr std::array<int, 5> kOutputs = {2, 4, 8, 12, 16};

std::optional<Published> find_published(const std::string& task) {
  const std::size_t slash = task.find('/');
  if (slash == std::string::npos || std::ranges::find(kFolders, task.substr(0, slash)) == kFolders.end()) {
    return std::nullopt;
  }
  const std::string name = task.substr(slash + 1);
  for (const Published& single : {Published{Family::kSeparable, "4-2-4", 4, 4},
                                  {Family::kBoth, "6-3-3-3", 6, 3},
                                  {Family::kNone, "4-1-4", 4, 4}}) {
    if (name == single.name) {
      return single;
    }
  }
  for (const Series& series : kSeries) {
    for (const int outputs : kOutputs) {
      if (name == std::string(series.name) + std::to_string(outputs)) {
        return Published{series.family, name, series.inputs, outputs};
      }
    }
  }
  return std::nullopt;
}

using Units = std::set<int>;
using Partition = std::set<Units>;

Partition partition_by(const std::vector<int>& units, const std::vector<int>& labels) {
  std::map<int, Units> groups;
  for (std::size_t place = 0; place < units.size(); ++place) {
    groups[labels[place]].insert(units[place]);
  }
  Partition partition;
  for (const auto& [label, group] : groups) {
    partition.insert(group);
  }
  return partition;
}

Units units_from(int first, int end, int step = 1) {
  Units units;
  for (int unit = first; unit < end; unit += step) {
    units.insert(unit);
  }
  return units;
}

// What the criteria look at.
struct View {
  explicit View(const Detection& found)
      : detection(found),
        hidden_layers(static_cast<int>(found.live.size()) - 2),
        input_modules(found.modules.front().begin(), found.modules.front().end()),
        output_modules(found.modules.back().begin(), found.modules.back().end()),
        inputs(partition_by(found.live.front(), found.modules.front())),
        outputs(partition_by(found.live.back(), found.modules.back())) {}

  bool inputs_and_outputs_are_apart() const {
    return std::ranges::none_of(input_modules, [&](int module) { return output_modules.contains(module); });
  }
  // Modules with neither inputs nor outputs.
  int middle_modules() const {
    Units with_ends = input_modules;
    with_ends.insert(output_modules.begin(), output_modules.end());
    return detection.module_count - static_cast<int>(with_ends.size());
  }
  bool hidden_units_are_with_outputs() const {
    for (std::size_t layer = 1; layer + 1 < detection.modules.size(); ++layer) {
      if (!std::ranges::all_of(detection.modules[layer], [&](int module) { return output_modules.contains(module); })) {
        return false;
      }
    }
    return true;
  }

  const Detection& detection;
  int hidden_layers;
  Units input_modules;
  Units output_modules;
  Partition inputs;
  Partition outputs;
};

// Outputs take turns: the first, third, .. copy one function, the others the other.
Partition two_by_turns(int outputs) { return {units_from(0, outputs, 2), units_from(1, outputs, 2)}; }

bool is_separable(const View& view) {
  const Partition pairs = {{0, 1}, {2, 3}};
  return view.detection.module_count == 2 && view.inputs == pairs && view.outputs == pairs &&
         view.detection.modules.front() == view.detection.modules.back();
}

// Hidden units may be anywhere, or form modules of their own that pass values on.
bool is_both(const View& view) {
  return view.inputs == Partition{{0, 1}, {2, 3}, {4, 5}} && view.outputs == Partition{{0}, {1}, {2}} &&
         view.inputs_and_outputs_are_apart();
}

std::vector<Criterion> reused(const View& view, const Published& task) {
  const bool exact = view.detection.module_count == 3 && view.inputs == Partition{units_from(0, task.inputs)} &&
                     view.outputs == two_by_turns(task.outputs) && view.inputs_and_outputs_are_apart();
  return {{"exact", exact}, {"single_module", view.detection.module_count == 1}};
}

// Inputs of the first function alone, of both, of the second alone: each reads four.
Partition private_and_shared_inputs(int inputs) {
  const int first_of_second = inputs - 4;
  Partition partition = {units_from(0, first_of_second), units_from(first_of_second, 4), units_from(4, inputs)};
  partition.erase(Units());
  return partition;
}

std::vector<std::size_t> sizes_of(const Partition& partition) {
  std::vector<std::size_t> sizes;
  std::ranges::transform(partition, std::back_inserter(sizes), &Units::size);
  std::ranges::sort(sizes);
  return sizes;
}

std::vector<Criterion> overlap(const View& view, const Published& task) {
  const Partition expected = private_and_shared_inputs(task.inputs);
  const Partition clusters = partition_by(view.detection.live.front(), view.detection.clusters.front());
  const bool outputs = view.outputs == two_by_turns(task.outputs);
  return {{"input_sep", clusters == expected},
          {"input_sep_sizes_only", sizes_of(clusters) == sizes_of(expected)},
          {"output_sep", outputs},
          {"hidden_sep", outputs && view.hidden_units_are_with_outputs()}};
}

std::vector<Criterion> levels(const View& view, const Published& task) {
  const bool inputs =
      view.inputs == Partition{units_from(0, 4), units_from(4, 8)} && view.inputs_and_outputs_are_apart();
  const bool outputs = view.outputs == two_by_turns(task.outputs);
  const std::size_t output_modules = view.output_modules.size();
  const bool intermediate = inputs && ((output_modules == 2 && view.middle_modules() == 1) ||
                                       (output_modules == 1 && view.middle_modules() == 0));
  // Two hidden layers are too few for the middle level to stand apart.
  const bool exact = intermediate && (view.hidden_layers <= 2 ? output_modules == 1 : outputs);
  return {{"input_sep", inputs}, {"output_sep", outputs}, {"intermediate", intermediate}, {"exact", exact}};
}

std::vector<Criterion> published_criteria(const View& view, const Published& task) {
  switch (task.family) {
    case Family::kSeparable:
      return {{"exact", is_separable(view)}};
    case Family::kReused:
      return reused(view, task);
    case Family::kBoth:
      return {{"exact", is_both(view)}};
    case Family::kNone:
      return {{"exact", view.detection.module_count == 1}};
    case Family::kOverlap:
      return overlap(view, task);
    case Family::kLevels:
      break;
  }
  return levels(view, task);
}

}  // namespace

std::optional<std::string> published_task(const std::string& name) {
  const std::optional<Published> found = find_published(name);
  return found ? std::optional(std::string(kFolders.front()) + "/" + found->name) : std::nullopt;
}

std::vector<Criterion> criteria(const Detection& detection, const tasks::Task& task) {
  if (const std::optional<Published> published = find_published(task.name)) {
    return published_criteria(View(detection), *published);
  }
  const std::optional<TruthAgreement> agreement = truth_agreement(detection, task);
  return agreement ? std::vector<Criterion>{{"exact", agreement->all.exact}} : std::vector<Criterion>();
}

std::optional<bool> is_success(const Detection& detection, const tasks::Task& task, OneHiddenLayer rule) {
  const std::vector<Criterion> found = criteria(detection, task);
  if (found.empty()) {
    return std::nullopt;
  }
  const auto has = [&](const char* name) { return std::ranges::find(found, name, &Criterion::name) != found.end(); };
  const auto met = [&](const char* name) {
    const auto criterion = std::ranges::find(found, name, &Criterion::name);
    return criterion != found.end() && criterion->met;
  };
  if (rule == OneHiddenLayer::kAsInTables && detection.live.size() == 3 && has("single_module")) {
    return met("single_module");
  }
  return has("exact") ? met("exact") : met("input_sep") && met("output_sep") && met("hidden_sep");
}

}  // namespace modlab::methods

#include "methods/detect/lesion.h"

#include <algorithm>

#include "methods/detect/table_values.h"

namespace modlab::methods {
namespace {

Cut cut_of(const Module& module) {
  const auto hidden = std::span(module.units).subspan(1, module.units.size() - 2);
  if (std::ranges::any_of(hidden, [](const std::vector<int>& units) { return !units.empty(); })) {
    return Cut::kHiddenUnits;
  }
  return module.units.front().empty() ? Cut::kOutputs : Cut::kInputs;
}

bool has(const std::vector<int>& units, int unit) { return std::ranges::binary_search(units, unit); }

models::LayeredNetwork without(const models::LayeredNetwork& network, const Module& module, Cut cut) {
  models::LayeredNetwork rest = network;
  if (cut == Cut::kOutputs) {
    std::erase_if(rest.connections.back().edges,
                  [&](const models::Edge& edge) { return has(module.units.back(), edge.to); });
    return rest;
  }
  for (std::size_t layer = cut == Cut::kInputs ? 0 : 1; layer < rest.connections.size(); ++layer) {
    std::erase_if(rest.connections[layer].edges,
                  [&](const models::Edge& edge) { return has(module.units[layer], edge.from); });
  }
  return rest;
}

}  // namespace

LesionTest lesion_test(const models::LayeredNetwork& network, const Hierarchy& hierarchy, const tasks::Task& task) {
  check_fits(network, task);
  LesionTest test;
  test.accuracy = output_accuracies(network, task.table);
  for (const Module& module : hierarchy.modules) {
    Lesion& lesion = test.lesions.emplace_back();
    lesion.cut = cut_of(module);
    lesion.accuracy = output_accuracies(without(network, module, lesion.cut), task.table);
    for (int output = 0; output < task.table.outputs; ++output) {
      if (lesion.accuracy[output] < test.accuracy[output]) {
        lesion.failing.push_back(output);
      }
    }
  }
  return test;
}

const char* text_of(Cut cut) {
  return cut == Cut::kHiddenUnits ? "hidden units" : cut == Cut::kInputs ? "inputs" : "outputs";
}

}  // namespace modlab::methods

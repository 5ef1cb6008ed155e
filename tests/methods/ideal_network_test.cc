#include "models/ideal_network.h"

#include <gtest/gtest.h>

#include <set>

#include "methods/detect/detect.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

// Parts of a network: units as pairs of layer and number.
using Part = std::set<std::pair<int, int>>;

std::set<Part> true_parts(const tasks::Task& task, const models::IdealNetwork& ideal) {
  const std::vector<std::vector<int>> module_of = tasks::modules_of_nodes(task);
  std::vector<Part> parts(task.modules.size());
  for (int layer = 0; layer < static_cast<int>(ideal.values.size()); ++layer) {
    for (int unit = 0; unit < static_cast<int>(ideal.values[layer].size()); ++unit) {
      const tasks::Wire& value = ideal.values[layer][unit];
      parts.at(module_of[value.level][value.index]).emplace(layer, unit);
    }
  }
  return {parts.begin(), parts.end()};
}

std::set<Part> detected_parts(const Detection& detection) {
  std::vector<Part> parts(detection.module_count);
  for (int layer = 0; layer < static_cast<int>(detection.live.size()); ++layer) {
    for (std::size_t place = 0; place < detection.live[layer].size(); ++place) {
      parts.at(detection.modules[layer][place]).emplace(layer, detection.live[layer][place]);
    }
  }
  return {parts.begin(), parts.end()};
}

// The detector returns the true modules from the graph itself, for all tasks.
TEST(DetectIdealNetworks, FindsTheModulesOfEveryPublishedTask) {
  DetectSettings settings;
  settings.threshold = 0.2;
  settings.merging = 0.9;
  int tasks = 0;
  for (const std::string& name : tasks::builtin_task_names()) {
    if (!name.starts_with("sculpt/")) {
      continue;
    }
    const tasks::Task task = tasks::load_task(name).tasks.at(0);
    const models::IdealNetwork ideal = models::ideal_network(*task.graph);
    const Detection detection = detect(ideal.network, settings);
    EXPECT_EQ(detected_parts(detection), true_parts(task, ideal)) << name;

    // The hierarchy has the edges between the true modules, as many as each module reads others.
    std::size_t edges = 0;
    for (const std::vector<int>& read : tasks::modules_read(task)) {
      edges += read.size();
    }
    EXPECT_EQ(hierarchy(ideal.network, detection).edges.size(), edges) << name;
    ++tasks;
  }
  EXPECT_EQ(tasks, 38);
}

}  // namespace
}  // namespace modlab::methods

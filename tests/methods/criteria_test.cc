#include "methods/detect/criteria.h"

#include <gtest/gtest.h>

#include <map>

#include "methods/published_networks.h"
#include "methods/small_networks.h"
#include "models/ideal_network.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

using nlohmann::json;
using test::full_network;
using test::PublishedNetwork;
using test::small_network;

tasks::Task builtin(const std::string& name) { return tasks::load_task(name).tasks.front(); }

json as_json(const std::vector<Criterion>& criteria) {
  json object = json::object();
  for (const Criterion& criterion : criteria) {
    object[criterion.name] = criterion.met;
  }
  return object;
}

TEST(Criteria, OfThePublishedNetworks) {
  std::map<std::string, tasks::Task> by_name;
  for (const PublishedNetwork& published : test::published_networks()) {
    SCOPED_TRACE(published.id());
    const Detection detection = detect(published.network, {});
    const std::string folder_name = published.record["task"];
    const std::optional<std::string> name = published_task(folder_name);
    ASSERT_TRUE(name);
    auto [task, is_new] = by_name.try_emplace(*name);
    if (is_new) {
      task->second = builtin(*name);
    }
    EXPECT_EQ(as_json(criteria(detection, task->second)), published.record["criteria"]);
    // Under its published name too.
    tasks::Task renamed = task->second;
    renamed.name = folder_name;
    EXPECT_EQ(as_json(criteria(detection, renamed)), published.record["criteria"]);
  }
  EXPECT_GE(by_name.size(), 30);
}

TEST(Criteria, NamesOfPublishedTasks) {
  EXPECT_EQ(published_task("exemplar/4-2-4"), "sculpt/4-2-4");
  EXPECT_EQ(published_task("increasing_reuse_non_separable/4-1-2-16"), "sculpt/4-1-2-16");
  EXPECT_EQ(published_task("input_overlap_exp/4-1-2-2-16"), "sculpt/4-1-2-2-16");
  EXPECT_EQ(published_task("sculpt/8-2-1-2-8"), "sculpt/8-2-1-2-8");
  int published = 0;
  for (const std::string& name : tasks::builtin_task_names()) {
    if (name.starts_with("sculpt/")) {
      EXPECT_EQ(published_task(name), name);
      ++published;
    }
  }
  // 39 files, one of them twice.
  EXPECT_EQ(published, 38);
  for (const char* name :
       {"depth2", "4-2-4", "sculpt/4-2-5", "sculpt/4-1-2-3", "elsewhere/4-2-4", "sculpt/", "/4-2-4"}) {
    EXPECT_EQ(published_task(name), std::nullopt) << name;
  }
}

// The wiring of a task's graph has the true modules, and so has what every criterion asks for.
TEST(Criteria, OfTheGraphsThemselves) {
  for (const std::string& name : tasks::builtin_task_names()) {
    if (!name.starts_with("sculpt/")) {
      continue;
    }
    const tasks::Task task = builtin(name);
    const Detection detection = detect(models::ideal_network(*task.graph).network, {});
    EXPECT_EQ(is_success(detection, task), true) << name << as_json(criteria(detection, task));
  }
}

TEST(Criteria, OneHiddenLayerCountsBothWays) {
  const tasks::Task reused = builtin("sculpt/4-1-2-4");
  const Detection one_layer = detect(full_network({4, 3, 4}), {});
  EXPECT_EQ(as_json(criteria(one_layer, reused)), json({{"exact", false}, {"single_module", true}}));
  EXPECT_EQ(is_success(one_layer, reused), false);
  EXPECT_EQ(is_success(one_layer, reused, OneHiddenLayer::kAsInTables), true);
  const Detection two_layers = detect(full_network({4, 3, 2, 4}), {});
  EXPECT_EQ(is_success(two_layers, reused, OneHiddenLayer::kAsInTables), false);
  // The rule is about that task alone.
  const tasks::Task separable = builtin("sculpt/4-2-4");
  EXPECT_EQ(is_success(detect(full_network({4, 3, 4}), {}), separable, OneHiddenLayer::kAsInTables), false);
}

TEST(Criteria, LevelsMergeInShallowNetworks) {
  const tasks::Task levels = builtin("sculpt/8-2-1-2-4");
  const std::vector<std::string> inputs = {"0>0 1>0 2>0 3>0 4>1 5>1 6>1 7>1"};
  const Detection merged = detect(small_network({8, 2, 1, 4}, {inputs[0], "0>0 1>0", "0>0 0>1 0>2 0>3"}), {});
  EXPECT_EQ(as_json(criteria(merged, levels)),
            json({{"input_sep", true}, {"output_sep", false}, {"intermediate", true}, {"exact", true}}));
  // The same modules are too few for three hidden layers.
  const Detection deeper = detect(small_network({8, 2, 1, 1, 4}, {inputs[0], "0>0 1>0", "0>0", "0>0 0>1 0>2 0>3"}), {});
  EXPECT_EQ(as_json(criteria(deeper, levels)),
            json({{"input_sep", true}, {"output_sep", false}, {"intermediate", true}, {"exact", false}}));
}

TEST(Criteria, OtherTasksAreJudgedByTheirModules) {
  const tasks::Task task = tasks::parse_task_yaml(
                               "inputs: [a, b, c, d]\nlevels:\n  - {p: AND a b, q: OR c d}\noutputs: [p, q]\n"
                               "modules:\n  P: [a, b, p]\n  Q: [c, d, q]\n",
                               "own", "own.yaml")
                               .tasks.front();
  EXPECT_EQ(as_json(criteria(detect(small_network({4, 2}, {"0>0 1>0 2>1 3>1"}), {}), task)), json({{"exact", true}}));
  EXPECT_EQ(is_success(detect(full_network({4, 2}), {}), task), false);
  const tasks::Task without_modules = builtin("depth1");
  EXPECT_TRUE(criteria(detect(full_network({4, 3}), {}), without_modules).empty());
  EXPECT_EQ(is_success(detect(full_network({4, 3}), {}), without_modules), std::nullopt);
}

// A dead input is in no module, and so in none of the right ones.
TEST(Criteria, ADeadInputIsMissed) {
  const tasks::Task task = builtin("sculpt/4-1-4");
  EXPECT_EQ(is_success(detect(full_network({4, 2, 4}), {}), task), true);
  const tasks::Task reused = builtin("sculpt/4-1-2-2");
  const Detection detection = detect(small_network({4, 3, 2, 2}, {"0>0 1>0 2>0", "0>0 0>1", "0>0 1>1"}), {});
  EXPECT_EQ(detection.module_count, 3);
  EXPECT_EQ(is_success(detection, reused), false);
}

}  // namespace
}  // namespace modlab::methods

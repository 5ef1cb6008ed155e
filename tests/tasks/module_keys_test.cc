#include "tasks/module_keys.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

using Names = std::vector<std::string>;

const char* const kGraph = R"(inputs: [a, b, c, d]
levels:
  - p: AND a !b
    q: AND c d
  - r: OR p q
outputs: {sum: r, carry: p, raw: d}
)";

Task parse(const std::string& modules) {
  return parse_task_yaml(std::string(kGraph) + modules, "t", "t.yaml").tasks.at(0);
}

template <class Error>
void expect_error(const std::string& modules, const Names& words) {
  SCOPED_TRACE(modules);
  try {
    parse(modules);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what() << "\nlacks: " << word;
    }
  }
}

TEST(TaskModules, ListInputsGatesAndOutputs) {
  const Task task = parse("modules:\n  left: [p, b, a, carry]\n  right: [c, d, q]\n  top: [r]\n");
  ASSERT_EQ(task.modules.size(), 3U);
  // In the order of the graph, whatever that of the list; sum and raw follow what they read.
  EXPECT_EQ(task.modules[0], (TaskModule{"left", {0, 1}, {{1, 0, false}}, {1}}));
  EXPECT_EQ(task.modules[1], (TaskModule{"right", {2, 3}, {{1, 1, false}}, {2}}));
  EXPECT_EQ(task.modules[2], (TaskModule{"top", {}, {{2, 0, false}}, {0}}));
  EXPECT_EQ(member_names(task, task.modules[1]), (Names{"c", "d", "q", "raw"}));
  EXPECT_EQ(modules_read(task), (std::vector<std::vector<int>>{{}, {}, {0, 1}}));
}

TEST(TaskModules, NodesMayBeLeftOut) {
  const Task task = parse("modules: {only: [q]}\n");
  EXPECT_EQ(task.modules, (std::vector<TaskModule>{{"only", {}, {{1, 1, false}}, {}}}));
  EXPECT_EQ(modules_of_nodes(task), (std::vector<std::vector<int>>{{-1, -1, -1, -1}, {-1, 0}, {-1}, {-1, -1, -1}}));
  EXPECT_EQ(modules_read(task), std::vector<std::vector<int>>{{}});
  EXPECT_TRUE(parse("").modules.empty());
}

TEST(TaskModules, AnOutputMayBeElsewhereThanTheGateItReads) {
  const Task task = parse("modules: {first: [p, a, b], second: [carry, r]}\n");
  EXPECT_EQ(task.modules[0].outputs, std::vector<int>{});
  EXPECT_EQ(task.modules[1].outputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(modules_read(task), (std::vector<std::vector<int>>{{}, {0}}));
}

TEST(TaskModules, AnOutputWithTheNameOfItsGateIsListedOnce) {
  const Task task = parse_task_yaml(
                        "inputs: 2\nlevels:\n  - y1: AND x0 x1\n    y2: OR x0 x1\noutputs: [y2, y1]\n"
                        "modules: {first: [y1], second: [y2]}\n",
                        "t", "t.yaml")
                        .tasks.at(0);
  EXPECT_EQ(task.modules[0], (TaskModule{"first", {}, {{1, 0, false}}, {1}}));
  EXPECT_EQ(member_names(task, task.modules[0]), Names{"y1"});
}

TEST(TaskModules, Mistakes) {
  expect_error<ConfigError>("modules: {left: [a, carri]}\n",
                            {"t.yaml:7", "module 'left' lists 'carri'", "no input, gate or output", "'carry'"});
  expect_error<ConfigError>("modules:\n  left: [a, b]\n  right: [c, b]\n",
                            {"t.yaml:9", "'b' is in module 'left' already"});
  expect_error<ConfigError>("modules: {left: [a, a]}\n", {"'a' is in module 'left' already"});
  expect_error<ConfigError>("modules: {left: [a], left: [b]}\n", {"the module 'left' is there twice"});
  expect_error<ConfigError>("modules: {'left one': [a]}\n", {"a module cannot be called 'left one'"});
  expect_error<ConfigError>("modules: {left: [!a ]}\n", {"lists '!a'"});
  expect_error<FormatError>("modules: {left: []}\n", {"module 'left' is not a list of names"});
  expect_error<FormatError>("modules: {left: a}\n", {"module 'left' is not a list of names"});
  expect_error<FormatError>("modules: {left: [[a]]}\n", {"module 'left' lists something that is no name"});
  expect_error<FormatError>("modules: [a, b]\n", {"'modules' is not a map"});
  expect_error<FormatError>("modules:\n", {"'modules' is not a map"});
  EXPECT_THROW(parse_task_yaml("inputs: 2\ntable: [6]\nmodules: {left: [x0]}\n", "t", "t.yaml"), ConfigError);
  EXPECT_THROW(parse_task_yaml("tasks: [depth2]\nmodules: {left: [x0]}\n", "t", "t.yaml"), ConfigError);
}

}  // namespace
}  // namespace modlab::tasks

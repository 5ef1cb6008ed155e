// The Boolean tasks of Neural Sculpting against the published tables (tests/data/sculpt/tasks.json.gz).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/file.h"
#include "io/inflate.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxBytes = 1 << 20;

const json& published_tasks() {
  static const json kTasks = [] {
    const std::string path = MODLAB_TEST_DIR "/data/sculpt/tasks.json.gz";
    return json::parse(io::inflate_stream(io::read_file(path, kMaxBytes), io::Wrapping::kGzip, kMaxBytes, path));
  }();
  return kTasks;
}

// "exemplar/4-2-4" is our "sculpt/4-2-4".
Task load_published(const std::string& name) { return load_task("sculpt" + name.substr(name.find('/'))).tasks.at(0); }

Task load_one(const std::string& name) { return load_task(name).tasks.at(0); }

std::string column(const TruthTable& table, int output) {
  std::string bits;
  for (int row = 0; row < static_cast<int>(table.rows.size()); ++row) {
    bits += output_bit(table, row, output) ? '1' : '0';
  }
  return bits;
}

// "g1 = AND(-x1,x2)", as published.
std::string published_text(const FunctionGraph& graph, const Gate& gate) {
  std::string text;
  for (const char letter : gate.name + " = " + gate_text(graph, gate)) {
    if (letter == '!') {
      text += '-';
    } else if (letter != ' ' || text.size() < gate.name.size() + 3) {
      text += letter;
    }
  }
  return text;
}

TEST(SculptTasks, AreThePublishedOnes) {
  ASSERT_EQ(published_tasks().size(), 39);
  std::set<std::string> names;
  for (const auto& [name, published] : published_tasks().items()) {
    SCOPED_TRACE(name);
    names.insert("sculpt" + name.substr(name.find('/')));
    const Task task = load_published(name);
    ASSERT_EQ(task.table.inputs, published["n_inputs"]);
    ASSERT_EQ(task.table.outputs, published["n_outputs"]);
    for (int output = 0; output < task.table.outputs; ++output) {
      EXPECT_EQ(column(task.table, output), published["columns"][output]) << output;
      EXPECT_EQ(task.output_names[output], "y" + std::to_string(output + 1));
    }
    Names gates;
    for (const std::vector<Gate>& level : task.graph->levels) {
      for (const Gate& gate : level) {
        gates.push_back(published_text(*task.graph, gate));
      }
    }
    EXPECT_EQ(gates, published["gates"].get<Names>());
    EXPECT_NE(task.about.find("Neural Sculpting"), std::string::npos);
  }
  Names built_in = builtin_task_names();
  std::erase_if(built_in, [](const std::string& name) { return !name.starts_with("sculpt/"); });
  // One of the 39 is there twice: [4,1,2,16].
  EXPECT_EQ(built_in, Names(names.begin(), names.end()));
  EXPECT_EQ(built_in.size(), 38U);
}

TEST(SculptTasks, HaveThePublishedModules) {
  for (const auto& [name, published] : published_tasks().items()) {
    SCOPED_TRACE(name);
    const Task task = load_published(name);
    ASSERT_EQ(task.modules.size(), published["ground_truth"].size());
    for (std::size_t module = 0; module < task.modules.size(); ++module) {
      const TaskModule& ours = task.modules[module];
      const json& theirs = published["ground_truth"][module];
      EXPECT_EQ(ours.name, theirs["name"]);
      const auto from_one = [](std::vector<int> numbers) {
        std::ranges::for_each(numbers, [](int& number) { ++number; });
        return numbers;
      };
      EXPECT_EQ(from_one(ours.inputs), theirs["inputs"].get<std::vector<int>>());
      EXPECT_EQ(from_one(ours.outputs), theirs["outputs"].get<std::vector<int>>());
      // Published gates leave out those that are outputs.
      Names gates;
      for (const Wire& gate : ours.gates) {
        gates.push_back(wire_text(*task.graph, gate));
      }
      std::erase_if(gates, [](const std::string& gate) { return gate.starts_with("y"); });
      EXPECT_EQ(gates, theirs["gates"].get<Names>());
    }
    for (const std::vector<int>& level : modules_of_nodes(task)) {
      EXPECT_EQ(std::ranges::count(level, -1), 0);
    }
  }
}

TEST(SculptTasks, OnesInEachColumn) {
  // From the published code.
  const std::map<std::string, std::pair<int, Names>> ones_of = {
      {"4-2-4", {8, {""}}},  {"6-3-3-3", {28, {""}}}, {"4-1-4", {3, {""}}}, {"4-1-2-", {2, {}}},
      {"8-2-", {48, {}}},    {"7-3-2-", {24, {}}},    {"6-3-2-", {12, {}}}, {"5-3-2-", {6, {}}},
      {"4-1-2-2-", {3, {}}}, {"8-2-1-2-", {39, {}}}};
  int tasks = 0;
  for (const auto& [start, expected] : ones_of) {
    for (const std::string& use : expected.second.empty() ? Names{"2", "4", "8", "12", "16"} : expected.second) {
      const TruthTable table = load_one("sculpt/" + start + use).table;
      for (int output = 0; output < table.outputs; ++output) {
        EXPECT_EQ(ones(table, output), expected.first) << start << use;
      }
      ++tasks;
    }
  }
  EXPECT_EQ(tasks, 38);
}

TEST(SculptTasks, BuildingBlocks) {
  // FA and FB of the same inputs.
  const TruthTable table = load_one("sculpt/4-1-2-2-2").table;
  EXPECT_EQ(column(table, 0), "0001000000101000");
  EXPECT_EQ(column(table, 1), "0000010001000001");
}

// "G>F1 G>F2": which module feeds which.
std::string hierarchy_of(const std::string& name) {
  const Task task = load_one(name);
  const std::vector<std::vector<int>> read = modules_read(task);
  std::string text;
  for (std::size_t from = 0; from < task.modules.size(); ++from) {
    for (std::size_t to = 0; to < task.modules.size(); ++to) {
      if (std::ranges::count(read[to], static_cast<int>(from)) > 0) {
        text += (text.empty() ? "" : " ") + task.modules[from].name + ">" + task.modules[to].name;
      }
    }
  }
  return text;
}

TEST(SculptTasks, HierarchyOfTheModules) {
  EXPECT_EQ(hierarchy_of("sculpt/4-2-4"), "");
  EXPECT_EQ(hierarchy_of("sculpt/4-1-4"), "");
  EXPECT_EQ(hierarchy_of("sculpt/6-3-3-3"), "I1>O1 I1>O2 I2>O1 I2>O3 I3>O2 I3>O3");
  EXPECT_EQ(hierarchy_of("sculpt/4-1-2-16"), "G>F1 G>F2");
  EXPECT_EQ(hierarchy_of("sculpt/8-2-8"), "");
  for (const char* name : {"sculpt/7-3-2-2", "sculpt/6-3-2-4", "sculpt/5-3-2-12"}) {
    EXPECT_EQ(hierarchy_of(name), "INA>FA SHARED>FA SHARED>FB INB>FB") << name;
  }
  EXPECT_EQ(hierarchy_of("sculpt/4-1-2-2-4"), "SHARED>FA SHARED>FB");
  EXPECT_EQ(hierarchy_of("sculpt/8-2-1-2-4"), "A>MID B>MID MID>Z1 MID>Z2");
}

}  // namespace
}  // namespace modlab::tasks

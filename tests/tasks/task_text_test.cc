#include <gtest/gtest.h>

#include <filesystem>

#include "core/errors.h"
#include "tasks/task_cache.h"
#include "tasks/task_difference.h"
#include "tasks/task_file.h"
#include "tasks/tasks_at_hand.h"
#include "temporary_folder.h"

namespace modlab::tasks {
namespace {

constexpr auto kAnd = "inputs: 2\nlevels: [{a: AND x0 x1}]\noutputs: [a]\n";
constexpr auto kXor = "inputs: 2\nlevels: [{a: XOR x0 x1}]\noutputs: [a]\n";
constexpr auto kTable = "x0,x1,y\n0,0,0\n0,1,1\n1,0,1\n1,1,1\n";

TaskSuite of(const std::string& yaml) { return parse_task_yaml(yaml, "t", "t.yaml"); }

TEST(TaskText, IsEnoughToReadATaskWhereItsFilesAreNot) {
  TaskText text;
  {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("below"));
    folder.write("below/xor.yaml", kXor);
    folder.write("or.csv", kTable);
    folder.write("suite.yaml", "about: all\ntasks: [below/xor.yaml, or.csv]\n");
    text = load_task(folder.file("suite.yaml")).text;
  }
  EXPECT_EQ(text.members, (std::map<std::string, std::string>{{"below/xor.yaml", kXor}, {"or.csv", kTable}}));
  const TaskSuite suite = parse_task(text, "gone/suite.yaml");
  EXPECT_EQ(suite.name, "suite");
  EXPECT_EQ(suite.about, "all");
  ASSERT_EQ(suite.tasks.size(), 2U);
  EXPECT_EQ(suite.tasks[0].name, "xor");
  EXPECT_EQ(suite.tasks[0].table.rows, (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(suite.tasks[1].table.rows, (std::vector<std::uint32_t>{0, 1, 1, 1}));
  EXPECT_EQ(suite.text, text);
  text.members.erase("or.csv");
  EXPECT_THROW(parse_task(text, "gone/suite.yaml"), FormatError);
}

TEST(TaskText, OfEveryBuiltInTaskGivesTheTaskAgain) {
  for (const std::string& name : builtin_task_names()) {
    const TaskSuite suite = load_task(name);
    EXPECT_EQ(task_difference(suite, parse_task(suite.text, name)), "") << name;
  }
}

TEST(TaskText, IsNeverLongerThanAFileMayBe) {
  EXPECT_THROW(parse_task({std::string(2 << 20, '#'), {}}, "long.yaml"), FormatError);
}

TEST(LoadTaskFrom, AFolderComesFirst) {
  const test::TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* below : {"here", "there"}) {
    std::filesystem::create_directory(folder.file(below));
  }
  folder.write("here/a.yaml", kAnd);
  folder.write("there/a.yaml", kXor);
  folder.write("here/only.yaml", kAnd);
  std::filesystem::current_path(folder.file("here"));
  EXPECT_EQ(load_task_from("../there", "a.yaml").text.text, kXor);
  EXPECT_EQ(load_task_from("", "a.yaml").text.text, kAnd);
  EXPECT_EQ(load_task_from("../there", "only.yaml").text.text, kAnd) << "for want of anything nearer";
  EXPECT_EQ(load_task_from("../there", folder.file("here/a.yaml")).text.text, kAnd);
  EXPECT_EQ(load_task_from("../there", "depth1").name, "depth1");
  try {
    load_task_from("../there", "none.yaml");
    ADD_FAILURE() << "there is no such file";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("../there/none.yaml"), std::string::npos) << error.what();
  }
  std::filesystem::current_path(before);
}

TEST(TasksAtHand, AreWhatNamesMeanWhileTheyLast) {
  const auto task = [](const char* yaml) { return std::make_shared<const TaskSuite>(of(yaml)); };
  EXPECT_EQ(task_at_hand("mine.yaml"), nullptr);
  {
    const TasksAtHand first({{"mine.yaml", task(kAnd)}, {"depth1", task(kAnd)}});
    EXPECT_EQ(cached_task("mine.yaml")->text.text, kAnd);
    EXPECT_EQ(load_task("mine.yaml").text.text, kAnd);
    EXPECT_EQ(load_task("depth1").inputs(), 2);
    TasksAtHand copy;
    {
      const TasksAtHand second({{"mine.yaml", task(kXor)}});
      EXPECT_EQ(cached_task("mine.yaml")->text.text, kXor) << "the last one is asked first";
      EXPECT_EQ(load_task("depth1").inputs(), 2);
      copy = second;
    }
    EXPECT_EQ(cached_task("mine.yaml")->text.text, kXor) << "a copy is as good";
    copy = TasksAtHand();
    EXPECT_EQ(cached_task("mine.yaml")->text.text, kAnd);
  }
  EXPECT_EQ(load_task("depth1").inputs(), 6);
  EXPECT_THROW(load_task("mine.yaml"), FormatError);
}

TEST(TaskDifference, IsSaidInWords) {
  const std::string base = "inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [a, b]\n";
  const std::pair<const char*, const char*> others[] = {
      {"inputs: 4\nlevels: [{a: AND x0 x1, b: XOR x2 x3}]\noutputs: [a, b]\n",
       "output y1 differs in 4 of 16 rows, and b was OR(x2, x3) and is XOR(x2, x3)"},
      {"inputs: 4\nlevels: [{a: AND x0 x1, b: NAND !x2 !x3}]\noutputs: [a, b]\n",
       "b was OR(x2, x3) and is NAND(!x2, !x3)"},
      {"inputs: 5\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [a, b]\n",
       "it had 4 inputs and 2 outputs and has 5 and 2"},
      {"inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3, c: OR x0 x3}]\noutputs: [a, b]\n",
       "its level 1 had 2 gates and has 3"},
      {"inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [b, a]\n", "its outputs are other gates"},
      {"inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [a, b]\nmodules: {m: [x0, x1, a], n: [x2, x3, b]}\n",
       "its modules are others"},
      {"tasks: [depth1, depth1]\n", "it had 1 task and has 2"}};
  for (const auto& [yaml, words] : others) {
    const std::string found = task_difference(of(base), of(yaml));
    EXPECT_NE(found.find(words), std::string::npos) << yaml << "\n" << found;
  }
  // Names, words and comments are nobody's business.
  EXPECT_EQ(task_difference(of(base), of("# new\nabout: new\ninputs: [p, q, r, s]\nlevels: [{u: AND p q, v: OR r s}]\n"
                                         "outputs: [u, v]\n")),
            "");
  EXPECT_EQ(task_difference(of("tasks: [depth2, B]\n"), of("tasks: [depth2, C]\n")).substr(0, 14), "of its task C,");
}

}  // namespace
}  // namespace modlab::tasks

#include "tasks/truth_table.h"

#include <gtest/gtest.h>

#include <array>

#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

struct Published {
  const char* name;
  std::array<const char*, 2> words;
  std::array<int, 2> ones;
  std::array<int, 4> joint;  // rows with outputs 00, 01, 10, 11
  double always_zero;
};

// From the published code.
const Published kPublished[] = {
    {"depth1", {"0000ffffffff0000", "0ff00ff00ff00ff0"}, {32, 32}, {16, 16, 16, 16}, 0.5},
    {"depth2", {"00000ff00ff00000", "0660066006600660"}, {16, 16}, {40, 8, 8, 8}, 0.75},
    {"depth3", {"00006ff66ff60000", "0660666666660660"}, {24, 24}, {32, 8, 8, 16}, 0.625},
    {"random62", {"4f562f00aecbc2df", "6fe4167ab65f5e9a"}, {34, 38}, {15, 15, 11, 23}, 0.4375},
    {"B", {"003f003f3f3f3f3f", "15153f3f15153f3f"}, {36, 36}, {19, 9, 9, 27}, 0.4375},
    {"C", {"0066006666666666", "00003f3f3f3f0000"}, {24, 24}, {25, 15, 15, 9}, 0.625},
};

TEST(TruthTable, PublishedTasksHaveTheirPublishedTables) {
  for (const Published& published : kPublished) {
    SCOPED_TRACE(published.name);
    const TaskSuite suite = load_task(published.name);
    ASSERT_EQ(suite.tasks.size(), 1U);
    const TruthTable& table = suite.tasks[0].table;
    ASSERT_EQ(table.inputs, 6);
    ASSERT_EQ(table.outputs, 2);
    ASSERT_EQ(table.rows.size(), 64U);
    std::array<int, 4> joint = {};
    for (int row = 0; row < 64; ++row) {
      ++joint[2 * output_bit(table, row, 0) + output_bit(table, row, 1)];
    }
    EXPECT_EQ(joint, published.joint);
    for (int output = 0; output < 2; ++output) {
      EXPECT_EQ(hex_word(table, output), published.words[output]);
      EXPECT_EQ(ones(table, output), published.ones[output]);
    }
    EXPECT_DOUBLE_EQ(always_zero_accuracy(table), published.always_zero);
  }
}

TEST(TruthTable, FirstInputIsTheMostSignificantBit) {
  EXPECT_TRUE(input_bit(6, 32, 0));
  EXPECT_FALSE(input_bit(6, 32, 5));
  EXPECT_TRUE(input_bit(6, 1, 5));
}

TEST(TruthTable, SmallTablesGiveRightAlignedWords) {
  const TruthTable table{1, 1, {0, 1}};
  EXPECT_EQ(hex_word(table, 0), "1");
}

TEST(TruthTable, DependenceComesFromTheValuesAndNotFromTheWiring) {
  const TruthTable depth1 = load_task("depth1").tasks[0].table;
  EXPECT_EQ(relevant_inputs(depth1, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(relevant_inputs(depth1, 1), (std::vector<int>{2, 3}));
  EXPECT_EQ(distractor_inputs(depth1), (std::vector<int>{4, 5}));
  EXPECT_TRUE(distractor_inputs(load_task("depth3").tasks[0].table).empty());

  // a0 reads x2, but the output is x0 whatever x2 is.
  const Task absorbed =
      parse_task_yaml("inputs: 3\nlevels:\n  - a0: AND x0 x2\n    a1: ID x0\n  - b0: OR a0 a1\noutputs: b0\n", "t",
                      "t.yaml")
          .tasks[0];
  EXPECT_EQ(relevant_inputs(absorbed.table, 0), std::vector<int>{0});
  EXPECT_EQ(distractor_inputs(absorbed.table), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace modlab::tasks

#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

const std::string kGates = "levels:\n  - g: XOR a0 b0\noutputs: [g]\n";

Task parse(const std::string& yaml) { return parse_task_yaml(yaml, "t", "t.yaml").tasks.at(0); }

template <class Error>
void expect_error(const std::string& yaml, const std::vector<std::string>& words) {
  SCOPED_TRACE(yaml);
  try {
    parse(yaml);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "'" << error.what() << "' lacks '" << word << "'";
    }
  }
}

// The label depends on k = d1 XOR d2 alone.
TEST(MnistXorAnd, TheLabelsOfAllPairs) {
  const TaskSuite suite = load_task("mnist-xor-and");
  ASSERT_TRUE(suite.images());
  EXPECT_EQ(suite.images()->images, 2);
  EXPECT_EQ(suite.images()->digits, 8);
  EXPECT_EQ(suite.images()->bits, 3);
  EXPECT_EQ(suite.images()->combinations(), 64);
  EXPECT_EQ(suite.outputs(), 2);
  const TruthTable& table = suite.tasks[0].table;
  for (int first = 0; first < 8; ++first) {
    for (int second = 0; second < 8; ++second) {
      const int k = first ^ second;
      EXPECT_EQ(output_bit(table, 8 * first + second, 0), k == 6 || k == 7) << first << " " << second;
      EXPECT_EQ(output_bit(table, 8 * first + second, 1), k == 3 || k == 7) << first << " " << second;
    }
  }
}

TEST(MnistXorAnd, RoutingAndSizesAreThePublishedOnes) {
  const TaskSuite suite = load_task("mnist-xor-and");
  EXPECT_EQ(suite.tasks[0].input_names, (std::vector<std::string>{"a2", "a1", "a0", "b2", "b1", "b0"}));
  const Routing routing = true_routing(suite, true, 2).front();
  EXPECT_EQ(wiring_text(routing), "L1: (1,4),(2,5),(3,6); L2: (1,2),(2,3); out: (1,2)");
  EXPECT_EQ(modules_text(routing), "L1: 1,1,1; L2: 2,2");
  EXPECT_DOUBLE_EQ(always_zero_accuracy(suite), 0.75);
}

TEST(MnistThree, EveryImageMattersAndTheGraphIsRoutable) {
  const TaskSuite suite = load_task("mnist-three");
  ASSERT_TRUE(suite.images());
  EXPECT_EQ(suite.images()->images, 3);
  EXPECT_EQ(suite.images()->combinations(), 512);
  EXPECT_EQ(suite.inputs(), 9);
  EXPECT_LE(always_zero_accuracy(suite), 0.75);
  EXPECT_EQ(true_routing(suite, true, 2).size(), 1U);
  EXPECT_EQ(true_routing(suite, false, 2).size(), 1U);
  const std::vector<int> unread = distractor_inputs(suite.tasks[0].table);
  for (int image = 0; image < 3; ++image) {
    EXPECT_EQ(std::ranges::count_if(unread, [&](int input) { return input / 3 == image; }), 1);
  }
}

TEST(ImageTasks, InputsAreNamedAfterImageAndBit) {
  EXPECT_EQ(parse("images: 3\ndigits: 4\n" + kGates).input_names,
            (std::vector<std::string>{"a1", "a0", "b1", "b0", "c1", "c0"}));
  EXPECT_EQ(parse("images: 4\ndigits: 2\n" + kGates).input_names, (std::vector<std::string>{"a0", "b0", "c0", "d0"}));
  EXPECT_EQ(parse("images: 2\ndigits: 5\n" + kGates).images->bits, 3);
  EXPECT_EQ(parse("images: 4\ndigits: 10\n" + kGates).table.inputs, 16);
  // Eight digits where the file does not say.
  EXPECT_EQ(parse("images: 2\n" + kGates).images->digits, 8);
  // Names of the file's own, and a table.
  const Task named = parse("images: 2\ndigits: 2\ninputs: [left, right]\nlevels:\n  - g: AND left right\noutputs: g\n");
  EXPECT_EQ(named.input_names, (std::vector<std::string>{"left", "right"}));
  EXPECT_TRUE(named.images);
  const Task table = parse("images: 2\ndigits: 3\ninputs: 4\ntable: {y0: 0001}\n");
  EXPECT_EQ(table.input_names.front(), "x0");
  EXPECT_EQ(table.images->digits, 3);
  EXPECT_FALSE(parse("inputs: 2\ntable: {y0: 6}\n").images);
}

TEST(ImageTasks, Mistakes) {
  expect_error<ConfigError>("images: 2\ndigits: 12\n" + kGates, {"t.yaml:2", "digits is 12, but", "0 to 9", "2 to 10"});
  expect_error<ConfigError>("images: 2\ndigits: 1\n" + kGates, {"digits is 1"});
  expect_error<ConfigError>("images: 1\ndigits: 8\n" + kGates, {"t.yaml:1", "images is 1", "2 to 4"});
  expect_error<ConfigError>("images: 5\ndigits: 8\n" + kGates, {"images is 5"});
  expect_error<ConfigError>("digits: 8\n" + kGates, {"t.yaml:1", "'digits' without 'images'", "images: 2"});
  expect_error<ConfigError>("images: 2\ndigits: 8\ninputs: 5\n" + kGates,
                            {"t.yaml:3", "5 inputs", "3 bits", "makes 6"});
  expect_error<ConfigError>("images: 2\ndigits: 8\ninputs: [a, b]\n" + kGates, {"2 inputs", "leave 'inputs' out"});
  expect_error<ConfigError>("images: 2\nlevels:\n  - a0: XOR a1 b1\noutputs: [a0]\n",
                            {"t.yaml:3", "'a0' is used twice"});
  expect_error<ConfigError>("images: 2\ndigits: 8\ntable: {y0: 6}\n", {"6 inputs need 16"});
  expect_error<ConfigError>("images: 2\ntasks: [depth2]\n", {"'images' beside 'tasks'"});
  expect_error<ConfigError>("tasks: [depth2, mnist-xor-and]\n", {"t.yaml:1", "'mnist-xor-and'", "on images", "alone"});
  expect_error<ConfigError>("tasks: [mnist-xor-and]\n", {"on images"});
  for (const char* node : {"", "~", "two", "1.5", "[2]", "{a: 2}", "!!int 2x", "99999999999999999999"}) {
    expect_error<FormatError>(std::string("images: ") + node + "\n" + kGates, {"t.yaml", "'images'", "whole number"});
    expect_error<FormatError>(std::string("images: 2\ndigits: ") + node + "\n" + kGates, {"'digits'", "whole number"});
  }
}

TEST(ImageTasks, CombinationsInNaturalOrder) {
  const ImageInputs triples = {2, 3, 2};
  EXPECT_EQ(triples.combinations(), 9);
  EXPECT_EQ(combination_rows(triples), (std::vector<int>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
  EXPECT_EQ(digits_of(triples, 9), (std::vector<int>{2, 1}));
  const ImageInputs three = {3, 8, 3};
  EXPECT_EQ(digits_of(three, 8 * (8 * 5 + 0) + 7), (std::vector<int>{5, 0, 7}));
  for (const ImageInputs& inputs :
       {triples, three, ImageInputs{2, 10, 4}, ImageInputs{4, 2, 1}, ImageInputs{3, 5, 3}}) {
    const std::vector<int> rows = combination_rows(inputs);
    EXPECT_EQ(static_cast<int>(rows.size()), inputs.combinations());
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    for (const int row : rows) {
      for (const int digit : digits_of(inputs, row)) {
        EXPECT_LT(digit, inputs.digits);
      }
    }
  }
}

TEST(ImageTasks, OnlyCombinationsCount) {
  // Of the digits 0 to 2 the lower bit is set for 1 alone: 1 of 9 pairs, though 4 of 16 rows.
  const Task task = parse("images: 2\ndigits: 3\nlevels:\n  - g: AND a0 b0\noutputs: [g]\n");
  EXPECT_EQ(possible_rows(task), combination_rows(*task.images));
  EXPECT_DOUBLE_EQ(always_zero_accuracy(TaskSuite{"t", "", {task}}), 1 - 1.0 / 9);
  EXPECT_DOUBLE_EQ(always_zero_accuracy(task.table), 0.75);
  EXPECT_EQ(possible_rows(load_task("depth2").tasks[0]).size(), 64U);
}

}  // namespace
}  // namespace modlab::tasks

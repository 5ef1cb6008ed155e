#include "tasks/task_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/errors.h"
#include "io/file.h"

namespace modlab::tasks {
namespace {

const char* const kDepth2 = R"(about: "Two levels: XOR pairs, then AND of neighbours"
inputs: [x0, x1, x2, x3, x4, x5]
levels:
  - a0: XOR x0 x1
    a1: XOR x2 x3
    a2: XOR x4 x5
  - b0: AND a0 a1
    b1: AND a1 a2
outputs: [b0, b1]
)";

Task parse(const std::string& yaml) { return parse_task_yaml(yaml, "t", "t.yaml").tasks.at(0); }

class TaskFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("modlab_task_files_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

// The message if `Error` is thrown; empty, with a failure, otherwise.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "'" << message << "' lacks '" << word << "'";
  }
}

template <class Error>
void expect_yaml_error(const std::string& yaml, const std::vector<std::string>& words) {
  SCOPED_TRACE(yaml);
  expect_words(message_of<Error>([&] { parse(yaml); }), words);
}

template <class Error>
void expect_csv_error(const std::string& csv, const std::vector<std::string>& words) {
  SCOPED_TRACE(csv);
  expect_words(message_of<Error>([&] { parse_task_csv(csv, "t", "t.csv"); }), words);
}

TEST(TaskYaml, ReadsTheFormOfTheReadme) {
  const TaskSuite suite = parse_task_yaml(kDepth2, "mine", "mine.yaml");
  EXPECT_EQ(suite.name, "mine");
  EXPECT_EQ(suite.about, "Two levels: XOR pairs, then AND of neighbours");
  EXPECT_EQ(suite.inputs(), 6);
  EXPECT_EQ(suite.outputs(), 2);
  EXPECT_EQ(suite.tasks[0].table.rows, load_task("depth2").tasks[0].table.rows);
  EXPECT_EQ(suite.tasks[0].output_names, (std::vector<std::string>{"y0", "y1"}));
}

TEST(TaskYaml, NegationsNamesAndForms) {
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND x0 !x1\noutputs: [a]\n").table, 0), "2");
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: and x0 not x1\noutputs: a\n").table, 0), "2");
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND(x0, !x1)\noutputs: {sum: a}\n").table, 0), "2");
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: NOT x0\noutputs: [a]\n").table, 0), "c");
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND x0 !!x1\noutputs: [a]\n").table, 0), "1");
  // YAML takes '!a' for a tag.
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [!a , a]\n").table, 0), "e");
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs:\n  - !a\n").table, 0), "e");
  const Task named = parse("inputs: [p, q]\nlevels:\n  - s: XOR p q\n    c: AND p q\noutputs: {sum: s, carry: c}\n");
  EXPECT_EQ(named.output_names, (std::vector<std::string>{"sum", "carry"}));
  EXPECT_EQ(named.input_names, (std::vector<std::string>{"p", "q"}));
  // An output may read an input, and a gate any level below.
  EXPECT_EQ(hex_word(parse("inputs: 2\nlevels:\n  - a: AND x0 x1\n  - b: OR a x0\noutputs: [x1, b]\n").table, 0), "5");
}

TEST(TaskYaml, Tables) {
  const Task task = parse("inputs: 6\ntable: {y0: 4f562f00aecbc2df, y1: '0x6FE4167AB65F5E9A'}\n");
  EXPECT_EQ(task.table.rows, load_task("random62").tasks[0].table.rows);
  EXPECT_FALSE(task.graph);
  EXPECT_EQ(hex_word(parse("inputs: 1\ntable: [2]\n").table, 0), "2");
  expect_yaml_error<ConfigError>("inputs: 6\ntable: {y0: 4f56}\n", {"t.yaml:2", "'y0'", "4 hexadecimal", "16"});
  expect_yaml_error<ConfigError>("inputs: 2\ntable: {y0: g}\n", {"hexadecimal digit"});
  expect_yaml_error<ConfigError>("inputs: 1\ntable: {y0: f}\n", {"beyond its 2 rows"});
  expect_yaml_error<FormatError>("inputs: 1\ntable: 5\n", {"'table'"});
  expect_yaml_error<ConfigError>("inputs: 2\ntable: {y0: 6}\noutputs: [y0]\n",
                                 {"t.yaml:3", "'outputs' beside 'table'"});
}

TEST(TaskYaml, ListedGatesWithNamesOfOutputsKeepThem) {
  const std::string head = "inputs: 2\nlevels:\n  - y1: AND x0 x1\n    y2: OR x0 x1\n    a: XOR x0 x1\noutputs: ";
  const auto names = [&](const std::string& outputs) { return parse(head + outputs + "\n").output_names; };
  EXPECT_EQ(names("[y2, y1]"), (std::vector<std::string>{"y2", "y1"}));
  EXPECT_EQ(names("y2"), std::vector<std::string>{"y2"});
  // Not where a name would then stand for two things.
  EXPECT_EQ(names("[y2, a]"), (std::vector<std::string>{"y0", "y1"}));
  EXPECT_EQ(names("[y2, y2]"), (std::vector<std::string>{"y0", "y1"}));
  EXPECT_EQ(names("['!y2', y1]"), (std::vector<std::string>{"y0", "y1"}));
  EXPECT_EQ(parse("inputs: [y, z]\nlevels:\n  - a: AND y z\noutputs: [y]\n").output_names,
            std::vector<std::string>{"y0"});
}

TEST(TaskYaml, MistakesInTheGraph) {
  const std::string head = "inputs: 2\nlevels:\n";
  expect_yaml_error<ConfigError>(head + "  - a: AND a x0\noutputs: [a]\n", {"t.yaml:3", "gate 'a' reads itself"});
  expect_yaml_error<ConfigError>(head + "  - a: AND b x0\n  - b: OR a x1\noutputs: [b]\n",
                                 {"cycle", "a reads b reads a"});
  expect_yaml_error<ConfigError>(head + "  - a: AND b x0\n    b: AND a x1\noutputs: [b]\n", {"cycle"});
  expect_yaml_error<ConfigError>(head + "  - a: AND b x0\n  - b: OR x0 x1\noutputs: [b]\n",
                                 {"t.yaml:3", "'a' of level 1", "later level 2"});
  expect_yaml_error<ConfigError>(head + "  - a: AND x1 x0\n    b: OR a x1\noutputs: [b]\n",
                                 {"t.yaml:4", "'b' reads 'a' of its own level"});
  expect_yaml_error<ConfigError>(head + "  - a: XORR x0 x1\noutputs: [a]\n",
                                 {"unknown operation 'XORR'", "did you mean 'XOR'", "NAND"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x2\noutputs: [a0]\n", {"'x2'", "neither an input nor a gate"});
  expect_yaml_error<ConfigError>(head + "  - sum0: AND x0 x1\noutputs: [sum]\n",
                                 {"output 'y0'", "did you mean 'sum0'"});
  expect_yaml_error<ConfigError>(head + "  - a0: ID x0 x1\noutputs: [a0]\n", {"ID", "exactly one"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0\noutputs: [a0]\n", {"two or more"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x1 !\noutputs: [a0]\n", {"negation of nothing"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x1\n    a0: OR x0 x1\noutputs: [a0]\n", {"'a0' is used twice"});
  expect_yaml_error<ConfigError>(head + "  - x0: AND x0 x1\noutputs: [x0]\n", {"'x0' is used twice"});
  expect_yaml_error<ConfigError>(head + "  - a b: AND x0 x1\noutputs: [x0]\n", {"cannot be called 'a b'"});
  expect_yaml_error<ConfigError>(head + "  - not: AND x0 x1\noutputs: [x0]\n", {"cannot be called 'not'"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x1\n", {"'outputs' is missing"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x1\noutputs: {s: a0, s: x0}\n", {"'s' is there twice"});
  expect_yaml_error<ConfigError>(head + "  - a0: AND x0 x1\noutputs: [a0 x0]\n", {"reads 2 values"});
}

TEST(TaskYaml, MistakesInTheFile) {
  expect_yaml_error<ConfigError>("inputs: 6\n", {"t.yaml", "'levels'", "'table'"});
  expect_yaml_error<ConfigError>("levels:\n  - a: AND x0 x1\noutputs: [a]\n", {"'inputs' is missing"});
  expect_yaml_error<ConfigError>("inputs: 2\nlevel:\n  - a: AND x0 x1\n",
                                 {"t.yaml:2", "'level'", "did you mean 'levels'"});
  expect_yaml_error<ConfigError>("inputs: 2\ninputs: 3\ntable: {y0: 6}\n", {"'inputs' is there twice"});
  expect_yaml_error<ConfigError>("inputs: 17\ntable: {y0: 6}\n", {"17 inputs", "1 to 16"});
  expect_yaml_error<ConfigError>("inputs: 0\ntable: {y0: 6}\n", {"0 inputs"});
  expect_yaml_error<ConfigError>("inputs: []\ntable: {y0: 6}\n", {"0 inputs"});
  expect_yaml_error<FormatError>("inputs: six\ntable: {y0: 6}\n", {"neither a number nor a list"});
  expect_yaml_error<FormatError>("about: Two levels: XOR\ninputs: 2\n", {"t.yaml:1", "not valid YAML", "quotes"});
  expect_yaml_error<FormatError>("inputs: [x0, x1\nlevels:\n", {"not valid YAML", "t.yaml:"});
  expect_yaml_error<FormatError>("", {"not a task file"});
  expect_yaml_error<FormatError>("- 1\n- 2\n", {"not a task file"});
  std::string outputs = "a";
  for (int output = 1; output < 17; ++output) {
    outputs += ", a";
  }
  expect_yaml_error<ConfigError>("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [" + outputs + "]\n", {"17 outputs"});
  std::string gates = "inputs: 2\nlevels:\n  - g: AND x0 x1\n";
  for (int gate = 0; gate < 1024; ++gate) {
    gates += "    g" + std::to_string(gate) + ": AND x0 x1\n";
  }
  expect_yaml_error<ConfigError>(gates + "outputs: [g]\n", {"more than 1024 gates"});
}

TEST(TaskYaml, AnyKindOfNodeAnywhereIsAnErrorAndNotACrash) {
  const std::vector<std::string> nodes = {
      "",        "~",        "5",           "-1",         "1.5",           "text",
      "[]",      "{}",       "[1, 2]",      "[[a]]",      "{a: b}",        "[{a: b}]",
      "!x0",     "!!int 5",  "&k [*k]",     "&k {a: *k}", "*none",         "''",
      "\"\\e\"", "{[a]: b}", "{{a: b}: c}", "? [a]",      "!!binary aGk=", "99999999999999999999",
      "{? : }",  "[~]",      "{~: ~}"};
  for (const std::string& node : nodes) {
    for (const std::string& yaml : {
             node + "\n",
             node + ": 5\n",
             "about: " + node + "\ninputs: 2\ntable: {y0: 6}\n",
             "inputs: " + node + "\ntable: {y0: 6}\n",
             "inputs: [" + node + ", q]\ntable: {y0: 6}\n",
             "inputs: 2\ntable: " + node + "\n",
             "inputs: 2\ntable: {y0: " + node + "}\n",
             "inputs: 2\nlevels: " + node + "\noutputs: [x0]\n",
             "inputs: 2\nlevels: [" + node + "]\noutputs: [x0]\n",
             "inputs: 2\nlevels:\n  - a: " + node + "\noutputs: [x0]\n",
             "inputs: 2\nlevels:\n  - " + node + ": AND x0 x1\noutputs: [x0]\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: " + node + "\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [" + node + "]\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: {" + node + ": a}\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: {y: " + node + "}\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a]\nmodules: " + node + "\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a]\nmodules: {m: " + node + "}\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a]\nmodules: {m: [" + node + "]}\n",
             "inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a]\nmodules: {" + node + ": [a]}\n",
             "tasks: " + node + "\n",
             "tasks: [" + node + "]\n",
             "images: " + node + "\nlevels:\n  - g: AND a0 b0\noutputs: [g]\n",
             "images: 2\ndigits: " + node + "\nlevels:\n  - g: AND a0 b0\noutputs: [g]\n",
             "images: 2\ninputs: " + node + "\ntable: {y0: 6}\n",
         }) {
      try {
        parse_task_yaml(yaml, "t", "t.yaml");
      } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << yaml;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << " for\n" << yaml;
      }
    }
  }
}

void expect_task_or_user_error(const std::string& text) {
  try {
    parse_task_yaml(text, "t", "t.yaml");
  } catch (const UserError&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << " for\n" << text;
  }
}

TEST(TaskYaml, TruncatedAtEveryByte) {
  for (const std::string& valid : {std::string(kDepth2), std::string("inputs: 6\ntable: {y0: 4f562f00aecbc2df}\n"),
                                   std::string("about: x\ntasks: [depth2, B, C]\n")}) {
    for (std::size_t size = 0; size <= valid.size(); ++size) {
      expect_task_or_user_error(valid.substr(0, size));
    }
  }
}

TEST(TaskYaml, RandomChangesOfBytes) {
  std::mt19937 generator(1);
  const std::string letters = "[]{}:,-!&*?|>'\"%@`#\n\t x0a1~\\\x01\xff\x80";
  for (int repeat = 0; repeat < 4000; ++repeat) {
    std::string text = kDepth2;
    const int changes = 1 + static_cast<int>(generator() % 4);
    for (int change = 0; change < changes; ++change) {
      const std::size_t at = generator() % text.size();
      switch (generator() % 3) {
        case 0:
          text[at] = letters[generator() % letters.size()];
          break;
        case 1:
          text.insert(at, 1, letters[generator() % letters.size()]);
          break;
        default:
          text.erase(at, 1 + generator() % 5);
      }
    }
    expect_task_or_user_error(text);
  }
}

TEST(TaskYaml, DeepNestingIsAnError) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int depth = 0; depth < 20000; ++depth) {
      text += open;
    }
    expect_task_or_user_error(text);
    expect_task_or_user_error("inputs: " + text);
  }
}

TEST(BuiltinTasks, AreThoseOfThePublishedSystem) {
  std::vector<std::string> names = builtin_task_names();
  // sculpt_tasks_test.cc has those in sculpt/.
  std::erase_if(names, [](const std::string& name) { return name.starts_with("sculpt/"); });
  EXPECT_EQ(names, (std::vector<std::string>{"A+B", "A+B+C", "A+C", "B", "C", "depth1", "depth2", "depth3",
                                             "mnist-three", "mnist-xor-and", "random62"}));
  for (const std::string& name : builtin_task_names()) {
    const TaskSuite suite = load_task(name);
    EXPECT_EQ(suite.name, name);
    EXPECT_FALSE(suite.about.empty()) << name;
  }
  const TaskSuite suite = load_task("A+B+C");
  ASSERT_EQ(suite.tasks.size(), 3U);
  EXPECT_EQ(suite.tasks[0].name, "depth2");
  EXPECT_EQ(suite.tasks[1].name, "B");
  EXPECT_EQ(suite.tasks[2].name, "C");
}

TEST(BuiltinTasks, UnknownNamesSuggestTheNearest) {
  const std::string message = message_of<ConfigError>([] { load_task("dpeth2"); });
  expect_words(message, {"unknown task 'dpeth2'", "did you mean 'depth2'", "A+B+C", "38 tasks such as sculpt/"});
  EXPECT_LT(message.size(), 300U);
  expect_words(message_of<ConfigError>([] { load_task("sculpt/4-2-5"); }), {"did you mean 'sculpt/4-2-4'"});
  expect_words(message_of<ConfigError>([] { load_task("sculpt"); }), {"unknown task 'sculpt'"});
}

TEST_F(TaskFiles, PathsAndEndings) {
  const TaskSuite suite = load_task(write("mine.yaml", kDepth2));
  EXPECT_EQ(suite.name, "mine");
  EXPECT_EQ(suite.tasks[0].name, "mine");
  EXPECT_EQ(load_task(write("other.YML", kDepth2)).name, "other");
  expect_words(message_of<FormatError>([&] { load_task((folder_ / "none.yaml").string()); }),
               {"none.yaml", "cannot be read", "No such file"});
  expect_words(message_of<FormatError>([] { load_task("nowhere.csv"); }), {"nowhere.csv", "cannot be read"});
  expect_words(message_of<FormatError>([&] { load_task(write("mine.txt", kDepth2)); }), {"mine.txt", ".yaml"});
  std::filesystem::create_directory(folder_ / "folder.yaml");
  expect_words(message_of<FormatError>([&] { load_task((folder_ / "folder.yaml").string()); }), {"is a folder"});
  expect_words(message_of<FormatError>([&] { load_task(write("huge.yaml", std::string(2 << 20, '#'))); }),
               {"larger than"});
  expect_words(message_of<FormatError>([&] { load_task(write("broken.yaml", "inputs: [")); }), {"broken.yaml:"});
}

TEST_F(TaskFiles, SuitesOfFilesRelativeToTheFile) {
  write("mine.yaml", kDepth2);
  write("table.csv", "x0,y0\n0,1\n1,0\n");
  const TaskSuite suite = load_task(write("suite.yaml", "about: Two\ntasks: [./mine.yaml, B]\n"));
  ASSERT_EQ(suite.tasks.size(), 2U);
  EXPECT_EQ(suite.tasks[0].name, "mine");
  EXPECT_EQ(suite.tasks[1].name, "B");
  // A built-in task in a folder is no path, and a file in a folder of that name is one.
  std::filesystem::create_directory(folder_ / "sculpt");
  write("sculpt/4-2-4.yaml", kDepth2);
  EXPECT_EQ(load_task(write("suite.yaml", "tasks: [sculpt/4-2-4]\n")).inputs(), 4);
  EXPECT_EQ(load_task(write("suite.yaml", "tasks: [sculpt/4-2-4.yaml]\n")).inputs(), 6);
  EXPECT_EQ(load_task(write("suite.yaml", "tasks:\n  - mine.yaml\n  - " + (folder_ / "mine.yaml").string() + "\n"))
                .tasks.size(),
            2U);
  expect_words(message_of<ConfigError>([&] { load_task(write("bad.yaml", "tasks: [depth2, table.csv]\n")); }),
               {"bad.yaml:1", "'table' has 1 inputs", "equal numbers"});
  expect_words(message_of<ConfigError>([&] { load_task(write("self.yaml", "tasks: [self.yaml]\n")); }),
               {"suite inside a suite"});
  expect_words(message_of<ConfigError>([&] { load_task(write("bad.yaml", "tasks: [depth2, A+B]\n")); }),
               {"suite inside a suite", "A+B"});
  expect_words(message_of<ConfigError>([&] { load_task(write("bad.yaml", "about: x\ntasks: [deph2]\n")); }),
               {"bad.yaml:2", "did you mean 'depth2'"});
  expect_words(message_of<ConfigError>([&] { load_task(write("bad.yaml", "inputs: 6\ntasks: [depth2]\n")); }),
               {"'inputs' beside 'tasks'"});
  expect_words(message_of<FormatError>([&] { load_task(write("bad.yaml", "tasks: depth2\n")); }), {"not a list"});
}

TEST_F(TaskFiles, WritingIsWholeOrNothing) {
  const std::string path = (folder_ / "out.svg").string();
  io::write_file(path, "first");
  io::write_file(path, "second");
  EXPECT_EQ(io::read_file(path, 100), "second");
  expect_words(message_of<FormatError>([&] { io::write_file((folder_ / "no/such/out.svg").string(), "x"); }),
               {"out.svg", "cannot be written"});
  expect_words(message_of<FormatError>([&] { io::write_file(folder_.string(), "x"); }), {"not a regular file"});
  // Nothing is left beside the file.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST(TaskCsv, RoundTripOfEveryBuiltInTask) {
  for (const std::string& name : builtin_task_names()) {
    for (const Task& task : load_task(name).tasks) {
      const Task read = parse_task_csv(truth_table_csv(task), "t", "t.csv").tasks.at(0);
      EXPECT_EQ(read.table.rows, task.table.rows);
      EXPECT_EQ(read.input_names, task.input_names);
      EXPECT_EQ(read.output_names, task.output_names);
    }
  }
  // Names that would change sides give way.
  const Task adder = parse("inputs: [p, q]\nlevels:\n  - s: XOR p q\noutputs: {sum: s}\n");
  const Task read = parse_task_csv(truth_table_csv(adder), "t", "t.csv").tasks.at(0);
  EXPECT_EQ(read.table.rows, adder.table.rows);
  EXPECT_EQ(read.output_names, std::vector<std::string>{"y0"});
}

TEST(TaskCsv, NamesThatWouldNotBeReadBackGiveWay) {
  for (const char* name : {"\"#\"", "a,b", "a\"b", "\xEF\xBB\xBF"}) {
    const std::string text = "y;" + std::string(name) + "\n1;0\n0;1\n";
    const Task task = parse_task_csv(text, "t", "t.csv").tasks.at(0);
    const Task read = parse_task_csv(truth_table_csv(task), "t", "t.csv").tasks.at(0);
    EXPECT_EQ(read.input_names, (std::vector<std::string>{"x0"})) << name;
    EXPECT_EQ(read.table.rows, task.table.rows) << name;
  }
}

TEST(TaskCsv, AnyOrderOfRowsAndColumns) {
  const Task task =
      parse_task_csv("\xEF\xBB\xBF# made by hand\r\nOut_a; p ;\"q\"\r\n1;1;1\r\n\r\n0;0;0\r\n0.0;0;1.0\r\n1;1;0\r\n",
                     "t", "t.csv")
          .tasks.at(0);
  EXPECT_EQ(task.table.inputs, 2);
  EXPECT_EQ(hex_word(task.table, 0), "3");
  EXPECT_EQ(task.input_names, (std::vector<std::string>{"p", "q"}));
}

TEST(TaskCsv, Mistakes) {
  expect_csv_error<FormatError>("x0,x1,y0\n0,0,1\n0,1,1\n1,1,0\n", {"t.csv", "row 10 is missing", "3 of the 4 rows"});
  expect_csv_error<FormatError>("x0,y0\n0,1\n1,1\n0,0\n", {"t.csv:4", "row 0 contradicts", "line 2"});
  expect_csv_error<FormatError>("x0,y0\n0,1\n1,1\n0,1\n", {"t.csv:4", "row 0 repeats", "line 2"});
  expect_csv_error<FormatError>("x0,y0\n0,1\n2,1\n", {"t.csv:3", "'x0' is '2'", "only 0 and 1"});
  expect_csv_error<FormatError>("x0,y0\n0\n", {"t.csv:2", "1 cells", "header has 2"});
  expect_csv_error<FormatError>("x0,x1\n0,1\n", {"no output column", "'y' or 'out'"});
  expect_csv_error<FormatError>("y0,y1\n0,1\n", {"no input column"});
  expect_csv_error<FormatError>("x0,x0,y0\n0,1,1\n", {"two columns are called 'x0'"});
  expect_csv_error<FormatError>("x0,,y0\n0,1,1\n", {"column 2 has no name"});
  expect_csv_error<FormatError>("\n# nothing\n", {"no header"});
  std::string wide = "y";
  for (int input = 0; input < 17; ++input) {
    wide += ",x" + std::to_string(input);
  }
  expect_csv_error<FormatError>(wide + "\n", {"17 inputs", "at most 16"});
  expect_csv_error<FormatError>(std::string(1000, ','), {"1001 columns", "at most 32"});
}

TEST(TaskCsv, TruncatedAtEveryByte) {
  const std::string valid = truth_table_csv(parse("inputs: 3\nlevels:\n  - a: XOR x0 x1 x2\noutputs: [a]\n"));
  for (std::size_t size = 0; size + 1 < valid.size(); ++size) {
    EXPECT_THROW(parse_task_csv(valid.substr(0, size), "t", "t.csv"), UserError) << size;
  }
}

}  // namespace
}  // namespace modlab::tasks

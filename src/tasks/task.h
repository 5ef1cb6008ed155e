#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tasks/function_graph.h"
#include "tasks/routing.h"
#include "tasks/truth_table.h"

namespace modlab::tasks {

// Images in place of bits: each shows a digit, and the digits' bits, most significant first, image after image, are the
// inputs of the function.
struct ImageInputs {
  int images = 2;
  int digits = 8;  // 0 to digits - 1
  int bits = 3;    // of each digit

  int combinations() const;
};
inline constexpr int kMaxImages = 4;
inline constexpr int kMaxDigits = 10;

// The rows of the truth table that combinations of digits lead to, in natural order: the first image's digit changes
// slowest. All rows, if the number of digits is a power of two.
std::vector<int> combination_rows(const ImageInputs& inputs);

// The digit of each image on a row.
std::vector<int> digits_of(const ImageInputs& inputs, int row);

// Inputs, gates and outputs that belong together: a sub-function, or inputs that the same sub-functions read.
struct TaskModule {
  std::string name;
  std::vector<int> inputs;   // ascending
  std::vector<Wire> gates;   // by level, then by index
  std::vector<int> outputs;  // ascending

  friend bool operator==(const TaskModule&, const TaskModule&) = default;
};

// A Boolean function to learn: its truth table, and its structure where it is known.
struct Task {
  std::string name;
  std::string about;
  std::optional<FunctionGraph> graph;
  TruthTable table;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::optional<ImageInputs> images;  // what a network sees instead of the bits themselves
  std::vector<TaskModule> modules;    // of the graph, where the file names them; none shares a node with another
};

// What a task was read from: the text of its file, and of those that it lists, by the names that it has for them.
// Enough to read it again where the files are not.
struct TaskText {
  std::string text;
  std::map<std::string, std::string> members;

  friend bool operator==(const TaskText&, const TaskText&) = default;
};

// One task, or several with equal numbers of inputs and of outputs that one network learns together.
struct TaskSuite {
  std::string name;
  std::string about;
  std::vector<Task> tasks;
  TaskText text = {};

  int inputs() const { return tasks.front().table.inputs; }
  int outputs() const { return tasks.front().table.outputs; }
  // Of a task on images, which is always alone; otherwise nothing.
  const std::optional<ImageInputs>& images() const { return tasks.front().images; }
};

// The rows of the truth table that a network can meet: all, or of a task on images the combinations of its digits.
std::vector<int> possible_rows(const Task& task);

// The share of right answers, over the possible rows of all tasks, of a network that always says 0.
double always_zero_accuracy(const TaskSuite& suite);

// The names of a module's inputs, gates and outputs; once where an output has the name of the gate that it reads.
std::vector<std::string> member_names(const Task& task, const TaskModule& module);

// [module]: the other modules whose values it reads, ascending.
std::vector<std::vector<int>> modules_read(const Task& task);

// The module of each node of the graph or -1, [level][index]: the inputs (level 0), all gates, and last the outputs.
std::vector<std::vector<int>> modules_of_nodes(const Task& task);

// The sizes of a network that has exactly the structure of a suite's graphs.
struct TrueSizes {
  std::vector<int> modules;  // [level]: distinct sub-functions over all tasks
  std::vector<int> slots;    // [level]: gates, the most that any task has
  int pool = 0;              // distinct operations over all tasks
  int depth = 0;
};

// Nothing if some task has no graph. Two gates are the same sub-function if they compute the same of the same inputs; a
// gate that one task writes twice counts twice.
std::optional<TrueSizes> true_sizes(const TaskSuite& suite);

// What the members of the shared pool compute, in the order of first appearance, level by level: "XOR", "AND", or where
// that is needed to tell them apart "AND of 3" and "AND with 1 negated". Gates are one operation if some order of their
// inputs makes them the same function: one module can then stand for both.
std::vector<std::string> true_pool(const TaskSuite& suite);

// [task][level][gate]: the member of that pool that computes the gate. Every task must have a graph.
std::vector<std::vector<std::vector<int>>> true_members(const TaskSuite& suite);

// The most values that a gate of the level needs, in any task.
int widest_gate(const TaskSuite& suite, std::size_t level);
// In any level; at least 1.
int widest_gate(const TaskSuite& suite);

// The ground-truth routing, one for each task, in a network with the sizes of true_sizes. With shared = false each
// distinct sub-function is one module; with shared = true each gate is a slot and `modules` names the pool member of
// its operation. A slot lists what its gate needs, at most fan_in candidates: what a module reads beyond that is free.
// Modules and slots that a task does not need read the candidates 0..fan_in-1, as far as there are so many, and spare
// slots use pool member 0. Throws ConfigError with the reason if the graphs have no such routing.
std::vector<Routing> true_routing(const TaskSuite& suite, bool shared, int fan_in);

}  // namespace modlab::tasks

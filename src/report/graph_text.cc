#include "report/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "report/graph_facts.h"
#include "report/page_width.h"
#include "tasks/task_file.h"

namespace modlab::report {
namespace {

using tasks::FunctionGraph;
using tasks::Gate;
using tasks::Task;
using tasks::TaskSuite;
using tasks::TruthTable;

// Tables up to this size are shown whole unless the person asks otherwise.
constexpr int kWholeTableRows = 64;
constexpr int kFirstRows = 16;

// Text broken at blanks into lines of the page's width, the later ones indented.
std::string wrap(const std::string& text, std::size_t first_indent, std::size_t indent) {
  std::string wrapped;
  std::size_t column = first_indent;
  for (const std::string& word : split_text(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kPageWidth) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!wrapped.empty()) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

}  // namespace

std::string entry(const std::string& key, const std::string& value, std::size_t key_width) {
  const std::size_t indent = 2 + std::max(key_width, key.size() + 2);
  return fmt::format("  {:<{}}{}\n", key, indent - 2, wrap(value, indent, indent));
}

namespace {

std::string heading(const std::string& name, const std::string& about) {
  return (about.empty() ? name : name + ": " + wrap(about, name.size() + 2, 2)) + "\n";
}

std::string list_inputs(const Task& task, const std::vector<int>& inputs) {
  std::vector<std::string> names;
  for (const int input : inputs) {
    names.push_back(task.input_names[input]);
  }
  return join_text(names, " ");
}

std::string op_list(const std::vector<tasks::Op>& ops) {
  std::vector<std::string> names;
  for (const tasks::Op op : ops) {
    names.emplace_back(op_name(op));
  }
  return join_text(names, ", ");
}

std::string describe_gates(const Task& task) {
  if (!task.graph) {
    return "\nGates\n  none: a truth table without known structure\n";
  }
  const FunctionGraph& graph = *task.graph;
  std::size_t name_width = 0;
  for (const std::string& name : graph.output_names) {
    name_width = std::max(name_width, name.size());
  }
  for (const std::vector<Gate>& level : graph.levels) {
    for (const Gate& gate : level) {
      name_width = std::max(name_width, gate.name.size());
    }
  }
  std::string text = "\nGates\n";
  for (std::size_t level = 0; level < graph.levels.size(); ++level) {
    std::string key = fmt::format("level {}", level + 1);
    for (const Gate& gate : graph.levels[level]) {
      text += entry(key, fmt::format("{:<{}} = {}", gate.name, name_width, gate_text(graph, gate)));
      key.clear();
    }
  }
  if (outputs_are_named_gates(graph)) {
    return text + entry("outputs", fmt::format("the gates of level {}", graph.levels.size()));
  }
  std::string key = "outputs";
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    text += entry(key, fmt::format("{:<{}} = {}", graph.output_names[output], name_width,
                                   wire_text(graph, graph.outputs[output])));
    key.clear();
  }
  return text;
}

std::string describe_modules(const Task& task) {
  if (task.modules.empty()) {
    return "";
  }
  const std::vector<std::vector<int>> read = modules_read(task);
  std::size_t name_width = 10;
  for (const tasks::TaskModule& module : task.modules) {
    name_width = std::max(name_width, module.name.size());
  }
  std::string text = "\nModules\n";
  for (std::size_t module = 0; module < task.modules.size(); ++module) {
    std::vector<std::string> others;
    for (const int other : read[module]) {
      others.push_back(task.modules[other].name);
    }
    const std::string reads = others.empty() ? "" : fmt::format(" (reads {})", join_text(others, ", "));
    text += entry(task.modules[module].name, join_text(member_names(task, task.modules[module]), " ") + reads,
                  name_width + 2);
  }
  return text;
}

// Which inputs are the bits of which image's digit.
std::string describe_images(const Task& task) {
  if (!task.images) {
    return "";
  }
  const tasks::ImageInputs& images = *task.images;
  std::string text = fmt::format(
      "\nInputs\n  A network sees {} images, each of a digit from 0 to {} ({} combinations). The inputs of the\n"
      "  gates are the digits' bits, the most significant first:\n",
      images.images, images.digits - 1, images.combinations());
  for (int image = 0; image < images.images; ++image) {
    std::vector<int> bits(images.bits);
    std::iota(bits.begin(), bits.end(), image * images.bits);
    text += entry(fmt::format("image {}", image + 1), list_inputs(task, bits));
  }
  return text;
}

std::string describe_counts(const Task& task) {
  std::string text = "\nCounts\n";
  text += entry("inputs", fmt::format("{}{}", task.table.inputs, task.images ? ", the bits of digits" : ""));
  if (task.graph) {
    std::vector<std::size_t> level_sizes;
    for (const std::vector<Gate>& level : task.graph->levels) {
      level_sizes.push_back(level.size());
    }
    const std::vector<tasks::Op> ops = distinct_ops(*task.graph);
    text += entry("gates", fmt::format("{} on {} level{} ({})", gate_count(*task.graph), level_sizes.size(),
                                       level_sizes.size() == 1 ? "" : "s", fmt::join(level_sizes, " + ")));
    text += entry("operations", fmt::format("{} ({})", ops.size(), op_list(ops)));
    text += entry("edges", fmt::format("{}", edge_count(*task.graph)));
  }
  return text + entry("outputs", fmt::format("{}", task.table.outputs));
}

double percent(double share) { return 100 * share; }

std::string describe_outputs(const Task& task) {
  const TruthTable& table = task.table;
  const std::vector<int> rows = possible_rows(task);
  std::size_t name_width = 6;
  for (int output = 0; output < table.outputs; ++output) {
    name_width = std::max(name_width, task.output_names[output].size());
  }
  std::string text =
      fmt::format("\nOutputs\n  {:<{}}  {:>14}  {:>8}  depends on\n", "output", name_width, "ones", "always 0");
  for (int output = 0; output < table.outputs; ++output) {
    const std::vector<int> relevant = relevant_inputs(table, output);
    text += fmt::format("  {:<{}}  {:>14}  {:>6.2f} %  {}\n", task.output_names[output], name_width,
                        fmt::format("{} of {}", ones_among(table, rows, output), rows.size()),
                        percent(output_always_zero(table, rows, output)),
                        relevant.empty() ? "nothing (constant)" : list_inputs(task, relevant));
  }
  if (table.outputs > 1) {
    text += fmt::format("  {:<{}}  {:>14}  {:>6.2f} %\n", "all", name_width, "", percent(task_always_zero(task)));
  }
  const std::vector<int> distractors = distractor_inputs(table);
  text += distractors.empty() ? "  Every input matters to some output.\n"
                              : "  Distractors, which no output depends on: " + list_inputs(task, distractors) + "\n";
  return text;
}

std::string describe_routing(const TaskSuite& suite, const TrueRoutings& routings, std::size_t task) {
  std::string text = "\nGround-truth routing\n";
  if (!routings.missing.empty()) {
    return text + "  none: " + wrap(routings.missing, 8, 8) + "\n";
  }
  if (suite.tasks.size() == 1) {
    text += entry("wiring", wiring_text(routings.own[task]));
  } else {
    text += entry("modules", wiring_text(routings.own[task]));
    text += entry("slots", wiring_text(routings.shared[task]));
  }
  return text + entry("pool", modules_text(routings.shared[task]));
}

std::string describe_sizes(const TaskSuite& suite) {
  const std::optional<tasks::TrueSizes> sizes = true_sizes(suite);
  if (!sizes) {
    return "";
  }
  std::vector<std::string> members;
  for (const std::string& operation : true_pool(suite)) {
    members.push_back(fmt::format("{} {}", members.size() + 1, operation));
  }
  return "\nSizes of a matching network\n" + entry("modules", fmt::format("[{}]", fmt::join(sizes->modules, ", "))) +
         entry("slots", fmt::format("[{}]", fmt::join(sizes->slots, ", "))) +
         entry("pool", fmt::format("{} ({})", sizes->pool, join_text(members, ", ")));
}

// What stands before the bits of a row, or, without a row, before their heading: the digits that show them.
std::string digits_cell(const std::optional<tasks::ImageInputs>& images, std::optional<int> row) {
  if (!images) {
    return "";
  }
  const std::string text = row ? fmt::format("{}", fmt::join(digits_of(*images, *row), " ")) : "digits";
  return fmt::format("{:<{}}", text, std::max(6, 2 * images->images - 1) + 2);
}

// Rows run down the columns, as many columns as the page holds.
std::string describe_rows(const Task& task, const std::vector<int>& rows, int shown) {
  const TruthTable& table = task.table;
  const int row_count = static_cast<int>(rows.size());
  const int number_width = std::max(3, static_cast<int>(fmt::format("{}", rows.back()).size()));
  const int input_width = static_cast<int>(digits_cell(task.images, 0).size()) + std::max(table.inputs, 2);
  const int output_width = std::max(table.outputs, 3);
  const int cell_width = number_width + 2 + input_width + 2 + output_width + 5;
  const int columns = std::clamp((kPageWidth + 3) / cell_width, 1, std::max(1, (shown + 3) / 4));
  const int lines = (shown + columns - 1) / columns;
  std::string text;
  for (int line = -1; line < lines; ++line) {
    std::string joined;
    for (int column = 0; column < columns; ++column) {
      const int place = column * lines + line;
      if (line >= 0 && place >= shown) {
        break;
      }
      const std::optional<int> row = line < 0 ? std::nullopt : std::optional(rows[place]);
      std::string in = digits_cell(task.images, row) + (row ? "" : "in");
      std::string out = row ? "" : "out";
      for (int input = 0; row && input < table.inputs; ++input) {
        in += tasks::input_bit(table.inputs, *row, input) ? '1' : '0';
      }
      for (int output = 0; row && output < table.outputs; ++output) {
        out += output_bit(table, *row, output) ? '1' : '0';
      }
      joined += fmt::format("  {:>{}}  {:<{}}  {:<{}}   ", row ? fmt::format("{}", *row) : "row", number_width, in,
                            input_width, out, output_width);
    }
    joined.erase(joined.find_last_not_of(' ') + 1);
    text += joined + "\n";
  }
  if (shown < row_count) {
    text += fmt::format("  ... and {} more rows; '--rows all' shows them\n", row_count - shown);
  }
  return text;
}

// Up to four lines of a word; more only if all rows are shown too.
std::string describe_word(const TruthTable& table, int output, std::size_t indent, bool whole) {
  constexpr std::size_t kLineDigits = 64;
  const std::string word = hex_word(table, output);
  const std::size_t shown = whole || word.size() <= 4 * kLineDigits ? word.size() : kLineDigits;
  std::string text;
  for (std::size_t begin = 0; begin < shown; begin += kLineDigits) {
    text += (begin == 0 ? "" : "\n" + std::string(indent, ' ')) + word.substr(begin, kLineDigits);
  }
  return shown == word.size() ? text : text + fmt::format("... ({} digits)", word.size());
}

std::string describe_table(const Task& task, const std::vector<int>& rows, int shown) {
  std::size_t name_width = 0;
  for (const std::string& name : task.output_names) {
    name_width = std::max(name_width, name.size());
  }
  std::string text = "\nTruth table\n";
  for (int output = 0; output < task.table.outputs; ++output) {
    text += fmt::format("  {:<{}}  {}\n", task.output_names[output], name_width,
                        describe_word(task.table, output, name_width + 4, shown == static_cast<int>(rows.size())));
  }
  return text + (shown > 0 ? "\n" + describe_rows(task, rows, shown) : "");
}

}  // namespace

std::string describe_suite(const TaskSuite& suite, std::optional<int> rows) {
  const TrueRoutings routings = find_routings(suite);
  std::string text;
  const bool several = suite.tasks.size() > 1;
  if (several || suite.name != suite.tasks[0].name) {
    std::vector<std::string> names;
    for (const Task& task : suite.tasks) {
      names.push_back(task.name);
    }
    text += heading(suite.name, suite.about) + fmt::format("  {} tasks: {}\n", names.size(), join_text(names, ", ")) +
            describe_sizes(suite);
  }
  for (std::size_t index = 0; index < suite.tasks.size(); ++index) {
    const Task& task = suite.tasks[index];
    const std::vector<int> possible = possible_rows(task);
    const int row_count = static_cast<int>(possible.size());
    const int shown = rows ? std::min(*rows, row_count) : row_count <= kWholeTableRows ? row_count : kFirstRows;
    text += text.empty() ? "" : "\n" + std::string(kPageWidth, '-') + "\n";
    text += heading(task.name, task.about);
    text += describe_images(task) + describe_gates(task) + describe_modules(task) + describe_counts(task) +
            describe_outputs(task);
    text += (several ? "" : describe_sizes(suite)) + describe_routing(suite, routings, index);
    text += describe_table(task, possible, shown);
  }
  return text;
}

}  // namespace modlab::report

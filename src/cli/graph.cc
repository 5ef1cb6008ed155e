#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "tasks/graph_dot.h"
#include "tasks/graph_svg.h"
#include "tasks/task_file.h"

namespace modlab::cli {
namespace {

using nlohmann::ordered_json;
using tasks::FunctionGraph;
using tasks::Gate;
using tasks::Routing;
using tasks::Task;
using tasks::TaskSuite;
using tasks::TruthTable;
using tasks::Wire;

constexpr int kPageWidth = 96;
// Tables up to this size are shown whole unless the person asks otherwise.
constexpr int kWholeTableRows = 64;
constexpr int kFirstRows = 16;

const std::vector<Option>& graph_options() {
  static const std::vector<Option> kOptions = {
      {"svg", Arity::kOne, "FILE", "draw the graph into FILE", {}},
      {"dot", Arity::kOne, "FILE", "write the graph into FILE in the language of Graphviz", {}},
      {"csv", Arity::kOne, "FILE", "write the truth table into FILE (one task only)", {}},
      {"rows", Arity::kOne, "N|all", "show this many rows of the truth table", {}},
      {"json", Arity::kSwitch, "", "print everything as JSON", {}},
      {"help", Arity::kFlag, "", "show this text", {}},
  };
  return kOptions;
}

std::string help_text() {
  return fmt::format(
      "modlab graph [TASK] [options]\n\n"
      "Shows a task: its gates and modules, what each output depends on, the ground-truth routing\n"
      "and the truth table. TASK is a built-in name, a YAML task file or a CSV truth table; without TASK,\n"
      "lists the built-in tasks.\n\n{}\n"
      "Examples:\n  modlab graph depth3 --svg depth3.svg\n  modlab graph sculpt/4-1-2-16 --svg modules.svg\n",
      describe_options(graph_options()));
}

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

// A line of the form "  key   value", the value wrapped under itself.
std::string entry(const std::string& key, const std::string& value, std::size_t key_width = 12) {
  const std::size_t indent = 2 + std::max(key_width, key.size() + 2);
  return fmt::format("  {:<{}}{}\n", key, indent - 2, wrap(value, indent, indent));
}

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

// On how many of the rows the output is 1.
std::size_t ones_among(const TruthTable& table, const std::vector<int>& rows, int output) {
  return std::ranges::count_if(rows, [&](int row) { return output_bit(table, row, output); });
}

double output_always_zero(const TruthTable& table, const std::vector<int>& rows, int output) {
  return 1.0 - static_cast<double>(ones_among(table, rows, output)) / static_cast<double>(rows.size());
}

double task_always_zero(const Task& task) { return always_zero_accuracy(TaskSuite{task.name, "", {task}}); }

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

// The number of inputs that the modules of a matching network need: that of the widest gate.
int widest_fan_in(const TaskSuite& suite) {
  std::size_t widest = 1;
  for (const Task& task : suite.tasks) {
    for (const std::vector<Gate>& level : task.graph ? task.graph->levels : std::vector<std::vector<Gate>>{}) {
      for (const Gate& gate : level) {
        widest = std::max(widest, gate.inputs.size());
      }
    }
  }
  return static_cast<int>(widest);
}

// The routing of all tasks with own modules and with shared ones, or the reason why there is none.
struct TrueRoutings {
  std::vector<Routing> own;
  std::vector<Routing> shared;
  std::string missing;
};

TrueRoutings find_routings(const TaskSuite& suite) {
  TrueRoutings found;
  try {
    found.own = true_routing(suite, false, widest_fan_in(suite));
    found.shared = true_routing(suite, true, widest_fan_in(suite));
  } catch (const ConfigError& error) {
    found.missing = error.what();
  }
  return found;
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
  for (const tasks::Op op : true_pool(suite)) {
    members.push_back(fmt::format("{} {}", members.size(), op_name(op)));
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

ordered_json modules_json(const Task& task) {
  const std::vector<std::vector<int>> read = modules_read(task);
  ordered_json modules = ordered_json::array();
  for (std::size_t number = 0; number < task.modules.size(); ++number) {
    const tasks::TaskModule& module = task.modules[number];
    ordered_json json = {{"name", module.name},
                         {"inputs", ordered_json::array()},
                         {"gates", ordered_json::array()},
                         {"outputs", ordered_json::array()},
                         {"reads", ordered_json::array()}};
    for (const int input : module.inputs) {
      json["inputs"].push_back(task.input_names[input]);
    }
    for (const Wire& gate : module.gates) {
      json["gates"].push_back(wire_text(*task.graph, gate));
    }
    for (const int output : module.outputs) {
      json["outputs"].push_back(task.output_names[output]);
    }
    for (const int other : read[number]) {
      json["reads"].push_back(task.modules[other].name);
    }
    modules.push_back(std::move(json));
  }
  return modules;
}

ordered_json task_json(const Task& task) {
  ordered_json json;
  json["name"] = task.name;
  json["about"] = task.about;
  json["inputs"] = task.input_names;
  if (task.images) {
    json["images"] = {{"count", task.images->images},
                      {"digits", task.images->digits},
                      {"bits", task.images->bits},
                      {"combinations", task.images->combinations()}};
  }
  json["rows"] = task.table.rows.size();
  json["always_zero_accuracy"] = task_always_zero(task);
  json["distractors"] = ordered_json::array();
  for (const int input : distractor_inputs(task.table)) {
    json["distractors"].push_back(task.input_names[input]);
  }
  json["outputs"] = ordered_json::array();
  const std::vector<int> rows = possible_rows(task);
  for (int output = 0; output < task.table.outputs; ++output) {
    ordered_json described;
    described["name"] = task.output_names[output];
    if (task.graph) {
      described["reads"] = wire_text(*task.graph, task.graph->outputs[output]);
    }
    described["ones"] = ones_among(task.table, rows, output);
    described["always_zero_accuracy"] = output_always_zero(task.table, rows, output);
    described["depends_on"] = ordered_json::array();
    for (const int input : relevant_inputs(task.table, output)) {
      described["depends_on"].push_back(task.input_names[input]);
    }
    described["hex"] = hex_word(task.table, output);
    json["outputs"].push_back(described);
  }
  if (task.graph) {
    json["edges"] = edge_count(*task.graph);
    json["operations"] = ordered_json::array();
    for (const tasks::Op op : distinct_ops(*task.graph)) {
      json["operations"].push_back(op_name(op));
    }
    json["levels"] = ordered_json::array();
    for (const std::vector<Gate>& level : task.graph->levels) {
      ordered_json gates = ordered_json::array();
      for (const Gate& gate : level) {
        ordered_json read = ordered_json::array();
        for (const Wire& wire : gate.inputs) {
          read.push_back(wire_text(*task.graph, wire));
        }
        gates.push_back({{"name", gate.name}, {"operation", op_name(gate.op)}, {"reads", read}});
      }
      json["levels"].push_back(gates);
    }
  }
  if (!task.modules.empty()) {
    json["modules"] = modules_json(task);
  }
  return json;
}

std::string suite_json(const TaskSuite& suite) {
  const TrueRoutings routings = find_routings(suite);
  ordered_json json;
  json["name"] = suite.name;
  json["about"] = suite.about;
  if (const auto sizes = true_sizes(suite)) {
    json["sizes"] = {
        {"modules", sizes->modules}, {"slots", sizes->slots}, {"pool", sizes->pool}, {"depth", sizes->depth}};
    json["pool"] = ordered_json::array();
    for (const tasks::Op op : true_pool(suite)) {
      json["pool"].push_back(op_name(op));
    }
  }
  if (!routings.missing.empty()) {
    json["no_routing_because"] = routings.missing;
  }
  json["tasks"] = ordered_json::array();
  for (std::size_t index = 0; index < suite.tasks.size(); ++index) {
    ordered_json task = task_json(suite.tasks[index]);
    if (routings.missing.empty()) {
      const Routing& own = routings.own[index];
      const Routing& shared = routings.shared[index];
      task["routing"]["modules"] = {{"inputs", own.inputs}, {"outputs", own.outputs}};
      task["routing"]["slots"] = {
          {"inputs", shared.inputs}, {"pool_members", shared.modules}, {"outputs", shared.outputs}};
    }
    json["tasks"].push_back(task);
  }
  // A file's name may not be valid UTF-8, which is no reason to fail.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Tasks whose names differ only in the last number stand on one line: sculpt/4-1-2-{2,4,8}.
struct Family {
  std::string name;  // up to the last number
  std::vector<long long> numbers;
  std::string about;  // of all of them: up to the last ';'
};

std::vector<Family> find_families(const std::vector<TaskSuite>& suites) {
  std::vector<Family> families;
  for (const TaskSuite& suite : suites) {
    const std::size_t split = suite.name.rfind('-') + 1;
    const std::string name = suite.name.substr(0, split);
    auto family = std::ranges::find(families, name, &Family::name);
    if (family == families.end()) {
      families.push_back({name, {}, suite.about.substr(0, suite.about.rfind(';'))});
      family = families.end() - 1;
    }
    family->numbers.push_back(parse_integer(suite.name.substr(split)).value_or(0));
  }
  for (Family& family : families) {
    std::ranges::sort(family.numbers);
  }
  return families;
}

std::string family_list(const std::vector<TaskSuite>& suites) {
  constexpr std::size_t kNameWidth = 31;
  std::string list;
  for (const Family& family : find_families(suites)) {
    const std::string numbers = fmt::format("{}", fmt::join(family.numbers, ","));
    list += entry(family.name + (family.numbers.size() == 1 ? numbers : "{" + numbers + "}"), family.about, kNameWidth);
  }
  return list;
}

std::string builtin_list(bool as_json) {
  const std::vector<std::string> names = tasks::builtin_task_names();
  ordered_json json = ordered_json::array();
  std::string singles;
  std::string on_images;
  std::string suites;
  std::vector<TaskSuite> sculpted;
  constexpr std::size_t kNameWidth = 15;
  for (const std::string& name : names) {
    const TaskSuite suite = tasks::load_task(name);
    json.push_back({{"name", name}, {"about", suite.about}, {"tasks", suite.tasks.size()}});
    if (suite.images()) {
      json.back()["images"] = suite.images()->images;
    }
    if (name.starts_with("sculpt/")) {
      sculpted.push_back(suite);
      continue;
    }
    std::string& list = suite.images() ? on_images : suite.tasks.size() == 1 ? singles : suites;
    list += entry(name, suite.about, kNameWidth);
  }
  if (as_json) {
    return json.dump(2) + "\n";
  }
  return fmt::format(
      "Built-in tasks\n{}\nTasks on images of digits, whose bits are the inputs\n{}\n"
      "Suites, which one network learns together\n{}\n"
      "Tasks of Neural Sculpting, with their modules\n{}\n"
      "'modlab graph depth2' shows one of them; a YAML or CSV file of your own works too.\n",
      singles, on_images, suites, family_list(sculpted));
}

std::optional<int> parse_rows(const Arguments& arguments, const TaskSuite& suite) {
  if (!arguments.has("rows")) {
    return std::nullopt;
  }
  const std::string text = arguments.text("rows");
  if (text == "all") {
    return 1 << suite.inputs();
  }
  const std::optional<long long> rows = parse_integer(text);
  if (!rows || *rows < 0) {
    throw ConfigError(fmt::format("--rows is '{}'; give a number of rows or 'all'", text));
  }
  return static_cast<int>(std::min<long long>(*rows, 1LL << suite.inputs()));
}

}  // namespace

int run_graph(std::span<const std::string> words) {
  const Arguments arguments(words, graph_options());
  if (arguments.has("help")) {
    fmt::print("{}", help_text());
    return 0;
  }
  if (arguments.positional().size() > 1) {
    throw ConfigError(
        fmt::format("graph takes one task, not {}; see 'modlab graph --help'", arguments.positional().size()));
  }
  if (arguments.positional().empty()) {
    for (const char* name : {"svg", "dot", "csv", "rows"}) {
      if (arguments.has(name)) {
        throw ConfigError(fmt::format("--{} needs a task, for example 'modlab graph depth2 --{} {}'", name, name,
                                      arguments.text(name)));
      }
    }
    fmt::print("{}", builtin_list(arguments.is_on("json")));
    return 0;
  }

  const TaskSuite suite = tasks::load_task(arguments.positional().front());
  const std::optional<int> rows = parse_rows(arguments, suite);
  if (arguments.has("csv") && suite.tasks.size() != 1) {
    throw ConfigError(fmt::format("--csv writes one truth table, but '{}' has {} tasks; name one of them", suite.name,
                                  suite.tasks.size()));
  }
  // Files first: when one cannot be written, nothing has been printed that looks like success.
  if (arguments.has("svg")) {
    io::write_file(arguments.text("svg"), graph_svg(suite));
  }
  if (arguments.has("dot")) {
    io::write_file(arguments.text("dot"), graph_dot(suite));
  }
  if (arguments.has("csv")) {
    io::write_file(arguments.text("csv"), truth_table_csv(suite.tasks.front()));
  }
  fmt::print("{}", arguments.is_on("json") ? suite_json(suite) : describe_suite(suite, rows));
  // Not on standard output, which may be JSON for another program.
  for (const char* name : {"svg", "dot", "csv"}) {
    if (arguments.has(name)) {
      fmt::print(stderr, "Wrote {}\n", arguments.text(name));
    }
  }
  return 0;
}

}  // namespace modlab::cli

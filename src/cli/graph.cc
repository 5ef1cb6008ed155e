#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/arguments.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "experiments/experiment.h"
#include "io/file.h"
#include "report/graph_json.h"
#include "report/graph_text.h"
#include "report/task_list.h"
#include "tasks/graph_dot.h"
#include "tasks/graph_svg.h"
#include "tasks/task_file.h"

namespace modlab::cli {
namespace {

using tasks::TaskSuite;

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
    print_help("{}", help_text());
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
    fmt::print("{}", arguments.is_on("json") ? report::task_list_json().dump(2) + "\n" : report::task_list_text());
    return 0;
  }

  const std::string& task = arguments.positional().front();
  if (experiments::owner_of(task) != nullptr) {
    throw ConfigError(
        fmt::format("{0} has no graph to show; 'modlab train --task {0} --help' lists what it can be", task));
  }
  const TaskSuite suite = tasks::load_task(task);
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
  fmt::print("{}", arguments.is_on("json") ? report::suite_json(suite) : report::describe_suite(suite, rows));
  // Not on standard output, which may be JSON for another program.
  for (const char* name : {"svg", "dot", "csv"}) {
    if (arguments.has(name)) {
      say(fmt::format("Wrote {}\n", arguments.text(name)));
    }
  }
  return 0;
}

}  // namespace modlab::cli

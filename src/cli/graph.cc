#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/graph_json.h"
#include "cli/graph_text.h"
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

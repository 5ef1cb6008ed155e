#include <fmt/format.h>

#include <algorithm>

#include "bindings.h"
#include "core/errors.h"
#include "experiments/experiment.h"
#include "report/graph_json.h"
#include "report/graph_text.h"
#include "report/task_list.h"
#include "task.h"
#include "tasks/graph_svg.h"
#include "tasks/task_file.h"

namespace modlab::python {
namespace {

using tasks::TaskSuite;

Task load(const std::string& name) {
  if (experiments::owner_of(name) != nullptr) {
    throw ConfigError(fmt::format("{} has no graph to show; its data are drawn while networks are trained", name));
  }
  return {std::make_shared<const TaskSuite>(tasks::load_task(name))};
}

// From the text of a task file. A name that something else has would give different functions the same runs.
Task made(const std::string& text, const std::string& name) {
  const std::vector<std::string> known = tasks::builtin_task_names();
  if (std::ranges::find(known, name) != known.end() || experiments::owner_of(name) != nullptr) {
    throw ConfigError(fmt::format("there is a task {} already; give this one another name", name));
  }
  if (name.empty() || name.find_first_of("/,.;\n") != std::string::npos) {
    throw ConfigError(
        fmt::format("a task cannot be called '{}'; a name is one word without dots, slashes and commas", name));
  }
  return {std::make_shared<const TaskSuite>(tasks::parse_task_yaml(text, name, name))};
}

// [row][output], rows counting upwards in binary with the first input as the most significant bit.
py::array_t<bool> truth_table(const Task& task) {
  const tasks::TruthTable& table = task.suite->tasks.front().table;
  py::array_t<bool> bits({static_cast<py::ssize_t>(table.rows.size()), static_cast<py::ssize_t>(table.outputs)});
  auto view = bits.mutable_unchecked<2>();
  for (py::ssize_t row = 0; row < view.shape(0); ++row) {
    for (py::ssize_t output = 0; output < view.shape(1); ++output) {
      view(row, output) = tasks::output_bit(table, static_cast<int>(row), static_cast<int>(output));
    }
  }
  return bits;
}

}  // namespace

tasks::NamedTasks named(std::span<const Task> given) {
  tasks::NamedTasks list;
  for (const Task& task : given) {
    const std::string& name = task.suite->name;
    const std::shared_ptr<const TaskSuite> in_use = tasks::task_at_hand(name);
    const auto listed = list.find(name);
    if ((in_use && in_use->text != task.suite->text) ||
        (listed != list.end() && listed->second->text != task.suite->text)) {
      throw ConfigError(fmt::format("another task called '{}' is in use; give one of the two another name", name));
    }
    list[name] = task.suite;
  }
  return list;
}

void bind_tasks(py::module_& module) {
  py::class_<Task>(module, "Task")
      .def_property_readonly("name", [](const Task& task) { return task.suite->name; })
      .def_property_readonly("about", [](const Task& task) { return task.suite->about; })
      .def_property_readonly("inputs", [](const Task& task) { return task.suite->tasks.front().input_names; })
      .def_property_readonly("outputs", [](const Task& task) { return task.suite->tasks.front().output_names; })
      .def("text", [](const Task& task) { return report::describe_suite(*task.suite, std::nullopt); })
      .def("json", [](const Task& task) { return report::suite_json(*task.suite); })
      .def("svg", [](const Task& task) { return tasks::graph_svg(*task.suite); })
      .def("truth_table", &truth_table);
  module.def("load_task", &load);
  module.def("make_task", &made, py::arg("text"), py::arg("name"));
  module.def("task_list", &report::task_list_text);
}

}  // namespace modlab::python

#pragma once

#include <string>
#include <vector>

#include "tasks/task.h"

namespace modlab::tasks {

// A built-in name such as depth2 or sculpt/4-2-4, or the path of a YAML task file or a CSV truth table: what ends in
// .yaml, .yml or .csv is a path, and what lies in another folder than those of built-in tasks. Throws ConfigError for a
// task that makes no sense and FormatError for a file that cannot be read; the message names the file, the line and the
// way out. tasks/README.md shows the forms.
TaskSuite load_task(const std::string& name_or_path);

// The same where a file in `folder` names it: a path is relative to that folder, or, if there is nothing, to the
// current one.
TaskSuite load_task_from(const std::string& folder, const std::string& name_or_path);

// The same from TaskSuite::text, without a look at any file. The name says how the text is read.
TaskSuite parse_task(const TaskText& text, const std::string& name_or_path);

// The same for text at hand; `source` stands in messages, and paths in the text are relative to its folder.
TaskSuite parse_task_yaml(const std::string& text, const std::string& name, const std::string& source);
TaskSuite parse_task_csv(const std::string& text, const std::string& name, const std::string& source);

// In alphabetical order.
std::vector<std::string> builtin_task_names();

// The truth table as parse_task_csv reads it.
std::string truth_table_csv(const Task& task);

}  // namespace modlab::tasks

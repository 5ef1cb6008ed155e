#pragma once

#include <nlohmann/json.hpp>
#include <string>

// The built-in tasks, as `modlab graph` lists them without a task.
namespace modlab::report {

nlohmann::ordered_json task_list_json();

// For people: by kind, and tasks that differ only in a number on one line.
std::string task_list_text();

}  // namespace modlab::report

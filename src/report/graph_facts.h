#pragma once

#include <string>
#include <vector>

#include "tasks/task.h"

// What `modlab graph` says of a task in words and in JSON alike.
namespace modlab::report {

// On how many of the rows the output is 1.
std::size_t ones_among(const tasks::TruthTable& table, const std::vector<int>& rows, int output);

// The accuracy of always saying 0, from 0 to 1.
double output_always_zero(const tasks::TruthTable& table, const std::vector<int>& rows, int output);
double task_always_zero(const tasks::Task& task);

// The routing of all tasks with own modules and with shared ones, or the reason why there is none.
struct TrueRoutings {
  std::vector<tasks::Routing> own;
  std::vector<tasks::Routing> shared;
  std::string missing;
};
TrueRoutings find_routings(const tasks::TaskSuite& suite);

}  // namespace modlab::report

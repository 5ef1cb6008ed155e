#pragma once

#include <string>

#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::report {

// What training a network costs, for people, as `modlab flops` prints it; the run is a resolved one.
std::string flops_text(const models::RunSpec& spec, const tasks::TaskSuite& suite);

// The paper's Table 1, computed, with a star at every number that is printed otherwise.
std::string table_one_text();

}  // namespace modlab::report

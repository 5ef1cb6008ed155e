#pragma once

#include <span>

#include "engine/train_block.h"
#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::models {

// The truth tables of tasks that one network learns together, as the engine's samples. `told`: which task a row belongs
// to is an input too, or several, as `task_input` says.
engine::Data table_data(std::span<const tasks::Task> tasks, TaskInput task_input, bool told);

// The same for one task.
engine::Data table_data(const tasks::Task& task);

}  // namespace modlab::models

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tasks/task.h"

namespace modlab::experiments {

// Of a Boolean task or a suite of them, on bits or on images.
TaskFacts facts_of_task(const std::string& name, bool with_picture);

// What guessing the more frequent value of each output reaches, in percent: on all rows, or on some of each task.
double constant_accuracy(const tasks::TaskSuite& suite);
double constant_accuracy(const tasks::TaskSuite& suite, const std::vector<std::vector<int>>& rows);

// "depth2 75.0 %, depth3 80.5 %": what chance reaches on each task of these runs, on average.
std::string chance_text(std::span<const Run> runs, const std::function<double(const Run& run)>& chance);

}  // namespace modlab::experiments

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/detect/detect.h"
#include "tasks/task.h"

// When a network has the structure that was expected of it (Neural Sculpting, section 5.9 of its behaviour). The names
// are those of the published records.
namespace modlab::methods {

struct Criterion {
  std::string name;
  bool met = false;
};

// The built-in task, such as sculpt/4-2-4, for the name of a published one: its own, or with the folder of the
// published results (exemplar/4-2-4). Nothing for other names.
std::optional<std::string> published_task(const std::string& name);

// For the published tasks, strictly:
// - 4-2-4, 6-3-3-3, 4-1-4: exact.
// - 4-1-2-m: exact, and single_module, which is all that one hidden layer can show: Figures 6 and 8 count only the
//   first, Tables 2 and 4 the second where there is one hidden layer.
// - 8-2-1-2-m: input_sep, output_sep, intermediate, exact; with one or two hidden layers, exact has the upper levels as
//   one module.
// - The tasks with overlapping inputs: input_sep, which is about clusters, input_sep_sizes_only, output_sep,
// hidden_sep. For other tasks with modules: exact, if those over inputs and outputs are the true ones. For all others:
// none.
std::vector<Criterion> criteria(const Detection& detection, const tasks::Task& task);

// Whether one hidden layer succeeds on 4-1-2-m by a single module, as in the paper's tables, or never, as in its
// figures.
enum class OneHiddenLayer { kAsInFigures, kAsInTables };

// All that the criteria ask for: exact where there is one, else input_sep, output_sep and hidden_sep together. Nothing
// if the task has no criteria.
std::optional<bool> is_success(const Detection& detection, const tasks::Task& task,
                               OneHiddenLayer rule = OneHiddenLayer::kAsInFigures);

}  // namespace modlab::methods

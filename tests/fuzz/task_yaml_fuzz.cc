#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "tasks/graph_dot.h"
#include "tasks/graph_svg.h"
#include "tasks/task_file.h"

namespace {

using modlab::tasks::Task;
using modlab::tasks::TaskSuite;

bool is_whole(const Task& task) {
  const modlab::tasks::TruthTable& table = task.table;
  return table.inputs >= 1 && table.inputs <= modlab::tasks::kMaxInputs && table.outputs >= 1 &&
         table.outputs <= modlab::tasks::kMaxOutputs && table.rows.size() == std::size_t{1} << table.inputs &&
         task.input_names.size() == static_cast<std::size_t>(table.inputs) &&
         task.output_names.size() == static_cast<std::size_t>(table.outputs);
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  std::vector<std::string> texts;
  for (const char* name : {"A+B.yaml", "B.yaml", "depth1.yaml", "depth3.yaml", "mnist-three.yaml", "random62.yaml",
                           "sculpt/4-1-2-2.yaml", "sculpt/6-3-3-3.yaml"}) {
    texts.push_back(repository_file(std::string("tasks/") + name));
  }
  texts.emplace_back("inputs: [a, b]\ntable: {y0: 8, y1: 0x6}\n");
  texts.emplace_back("inputs: 3\nlevels:\n- {g: NAND x0 !x1, h: not x2}\n- {y: XOR(g, h)}\noutputs: {out: '!y'}\n");
  return texts;
}

// Any text is tasks whose tables and names fit their sizes, that can be drawn and whose structure can be looked for, or
// a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  TaskSuite suite;
  try {
    suite = modlab::tasks::parse_task_yaml(text, "fuzz", "fuzz.yaml");
  } catch (const modlab::UserError&) {
    return 0;
  }
  for (const Task& task : suite.tasks) {
    if (!is_whole(task) || task.table.inputs != suite.inputs() || task.table.outputs != suite.outputs()) {
      std::abort();
    }
  }
  if (modlab::tasks::graph_svg(suite).empty() || modlab::tasks::graph_dot(suite).empty()) {
    std::abort();
  }
  for (const bool shared : {false, true}) {
    try {
      modlab::tasks::true_routing(suite, shared, 2);
    } catch (const modlab::UserError&) {
      continue;
    }
  }
  return 0;
}

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "tasks/task_file.h"

using modlab::tasks::Task;

std::vector<std::string> modlab::fuzz::seeds() {
  return {tasks::truth_table_csv(tasks::load_task("sculpt/4-1-4").tasks[0]),
          tasks::truth_table_csv(tasks::load_task("depth1").tasks[0]),
          "\xEF\xBB\xBF# by hand\r\n\"a\";b;out\r\n0;0;1\r\n0;1.0;0\r\n1;0;0\r\n1;1e0;1\r\n", "x0\ty0\n1\t0\n0\t1"};
}

// Any text is a truth table that is written and read back as it was, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Task task;
  try {
    task = modlab::tasks::parse_task_csv(text, "fuzz", "fuzz.csv").tasks.at(0);
  } catch (const modlab::UserError&) {
    return 0;
  }
  const Task back = modlab::tasks::parse_task_csv(modlab::tasks::truth_table_csv(task), "back", "back.csv").tasks.at(0);
  if (task.table.rows.size() != std::size_t{1} << task.table.inputs || back.table.rows != task.table.rows ||
      back.table.inputs != task.table.inputs || back.table.outputs != task.table.outputs) {
    std::abort();
  }
  return 0;
}

#include "methods/mask/mask_target.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "tasks/task_cache.h"

std::vector<std::string> modlab::fuzz::seeds() {
  return {"target,row,output\nlow,3,*\nlow,5,y0\nhigh,*,y1\n", "target;row;output;task\na;1;*;A\nb;*;y0;*\n"};
}

// Any bytes are targets that select rows and outputs which are there, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const char* task : {"depth2", "A+B"}) {
    const auto suite = modlab::tasks::cached_task(task);
    const std::size_t rows = suite->tasks.size() << suite->inputs();
    try {
      for (const modlab::methods::MaskTarget& target : modlab::methods::parse_mask_targets(bytes, "fuzz.csv", *suite)) {
        if (target.rows.empty() || target.rows.back() >= rows || target.outputs == 0 ||
            target.outputs >= 1U << suite->outputs()) {
          std::abort();
        }
      }
    } catch (const modlab::UserError&) {
      continue;
    }
  }
  return 0;
}

#include "tasks/scan.h"

#include <algorithm>
#include <cstdlib>

#include "core/errors.h"
#include "entry.h"

std::vector<std::string> modlab::fuzz::seeds() {
  return {"IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk OUT: I_WALK\n",
          "IN: turn left OUT: I_TURN_LEFT\r\n\r\nIN: turn left OUT: I_TURN_LEFT\r\n",
          "IN: look after run around right OUT: I_TURN_RIGHT I_RUN I_TURN_RIGHT I_RUN I_TURN_RIGHT I_RUN "
          "I_TURN_RIGHT I_RUN I_LOOK"};
}

// Any bytes are commands of SCAN with their actions, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string other = "IN: run thrice OUT: I_RUN I_RUN I_RUN\n";
  try {
    const modlab::tasks::ScanSets sets = modlab::tasks::parse_scan_sets({"train.txt", text}, {"test.txt", other});
    const auto is_there = [](std::uint32_t command) { return command < modlab::tasks::scan_commands().size(); };
    if (sets.train.empty() || !std::ranges::all_of(sets.train, is_there) || sets.test.size() != 1 ||
        std::ranges::count(sets.train, sets.test[0]) > 0) {
      std::abort();
    }
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/interrupt_note.h"

namespace modlab {

// Whether a program of that name is on the PATH.
bool has_program(const std::string& name);

struct ChildOutcome {
  int exit_code = 0;      // 128 + the signal if one ended it
  std::string complaint;  // the first line that it wrote on standard error, if any
};

// Runs a program from the PATH in a folder and waits for it; no shell sees the words. It reads nothing and its output
// goes nowhere. It is ended when an interrupt arrives, and cannot make a file larger than `most_bytes`.
ChildOutcome run_program(const std::vector<std::string>& words, const std::string& folder,
                         const InterruptNote& interrupts, std::optional<std::uint64_t> most_bytes = std::nullopt);

}  // namespace modlab

#pragma once

#include <string>
#include <vector>

namespace modlab {

// While it lives, Ctrl-C and a request to end do not end this program but are noted, so that what is half done can be
// taken back first. One at a time.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  bool arrived() const;
};

// Whether a program of that name is on the PATH.
bool has_program(const std::string& name);

struct ChildOutcome {
  int exit_code = 0;      // 128 + the signal if one ended it
  std::string complaint;  // the first line that it wrote on standard error, if any
};

// Runs a program from the PATH in a folder and waits for it; no shell sees the words. It reads nothing and its output
// goes nowhere. It is ended when an interrupt arrives.
ChildOutcome run_program(const std::vector<std::string>& words, const std::string& folder,
                         const InterruptNote& interrupts);

}  // namespace modlab

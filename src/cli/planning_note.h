#pragma once

#include <csignal>

namespace modlab::cli {

// While it lives, nothing is trained or written yet: work that is being planned says so after two seconds, and Ctrl-C
// ends the program at once, with a line.
class PlanningNote {
 public:
  PlanningNote();
  ~PlanningNote();
  PlanningNote(const PlanningNote&) = delete;
  PlanningNote& operator=(const PlanningNote&) = delete;

 private:
  struct sigaction earlier_interrupt_ {};
  struct sigaction earlier_end_ {};
  struct sigaction earlier_alarm_ {};
};

// What `make` gives back, made under a note.
template <typename Make>
auto while_planning(const Make& make) {
  const PlanningNote note;
  return make();
}

}  // namespace modlab::cli

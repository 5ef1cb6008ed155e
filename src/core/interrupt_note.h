#pragma once

namespace modlab {

// While one lives, Ctrl-C, a request to end and a terminal that goes away do not end this program but are noted, so
// that what is half done can be taken back first. Made and destroyed by one thread; one inside another notes the same.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  // From any thread.
  bool arrived() const;
};

}  // namespace modlab

#include "core/interrupt_note.h"

#include <array>
#include <atomic>
#include <csignal>

namespace modlab {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kSignals.size()> earlier_actions;
int living_notes = 0;

// A signal handler may touch nothing but lock-free atomics.
std::atomic<bool> interrupt_arrived{false};
void on_interrupt(int /*signal*/) { interrupt_arrived = true; }

}  // namespace

InterruptNote::InterruptNote() {
  if (living_notes++ > 0) {
    return;
  }
  interrupt_arrived = false;
  struct sigaction noting {};
  noting.sa_handler = &on_interrupt;
  for (std::size_t index = 0; index < kSignals.size(); ++index) {
    ::sigaction(kSignals[index], nullptr, &earlier_actions[index]);
    // A terminal that goes away stays ignored where it was: `nohup` means it. Ctrl-C does not: scripts start what runs
    // in the background that way, and end it with the same signal.
    if (kSignals[index] != SIGHUP || earlier_actions[index].sa_handler != SIG_IGN) {
      ::sigaction(kSignals[index], &noting, nullptr);
    }
  }
}

InterruptNote::~InterruptNote() {
  if (--living_notes > 0) {
    return;
  }
  for (std::size_t index = 0; index < kSignals.size(); ++index) {
    ::sigaction(kSignals[index], &earlier_actions[index], nullptr);
  }
}

bool InterruptNote::arrived() const { return interrupt_arrived; }

}  // namespace modlab

#include "cli/planning_note.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace modlab::cli {
namespace {

constexpr unsigned kSecondsOfSilence = 2;
constexpr int kInterrupted = 130;

// What a signal handler may call: nothing is allocated, no lock is taken.
void say_at_once(std::string_view line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void on_alarm(int /*signal*/) { say_at_once("Planning; Ctrl-C stops it.\n"); }

void on_interrupt_of_planning(int /*signal*/) {
  say_at_once("Stopped while planning: nothing was trained.\n");
  ::_exit(kInterrupted);
}

void set_handler(int signal, void (*handler)(int), struct sigaction& earlier) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, &earlier);
}

}  // namespace

PlanningNote::PlanningNote() {
  set_handler(SIGINT, &on_interrupt_of_planning, earlier_interrupt_);
  set_handler(SIGTERM, &on_interrupt_of_planning, earlier_end_);
  set_handler(SIGALRM, &on_alarm, earlier_alarm_);
  ::alarm(kSecondsOfSilence);
}

PlanningNote::~PlanningNote() {
  ::alarm(0);
  ::sigaction(SIGALRM, &earlier_alarm_, nullptr);
  ::sigaction(SIGTERM, &earlier_end_, nullptr);
  ::sigaction(SIGINT, &earlier_interrupt_, nullptr);
}

}  // namespace modlab::cli

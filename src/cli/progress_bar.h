#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/interrupt_note.h"
#include "experiments/experiment.h"

namespace modlab::cli {

// Work whose progress can be shown.
struct Watched {
  std::function<experiments::Status(double seconds)> status;  // after so many seconds
  std::function<void()> stop;
};

// Shows on standard error how far the work is, from a thread of its own: a bar with the time left on a terminal, a
// plain line now and then elsewhere. While it lives, Ctrl-C stops the work. Where there is no thread to be had, the
// work goes on without.
class ProgressBar {
 public:
  ProgressBar(Watched work, bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  double seconds() const;

 private:
  void watch();
  void draw();

  Watched work_;
  bool quiet_;
  bool is_terminal_;
  std::optional<InterruptNote> interrupts_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_line_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

// Of a studies::Batch or anything else that has status() and stop().
template <typename Work>
Watched watched(Work& work) {
  return {[&work](double seconds) { return work.status(seconds); }, [&work] { work.stop(); }};
}

}  // namespace modlab::cli

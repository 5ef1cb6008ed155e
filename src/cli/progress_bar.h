#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "engine/train_block.h"

namespace modlab::cli {

// Shows on standard error how far a population is, from a thread of its own: a bar with rate and time left on a
// terminal, a plain line now and then elsewhere. While it lives, Ctrl-C sets progress.stop.
class ProgressBar {
 public:
  ProgressBar(engine::Progress& progress, std::size_t networks, std::int64_t total_epochs, bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  double seconds() const;

 private:
  void watch();
  void draw();

  engine::Progress& progress_;
  std::size_t networks_;
  std::int64_t total_epochs_;
  bool quiet_;
  bool is_terminal_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_line_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace modlab::cli

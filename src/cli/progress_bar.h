#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "engine/train_block.h"
#include "methods/sculpt/lane_pool.h"

namespace modlab::cli {

// How far the work is: a share from 0 to 1, and what it has come to in words.
struct Status {
  double share = 0;
  std::string text;
};
// Looks after so many seconds.
using Look = std::function<Status(double seconds)>;

// What of a population is trained, and how fast.
Look networks_trained(const engine::Progress& progress, std::size_t networks, std::int64_t total_epochs);

// How many trials are sculpted, and how far the others are.
Look trials_done(const methods::SculptProgress& progress, std::size_t trials);

// Shows on standard error how far the work is, from a thread of its own: a bar with the time left on a terminal, a
// plain line now and then elsewhere. While it lives, Ctrl-C sets progress.stop.
class ProgressBar {
 public:
  ProgressBar(engine::Progress& progress, Look look, bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  double seconds() const;

 private:
  void watch();
  void draw();

  engine::Progress& progress_;
  Look look_;
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

#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "studies/batch.h"

namespace modlab::studies {

// Threads that carry out runs by themselves, each asking for more when it has done what it got. No thread waits for
// another one.
class Crew {
 public:
  // What to do next, asked for by any of the threads; it may wait. Nothing: there is no more.
  using Next = std::function<std::vector<experiments::Run>()>;

  // `resources` say how many threads.
  Crew(experiments::Resources resources, const experiments::Wanted& wanted, Next next, experiments::Sink sink);
  ~Crew();  // stops what is not done; whoever waits in `next` must have been let go
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool is_done() const { return working_ == 0; }
  // Ends what is being carried out; nothing more is asked for.
  void stop();
  // Once it is done: throws what the first thread threw that failed.
  void rethrow() const;

 private:
  void work();
  void carry_out(std::vector<experiments::Run> runs);

  experiments::Resources resources_;
  experiments::Wanted wanted_;
  Next next_;
  experiments::Sink sink_;
  std::atomic<int> working_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<Batch*> batches_;  // that are carried out now
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // last, so that they end before what they look at
};

}  // namespace modlab::studies

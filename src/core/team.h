#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace modlab {

// Threads that share the work of one network. They are started once and stay, since a step of training hands out work
// dozens of times: whoever has nothing to do looks for some for a few microseconds, then sleeps.
class Team {
 public:
  // This thread is one of them: with one thread, none is started. Where the system gives fewer, it is fewer, and a
  // notice says so.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls work(0) to work(count - 1), each once; each thread takes neighbouring ones, always the same. Returns when all
  // are done. It must not throw, and must not call run.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  void serve(std::size_t member);
  void do_part(std::size_t member) const;

  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::uint32_t> calls_{0};  // twice their number; odd once the threads are to end
  std::atomic<std::uint32_t> busy_{0};
  std::vector<std::jthread> workers_;  // last, so that they end before what they look at
};

}  // namespace modlab

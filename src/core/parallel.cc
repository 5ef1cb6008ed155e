#include "core/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/notice.h"

namespace modlab {

void on_threads(int threads, const std::function<void()>& work) {
  std::vector<std::jthread> workers;  // which wait for themselves
  workers.reserve(static_cast<std::size_t>(std::max(threads, 1)));
  try {
    for (int worker = 1; worker < threads; ++worker) {
      workers.emplace_back([&work] { work(); });
    }
  } catch (const std::exception& error) {  // no room for its stack, or no more threads are allowed
    static std::atomic<bool> is_said{false};
    if (!is_said.exchange(true)) {
      give_notice(fmt::format("the system gives {} of {} threads ({}); going on with these", workers.size() + 1,
                              threads, error.what()));
    }
  }
  work();
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t at = next++; at < count; at = next++) {
        work(at);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
      next = count;
    }
  };
  on_threads(static_cast<int>(std::min(count, static_cast<std::size_t>(std::max(threads, 1)))), run);
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace modlab

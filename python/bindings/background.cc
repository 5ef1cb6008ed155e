#include "background.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"

namespace modlab::python {

Background::~Background() {
  if (thread_.joinable()) {
    work_.stop();
    thread_.join();
  }
}

void Background::start() {
  begin_ = std::chrono::steady_clock::now();
  thread_ = std::thread([this] {
    std::exception_ptr failure;
    try {
      work_.execute();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    end_ = std::chrono::steady_clock::now();
    over_ = true;
    ended_.notify_all();
  });
}

bool Background::wait(double seconds) {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; })) {
    return false;
  }
  if (thread_.joinable()) {
    lock.unlock();  // which the thread itself may still hold
    thread_.join();
    lock.lock();
  }
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  return true;
}

double Background::seconds() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>((over_ ? end_ : std::chrono::steady_clock::now()) - begin_).count();
}

int thread_count(std::optional<long long> asked) {
  constexpr long long kMost = 1024;
  if (!asked) {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  if (*asked < 1 || *asked > kMost) {
    throw ConfigError(fmt::format("threads must be a whole number from 1 to {}, not '{}'", kMost, *asked));
  }
  return static_cast<int>(*asked);
}

}  // namespace modlab::python

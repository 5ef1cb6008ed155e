#include "core/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/notice.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace modlab {
namespace {

// Looks at a number that another thread changes: some microseconds in all.
constexpr int kLooks = 2000;

void pause_a_little() {
#if defined(__SSE2__)
  _mm_pause();
#endif
}

// Waits until the number is no longer `old`, and gives what it is then.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& number, std::uint32_t old) {
  for (int look = 0; look < kLooks; ++look) {
    const std::uint32_t found = number.load(std::memory_order_acquire);
    if (found != old) {
      return found;
    }
    pause_a_little();
  }
  number.wait(old, std::memory_order_acquire);
  return number.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(int threads) {
  workers_.reserve(static_cast<std::size_t>(std::max(threads, 1)));
  try {
    for (int member = 1; member < threads; ++member) {
      workers_.emplace_back([this, member] { serve(static_cast<std::size_t>(member)); });
    }
  } catch (const std::exception& error) {  // no room for its stack, or no more threads are allowed
    give_notice(fmt::format("the system gives {} of {} threads ({}); going on with these", workers_.size() + 1, threads,
                            error.what()));
  }
}

Team::~Team() {
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
}

void Team::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  work_ = &work;
  count_ = count;
  if (!workers_.empty() && count > 1) {
    busy_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
    calls_.fetch_add(2, std::memory_order_release);
    calls_.notify_all();
    do_part(0);
    for (std::uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;) {
      busy = wait_for_change(busy_, busy);
    }
    return;
  }
  for (std::size_t index = 0; index < count; ++index) {
    work(index);
  }
}

void Team::serve(std::size_t member) {
  std::uint32_t seen = 0;
  while (true) {
    seen = wait_for_change(calls_, seen);
    if (seen % 2 != 0) {
      return;
    }
    do_part(member);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      busy_.notify_one();
    }
  }
}

void Team::do_part(std::size_t member) const {
  const std::size_t members = workers_.size() + 1;
  const std::size_t end = count_ * (member + 1) / members;
  for (std::size_t index = count_ * member / members; index < end; ++index) {
    (*work_)(index);
  }
}

}  // namespace modlab

#include "core/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/notice.h"

namespace modlab {
namespace {

TEST(OnThreads, CallsTheWorkOnEachOfThem) {
  std::atomic<int> calls{0};
  on_threads(5, [&] { ++calls; });
  EXPECT_EQ(calls, 5);
}

#ifndef MODLAB_SANITIZED  // sanitizers need memory for a thread themselves
TEST(OnThreads, GoesOnWithThoseThatTheSystemGives) {
  // In a process of its own, which gets no more memory from the system: none for the stack of a thread either.
  const auto without_memory = [] {
    std::atomic<int> calls{0};
    std::atomic<bool> all_there{false};
    std::string said;
    said.reserve(1000);
    set_notice([&](const std::string& line) { said += line + "\n"; });
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_AS, &none);
    // This thread comes last. Until then the others keep their stacks, of which an earlier test may have left some.
    constexpr int kThreads = 64;
    on_threads(kThreads, [&, last = std::this_thread::get_id()] {
      ++calls;
      all_there = all_there || std::this_thread::get_id() == last;
      while (!all_there) {
        std::this_thread::yield();
      }
    });
    const int given = calls;
    parallel_for(20, kThreads, [&](std::size_t) { ++calls; });
    const bool is_told = said.starts_with("the system gives " + std::to_string(given) + " of 64 threads") &&
                         said.find('\n') == said.size() - 1;
    std::_Exit(given >= 1 && given < kThreads && calls == given + 20 && is_told ? 0 : 1);
  };
  EXPECT_EXIT(without_memory(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace modlab

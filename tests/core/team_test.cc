#include "core/team.h"

#include <gtest/gtest.h>

namespace modlab {
namespace {

TEST(TeamTest, EveryIndexOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7}) {
    Team team(threads);
    EXPECT_EQ(team.threads(), threads);
    // Often enough that threads meet in every way: still looking for work, and asleep.
    for (std::size_t round = 0; round < 300; ++round) {
      const std::size_t count = round % 11;
      std::vector<int> calls(count);
      team.run(count, [&](std::size_t index) { ++calls[index]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1));
      if (round % 100 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
  }
}

TEST(TeamTest, EndsWithoutHavingWorked) { const Team team(4); }

}  // namespace
}  // namespace modlab

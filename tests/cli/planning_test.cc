#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/program.h"

namespace modlab {
namespace {

using test::Process;
using Clock = std::chrono::steady_clock;

class Planning : public test::ProgramTest {};

TEST_F(Planning, SaysSoAndAnswersCtrlC) {
  // A task that takes forever to read: nobody writes into this pipe.
  ASSERT_EQ(::mkfifo(folder_.file("slow.yaml").c_str(), 0600), 0);
  Process process({"/bin/bash", "-c", "exec '" MODLAB_PROGRAM "' train --task slow.yaml 2> said"},
                  folder_.path().string());
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  while (folder_.read("said").empty() && Clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  process.interrupt();
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(folder_.read("said"), "Planning; Ctrl-C stops it.\nStopped while planning: nothing was trained.\n");
}

}  // namespace
}  // namespace modlab

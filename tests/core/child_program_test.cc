#include "core/child_program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "temporary_folder.h"

namespace modlab {
namespace {

ChildOutcome shell(const std::string& line, const std::string& folder = "/") {
  const InterruptNote interrupts;
  return run_program({"sh", "-c", line}, folder, interrupts);
}

TEST(ChildProgram, GivesTheExitCodeAndTheFirstComplaint) {
  EXPECT_EQ(shell("exit 0").exit_code, 0);
  EXPECT_EQ(shell("exit 7").exit_code, 7);
  EXPECT_EQ(shell("echo out").complaint, "");
  EXPECT_EQ(shell("echo >&2; echo one >&2; echo two >&2").complaint, "one");
  EXPECT_EQ(shell("kill -9 $$").exit_code, 128 + SIGKILL);
  EXPECT_EQ(shell("echo the reason >&2; yes | head -c 100000 >&2").complaint, "the reason");
  EXPECT_LE(shell("yes | head -c 100000 | tr '\\n' x >&2").complaint.size(), 200U);
}

TEST(ChildProgram, RunsInTheFolderWithWordsThatNoShellSees) {
  const test::TemporaryFolder folder;
  const InterruptNote interrupts;
  EXPECT_EQ(run_program({"touch", "--", "a b", "$HOME; exit 1", "*"}, folder.path().string(), interrupts).exit_code, 0);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"$HOME; exit 1", "*", "a b"}));
}

TEST(ChildProgram, ReadsNothing) { EXPECT_EQ(shell("! read line").exit_code, 0); }

TEST(ChildProgram, WritesNoFileThatIsTooLarge) {
  const test::TemporaryFolder folder;
  const InterruptNote interrupts;
  constexpr std::uint64_t kMost = 100'000;
  // It waits until its limit is set, which is the moment after it was started.
  const ChildOutcome outcome =
      run_program({"sh", "-c", "while [ $(ulimit -f) = unlimited ]; do :; done; yes > large; echo \"$?\" > after"},
                  folder.path().string(), interrupts, kMost);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(folder.file("large")), kMost);
  EXPECT_NE(folder.read("after"), "0\n");
}

TEST(ChildProgram, ABrokenPipeEndsIt) {
  ::signal(SIGPIPE, SIG_IGN);  // as in the program
  EXPECT_EQ(shell("yes | true").complaint, "") << "where it would complain of it";
  ::signal(SIGPIPE, SIG_DFL);
}

TEST(ChildProgram, AMissingProgramIsSeenBeforeAndAfter) {
  EXPECT_TRUE(has_program("sh"));
  EXPECT_FALSE(has_program("modlab-no-such-program"));
  const InterruptNote interrupts;
  const ChildOutcome outcome = run_program({"modlab-no-such-program"}, "/", interrupts);
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_EQ(outcome.complaint, "No such file or directory");
}

TEST(ChildProgram, AnInterruptEndsItAndWhatItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const InterruptNote interrupts;
  EXPECT_FALSE(interrupts.arrived());
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(::getpid(), SIGINT);
  });
  const ChildOutcome outcome = run_program({"sh", "-c", "sleep 60; true"}, "/", interrupts);
  later.join();
  EXPECT_TRUE(interrupts.arrived());
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "it waited for the program";
}

TEST(ChildProgram, WhoDoesNotListenIsEndedAnyway) {
  const InterruptNote interrupts;
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_EQ(run_program({"sh", "-c", "trap '' TERM; sleep 60; sleep 60"}, "/", interrupts).exit_code, 128 + SIGKILL);
  later.join();
}

}  // namespace
}  // namespace modlab

// Terminals go away, disks are full, and training goes on.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/program.h"

namespace modlab {
namespace {

using test::Outcome;
using test::Process;

class StandardStreams : public test::ProgramTest {
 protected:
  // A line of a shell, in which the program is called `modlab`.
  Outcome shell(const std::string& line) const {
    return Process({"/bin/bash", "-c", "modlab() { '" MODLAB_PROGRAM "' \"$@\"; }; " + line}, folder_.path().string())
        .wait();
  }
};

constexpr auto kUnwritable = " 1</dev/null";  // opened for reading alone

TEST_F(StandardStreams, OutputThatCannotBeWrittenIsTold) {
  // Some print a line and some more than a buffer holds.
  for (const char* verb : {"--version", "study list", "train --help all", "train --epochs 2", "graph depth3 --json"}) {
    const Outcome outcome = shell("modlab " + std::string(verb) + kUnwritable);
    EXPECT_EQ(outcome.exit_code, 2) << verb << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find("modlab: standard output cannot be written (Bad file descriptor)"), std::string::npos)
        << verb << "\n"
        << outcome.err;
  }
}

TEST_F(StandardStreams, AReaderThatHasEnoughIsNoError) {
  const Outcome outcome = shell("modlab train --help all | true; echo ${PIPESTATUS[0]}");
  // As other programs end; unless all was written before the reader went away.
  EXPECT_TRUE(outcome.out == "141\n" || outcome.out == "0\n") << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(StandardStreams, AStudyIsStoredAndReportedThoughNobodyListens) {
  folder_.write("tiny.yaml", "parameters: {task: depth1, model: [dense, modular], seed: 0..9, epochs: 5}\n");
  EXPECT_EQ(shell("modlab study run tiny.yaml --out out 2</dev/null" + std::string(kUnwritable)).exit_code, 2);
  EXPECT_NE(output({"study", "status", "out"}).find("All 20 runs are finished"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("out/report.html")));
}

TEST_F(StandardStreams, ProgressThatCannotBeShownEndsNoTraining) {
  // A terminal that can only be read, on which a bar is drawn ten times a second.
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "there are no terminals here";
  }
  const std::string name = ::ptsname(terminal);
  const Outcome outcome = shell("modlab train --task depth1 --seed 0..9 --epochs 20000 2<" + name);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("10 networks in"), std::string::npos) << outcome.out;
  ::close(terminal);
}

}  // namespace
}  // namespace modlab

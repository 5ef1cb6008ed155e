#include <gtest/gtest.h>

#include <functional>

#include "cli/program.h"

namespace modlab {
namespace {

using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;
using Clock = std::chrono::steady_clock;

class Interrupt : public test::ProgramTest {
 protected:
  Words files_ending(const std::string& ending) const {
    Words found;
    for (const std::string& name : folder_.names()) {
      if (name.ends_with(ending)) {
        found.push_back(name);
      }
    }
    return found;
  }

  // Starts a training, interrupts it when `ready`, and says how it ended.
  Outcome interrupt_when(const std::string& line, const std::function<bool()>& ready) const {
    Process process(command(words_of(line)), folder_.path().string());
    const auto give_up = Clock::now() + std::chrono::seconds(60);
    while (!ready() && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(ready());
    // The signal handler is there before the first network is done, but not before the first file is opened.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto begin = Clock::now();
    process.interrupt();
    const Outcome outcome = process.wait();
    // A second is what is promised. How long it takes on a busy machine nobody knows, but not as long as the training.
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 120.0);
    return outcome;
  }
};

TEST_F(Interrupt, OneLongTrainingStopsAndLeavesNothing) {
  const Outcome outcome = interrupt_when("train --epochs 10000000 --threads 1 --curves curves.csv --save nets",
                                         [&] { return !files_ending(".tmp").empty(); });
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("0 of 1 networks"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder_.names(), Words{"nets"});
}

TEST_F(Interrupt, APopulationKeepsWhatIsDoneAndNothingHalfWritten) {
  const Outcome outcome =
      interrupt_when("train --epochs 20000 --seed 0..4999 --task depth1 --threads 2 --curves curves.csv --save nets",
                     [&] { return !files_ending(".safetensors").empty(); });
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const Words networks = files_ending(".safetensors");
  EXPECT_NE(outcome.err.find(std::to_string(networks.size()) + " of 5000 networks are done"), std::string::npos)
      << outcome.err << networks.size() << " files";
  EXPECT_EQ(files_ending(".tmp"), Words{});
  EXPECT_FALSE(std::filesystem::exists(folder_.file("curves.csv")));
  EXPECT_EQ(files_ending(".json").size(), networks.size());
  EXPECT_EQ(run(test::joined({"show"}, networks)).exit_code, 0);
}

TEST_F(Interrupt, JsonIsNotHalfPrinted) {
  const Outcome outcome = interrupt_when("train --epochs 1000000 --json --curves curves.csv",
                                         [&] { return !files_ending(".tmp").empty(); });
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder_.names(), Words{});
}

}  // namespace
}  // namespace modlab

#include "tasks/scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/errors.h"
#include "temporary_folder.h"

namespace modlab {
namespace {

using tasks::scan_commands;
using tasks::scan_line;
using tasks::scan_sets;
using tasks::ScanCommand;
using tasks::ScanSets;
using tasks::ScanSplit;

std::set<std::string> all_lines() {
  std::set<std::string> lines;
  for (const ScanCommand& command : scan_commands()) {
    lines.insert(scan_line(command));
  }
  return lines;
}

TEST(Scan, HasEveryCommandOnce) {
  EXPECT_EQ(scan_commands().size(), 20'910U);
  std::set<std::vector<std::uint8_t>> different;
  for (const ScanCommand& command : scan_commands()) {
    different.insert(command.words);
  }
  EXPECT_EQ(different.size(), 20'910U);
}

TEST(Scan, CommandsMeanWhatTheyShould) {
  const std::set<std::string> lines = all_lines();
  for (const std::string line :
       {"IN: jump OUT: I_JUMP", "IN: turn left OUT: I_TURN_LEFT", "IN: walk left OUT: I_TURN_LEFT I_WALK",
        "IN: turn opposite right OUT: I_TURN_RIGHT I_TURN_RIGHT",
        "IN: look opposite right OUT: I_TURN_RIGHT I_TURN_RIGHT I_LOOK",
        "IN: turn around left OUT: I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT",
        "IN: run around left OUT: I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN",
        "IN: walk and jump twice OUT: I_WALK I_JUMP I_JUMP",
        "IN: walk thrice after run left OUT: I_TURN_LEFT I_RUN I_WALK I_WALK I_WALK"}) {
    EXPECT_TRUE(lines.contains(line)) << line;
  }
}

// The histograms of the official file of all commands.
TEST(Scan, LengthsAndTokensAreTheOfficialOnes) {
  std::map<std::size_t, int> inputs;
  std::map<std::size_t, int> outputs;
  std::map<int, int> actions;
  for (const ScanCommand& command : scan_commands()) {
    ++inputs[command.words.size()];
    ++outputs[command.actions.size()];
    for (const std::uint8_t action : command.actions) {
      ++actions[action];
    }
  }
  const std::map<std::size_t, int> official_inputs = {{1, 4},    {2, 18},   {3, 72},   {4, 328}, {5, 1288},
                                                      {6, 3520}, {7, 6080}, {8, 6400}, {9, 3200}};
  EXPECT_EQ(inputs, official_inputs);
  const std::map<std::size_t, int> official_outputs = {
      {1, 6},     {2, 88},    {3, 398},   {4, 860},  {5, 1184}, {6, 1178}, {7, 1104}, {8, 1450}, {9, 1256},
      {10, 1696}, {11, 1072}, {12, 1578}, {13, 432}, {14, 848}, {15, 688}, {16, 304}, {17, 512}, {18, 784},
      {19, 448},  {20, 464},  {21, 64},   {22, 576}, {24, 336}, {25, 448}, {26, 512}, {27, 448}, {28, 448},
      {30, 576},  {32, 448},  {33, 256},  {36, 64},  {40, 256}, {48, 128}};
  EXPECT_EQ(outputs, official_outputs);
  const std::map<int, int> official_actions = {{0, 85'890}, {1, 85'890}, {2, 31'902},
                                               {3, 31'902}, {4, 31'902}, {5, 31'902}};
  EXPECT_EQ(actions, official_actions);
}

TEST(Scan, SplitsHaveTheirSizes) {
  const auto expect_sizes = [](ScanSplit split, std::size_t train, std::size_t test) {
    const ScanSets sets = scan_sets(split, 0);
    EXPECT_EQ(sets.train.size(), train);
    EXPECT_EQ(sets.test.size(), test);
    const std::set<std::uint32_t> trained(sets.train.begin(), sets.train.end());
    std::set<std::uint32_t> all(sets.test.begin(), sets.test.end());
    EXPECT_EQ(all.size(), sets.test.size()) << "nothing is tested twice";
    for (const std::uint32_t index : trained) {
      EXPECT_TRUE(all.insert(index).second) << "what is trained is not tested";
    }
    EXPECT_EQ(all.size(), scan_commands().size());
  };
  expect_sizes(ScanSplit::kSimple, 16'728, 4'182);
  expect_sizes(ScanSplit::kLength, 16'990, 3'920);
  expect_sizes(ScanSplit::kJump, 14'670, 7'706);
  expect_sizes(ScanSplit::kTurnLeft, 21'890, 1'208);
}

TEST(Scan, ThePhraseAloneIsATenthOfWhatIsTrained) {
  const auto expect_copies = [](ScanSplit split, const std::string& line, int copies) {
    const ScanSets sets = scan_sets(split, 0);
    EXPECT_EQ(std::ranges::count_if(sets.train,
                                    [&](std::uint32_t index) { return scan_line(scan_commands()[index]) == line; }),
              copies);
  };
  expect_copies(ScanSplit::kJump, "IN: jump OUT: I_JUMP", 1'467);
  expect_copies(ScanSplit::kTurnLeft, "IN: turn left OUT: I_TURN_LEFT", 2'189);
}

TEST(Scan, SimpleDependsOnTheSeedAlone) {
  EXPECT_EQ(scan_sets(ScanSplit::kSimple, 3).test, scan_sets(ScanSplit::kSimple, 3).test);
  EXPECT_NE(scan_sets(ScanSplit::kSimple, 3).test, scan_sets(ScanSplit::kSimple, 4).test);
}

// Over all sets of all splits, as published: the copies of `jump` put it before the other verbs.
TEST(Scan, FrequentTokensComeFirst) {
  std::vector<int> words(tasks::kScanWords.size());
  std::vector<int> actions(tasks::kScanActions.size());
  for (const ScanSplit split : {ScanSplit::kSimple, ScanSplit::kLength, ScanSplit::kJump, ScanSplit::kTurnLeft}) {
    const ScanSets sets = scan_sets(split, 0);
    for (const auto* set : {&sets.train, &sets.test}) {
      for (const std::uint32_t index : *set) {
        for (const std::uint8_t word : scan_commands()[index].words) {
          ++words[word];
        }
        for (const std::uint8_t action : scan_commands()[index].actions) {
          ++actions[action];
        }
      }
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(words, std::greater()));
  EXPECT_TRUE(std::ranges::is_sorted(actions, std::greater()));
  EXPECT_GT(actions[0], actions[1]) << "of turns the left one, which was copied";
  EXPECT_GT(actions[2], actions[3]) << "jump";
}

class ScanFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return folder_.file(name);
  }
  std::string mistake(const std::string& train, const std::string& test) const {
    try {
      tasks::read_scan_sets(write("train.txt", train), write("test.txt", test));
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ScanFiles, AreReadAsTheyWereWritten) {
  const ScanSets sets = scan_sets(ScanSplit::kJump, 0);
  const auto text = [](const std::vector<std::uint32_t>& set) {
    std::string lines;
    for (const std::uint32_t index : set) {
      lines += scan_line(scan_commands()[index]) + "\n";
    }
    return lines;
  };
  const ScanSets back = tasks::read_scan_sets(write("a", text(sets.train)), write("b", text(sets.test)));
  EXPECT_EQ(back.train, sets.train);
  EXPECT_EQ(back.test, sets.test);
}

TEST_F(ScanFiles, MistakesAreNamedByLine) {
  const std::string good = "IN: jump OUT: I_JUMP\n";
  EXPECT_NE(mistake(good + "IN: walk OUT: I_RUN\n", good).find("train.txt:2: no line of SCAN"), std::string::npos);
  EXPECT_NE(mistake(good, "IN: hop OUT: I_JUMP\r\n").find("test.txt:1: no line of SCAN"), std::string::npos);
  EXPECT_NE(mistake(good, good).find("'jump' is in"), std::string::npos);
  EXPECT_NE(mistake("\n", good).find("has no commands"), std::string::npos);
}

}  // namespace
}  // namespace modlab

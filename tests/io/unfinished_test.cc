#include "io/unfinished.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/file.h"

namespace modlab::io {
namespace {

namespace fs = std::filesystem;

class UnfinishedTest : public testing::Test {
 protected:
  const TemporaryFolder folder_{testing::TempDir(), "unfinished-test"};
  const std::string place_ = folder_.path() + "/unfinished";
  const std::vector<float> numbers_ = {1.5F, -2, 0, 1e-30F};
};

TEST_F(UnfinishedTest, PartsAreFoundUntilTheWorkIsFinished) {
  const Unfinished one(place_, "one");
  const Unfinished other(place_, "other");
  EXPECT_FALSE(one.find("weights", 4));
  one.keep("weights", numbers_);
  one.keep("mask-1", std::vector<float>{7});
  other.keep("weights", std::vector<float>{8});
  EXPECT_EQ(one.find("weights", 4), numbers_);
  EXPECT_EQ(one.find("mask-1", 1), std::vector<float>{7});
  EXPECT_FALSE(one.find("weights", 3)) << "of another size";
  one.clear();
  EXPECT_FALSE(one.find("weights", 4));
  EXPECT_EQ(other.find("weights", 1), std::vector<float>{8});
  other.clear();
  EXPECT_FALSE(fs::exists(place_));
}

TEST_F(UnfinishedTest, DamagedPartsAreAsGoodAsNone) {
  const Unfinished work(place_, "one");
  work.keep("weights", numbers_);
  const std::string path = place_ + "/one.weights";
  const std::string whole = read_file(path, 1000);
  std::string spoilt = whole;
  spoilt.back() ^= 1;
  for (const std::string& text : {spoilt, whole.substr(0, 70), std::string("short"), std::string(), whole + "x"}) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_FALSE(work.find("weights", 4)) << text.size();
  }
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_EQ(work.find("weights", 4), numbers_);
}

TEST_F(UnfinishedTest, WhatCannotBeKeptIsDoneWithout) {
  const Unfinished nowhere;
  nowhere.keep("weights", numbers_);
  EXPECT_FALSE(nowhere.find("weights", 4));
  nowhere.clear();
  const Unfinished gone(folder_.path() + "/deleted/unfinished", "one");
  gone.keep("weights", numbers_);
  EXPECT_FALSE(fs::exists(folder_.path() + "/deleted")) << "a folder that was deleted stays so";
  gone.clear();
}

}  // namespace
}  // namespace modlab::io

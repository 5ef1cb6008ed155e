#include <gtest/gtest.h>

#include "cli/program.h"
#include "tasks/scan.h"

namespace modlab {
namespace {

using DataScan = test::ProgramTest;

TEST_F(DataScan, ItsFilesAreTheSplits) {
  EXPECT_NE(output({"data", "scan", "--out", "scan", "--seed", "3"}).find("20910 commands"), std::string::npos);
  const auto read = [this](const std::string& name) {
    return tasks::read_scan_sets((folder_.path() / "scan" / ("tasks_train_" + name + ".txt")).string(),
                                 (folder_.path() / "scan" / ("tasks_test_" + name + ".txt")).string());
  };
  const tasks::ScanSets jump = read("addprim_jump");
  EXPECT_EQ(jump.train.size(), 14'670U);
  EXPECT_EQ(jump.test.size(), 7'706U);
  EXPECT_EQ(read("simple").test, tasks::scan_sets(tasks::ScanSplit::kSimple, 3).test);
}

TEST_F(DataScan, MistakesAreSaid) {
  expect_refused("data scan --seed x", {"--seed takes a whole number"});
  expect_refused("data scan jump", {"does not take 'jump'"});
  expect_refused("data scann", {"did you mean 'scan'?"});
}

}  // namespace
}  // namespace modlab

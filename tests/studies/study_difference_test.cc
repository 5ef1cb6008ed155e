#include "studies/study_difference.h"

#include <gtest/gtest.h>

namespace modlab::studies {
namespace {

constexpr auto kGrown = R"(
tune: [lr]
parameters: {task: depth1, seed: [0, 1], lr: [0.1, 0.01]}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: a, parameters: {model: sparse, density: 0.5}}
  - {series: b, parameters: {model: modular}}
presets:
  few: {parameters: {seed: 0}}
  all: {about: everything}
claims: [{id: C, text: t, checks: [{value: a, measure: test_accuracy}]}]
)";

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string difference_after(const std::string& from, const std::string& to) {
  return study_difference(parse_study(kGrown, "s", "s.yaml"), "all",
                          parse_study(replaced_once(kGrown, from, to), "s", "s.yaml"), "all");
}

TEST(StudyDifference, IsSaidInWords) {
  EXPECT_EQ(difference_after("tune: [lr]", "# a comment\ntune: [lr]"), "");
  EXPECT_EQ(difference_after("lr: [0.1, 0.01]", "lr: 0.1"), "lr was 0.1, 0.01 and is 0.1");
  EXPECT_EQ(difference_after("seed: [0, 1]", "seed: 0..99"), "seed was 0, 1 and is 100 values from 0 to 99");
  EXPECT_EQ(difference_after("seed: [0, 1], ", ""), "seed was 0, 1 and is not set");
  EXPECT_EQ(difference_after("density: 0.5", "density: 0.7"), "in a, density was 0.5 and is 0.7");
  EXPECT_EQ(difference_after("series: b", "series: c"), "series was a, a, b and is a, a, c");
  EXPECT_EQ(difference_after("tune: [lr]", "tune: none"), "tune was lr and is nothing");
  EXPECT_EQ(difference_after("measure: test_accuracy", "measure: train_accuracy"), "figures or claims are others");
  const Study study = parse_study(kGrown, "s", "s.yaml");
  EXPECT_EQ(study_difference(study, "few", study, "all"), "preset was few and is all; seed was 0 and is 0, 1");
}

}  // namespace
}  // namespace modlab::studies

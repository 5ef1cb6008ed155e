#include <gtest/gtest.h>

#include "cli/program.h"
#include "tasks/mathematics.h"

namespace modlab {
namespace {

using DataMathematics = test::ProgramTest;

TEST_F(DataMathematics, ItsFileIsReadAsThePublishedOnes) {
  EXPECT_EQ(
      output(test::words_of("data mathematics --module sort --difficulty hard --samples 50 --seed 4 --out x.txt")),
      "x.txt: 50 questions\n");
  EXPECT_EQ(tasks::read_math_questions((folder_.path() / "x.txt").string()),
            tasks::draw_math_questions(tasks::MathModule::kSort, tasks::MathDifficulty::kHard, 50, 4));
}

TEST_F(DataMathematics, ShowsSomeWithoutAFile) {
  const std::string shown = output(test::words_of("data mathematics --module linear_1d"));
  EXPECT_EQ(std::ranges::count(shown, '\n'), 10);
  EXPECT_TRUE(shown.starts_with("Solve ")) << shown;
}

TEST_F(DataMathematics, MistakesAreSaid) {
  expect_refused("data mathematics", {"name a module"});
  expect_refused("data mathematics --module add_or_sub --samples 1000000", {"different easy questions", "1000000"});
  expect_refused("data mathematics --module sorts", {"did you mean 'sort'?"});
  expect_refused("data mathematics --module sort --difficulty impossible", {"easy, medium, hard"});
  expect_refused("data mathematics --module sort --samples 0 --out x.txt", {"--samples takes a whole number"});
}

}  // namespace
}  // namespace modlab

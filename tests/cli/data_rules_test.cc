#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/npz.h"

namespace modlab {
namespace {

class DataRules : public test::ProgramTest {
 protected:
  std::map<std::string, io::NamedTensor> arrays(const std::string& line) const {
    output(test::words_of("data rules --out x.npz " + line));
    std::map<std::string, io::NamedTensor> found;
    for (io::NamedTensor& array : io::read_npz((folder_.path() / "x.npz").string())) {
      found[array.name] = std::move(array);
    }
    return found;
  }
};

using Shape = std::vector<std::size_t>;

TEST_F(DataRules, SumsSayTheirRule) {
  const auto found = arrays("--family mlp --rules 4 --task-seed 1 --samples 50");
  EXPECT_EQ(found.at("inputs").shape, (Shape{50, 6}));
  EXPECT_EQ(found.at("targets").shape, (Shape{50, 1}));
  EXPECT_EQ(found.at("rules").shape, (Shape{50}));
  for (std::size_t sample = 0; sample < 50; ++sample) {
    const float* input = found.at("inputs").values.data() + 6 * sample;
    const auto rule = static_cast<std::size_t>(found.at("rules").values[sample]);
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_EQ(input[2 + column], column == rule ? 1 : 0);
    }
    EXPECT_NEAR(found.at("targets").values[sample],
                found.at("alpha").values[rule] * input[0] + found.at("beta").values[rule] * input[1], 1e-5);
  }
}

TEST_F(DataRules, SequencesFollowTheirSystem) {
  const auto found = arrays("--family rnn --rules 3 --samples 20 --length 4 --dim 5");
  EXPECT_EQ(found.at("inputs").shape, (Shape{20, 4, 8}));
  EXPECT_EQ(found.at("targets").shape, (Shape{20, 4, 5}));
  EXPECT_EQ(found.at("A").shape, (Shape{3, 1, 5, 5}));
  EXPECT_EQ(found.at("B").shape, (Shape{3, 5, 5}));
  for (std::size_t token = 0; token < 80; ++token) {
    const auto rule = static_cast<std::size_t>(found.at("rules").values[token]);
    for (std::size_t to = 0; to < 5; ++to) {
      double state = 0;
      for (std::size_t from = 0; from < 5; ++from) {
        state += found.at("inputs").values[8 * token + from] * found.at("B").values[(rule * 5 + from) * 5 + to];
        if (token % 4 > 0) {
          state +=
              found.at("targets").values[5 * (token - 1) + from] * found.at("A").values[(rule * 5 + from) * 5 + to];
        }
      }
      EXPECT_NEAR(found.at("targets").values[5 * token + to], state, 1e-4);
    }
  }
}

TEST_F(DataRules, TheSameSamplesEveryTime) {
  output(test::words_of(
      "data rules --family mha --search 2 --rules 2 --samples 10 --out a.npz --task-type classification"));
  output(test::words_of(
      "data rules --family mha --search 2 --rules 2 --samples 10 --out b.npz --task-type classification"));
  output(test::words_of(
      "data rules --family mha --search 2 --rules 2 --samples 10 --out c.npz --task-type classification --seed 1"));
  EXPECT_EQ(folder_.read("a.npz"), folder_.read("b.npz"));
  EXPECT_NE(folder_.read("a.npz"), folder_.read("c.npz"));
  const auto found = arrays("--family mha --search 2 --rules 2 --samples 10 --task-type classification");
  EXPECT_EQ(found.at("inputs").shape, (Shape{10, 10, 14}));
  for (const float target : found.at("targets").values) {
    EXPECT_TRUE(target == 0 || target == 1);
  }
}

TEST_F(DataRules, BadInput) {
  expect_refused("data rules --out x.npz", {"--family"});
  expect_refused("data rules --family mlp", {"--out"});
  expect_refused("data rules --family mlb --out x.npz", {"'mlb'", "did you mean 'mlp'"});
  expect_refused("data rules --family mlp --rules 0 --out x.npz", {"--rules", "'0'"});
  expect_refused("data rules --family mha --length 1 --out x.npz", {"--length", "'1'"});
  expect_refused("data rules --family mlp --length 3 --out x.npz", {"--length"});
  expect_refused("data rules --family mha --dim 3 --out x.npz", {"--dim"});
  expect_refused("data rules --family mlp --samples 0 --out x.npz", {"--samples"});
  expect_refused("data rules --family mlp --scale nan --out x.npz", {"--scale"});
  expect_refused("data rules --family rnn --samples 100000000 --length 1000 --out x.npz", {"more than one file"});
  expect_refused("data rules --family mlp --out missing/x.npz", {"missing"});
}

}  // namespace
}  // namespace modlab

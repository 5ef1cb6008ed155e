#include "core/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace modlab {
namespace {

using Words = std::vector<std::string>;

TEST(NearestWord, FindsMisspellingsAndNothingElse) {
  const Words known = {"split_seed", "seed", "lr", "lr_structural", "weight_decay"};
  EXPECT_EQ(nearest_word("sead", known), "seed");
  EXPECT_EQ(nearest_word("wieght_decay", known), "weight_decay");
  EXPECT_EQ(nearest_word("lr_structral", known), "lr_structural");
  EXPECT_EQ(nearest_word("seed", known), "seed");
  EXPECT_EQ(nearest_word("something_else", known), std::nullopt);
  EXPECT_EQ(nearest_word("seed", Words{}), std::nullopt);
  EXPECT_EQ(nearest_word(std::string(1'000'000, 's'), Words(1'000, "seed")), std::nullopt);
}

TEST(NearestWord, PrefersTheFewestErrors) {
  EXPECT_EQ(nearest_word("depth4", Words{"depth", "depth14", "dept"}), "depth");
  EXPECT_EQ(nearest_word("modular-shred", Words{"modular", "modular-shared", "modular-shared-fcms"}), "modular-shared");
}

TEST(DidYouMean, IsTheEndOfASentenceOrNothing) {
  EXPECT_EQ(did_you_mean("densse", Words{"dense", "sparse"}), "; did you mean 'dense'?");
  EXPECT_EQ(did_you_mean("elephants", Words{"dense", "sparse"}), "");
}

TEST(SplitText, KeepsEmptyParts) {
  EXPECT_EQ(split_text("", ','), (Words{""}));
  EXPECT_EQ(split_text("a", ','), (Words{"a"}));
  EXPECT_EQ(split_text("a,b", ','), (Words{"a", "b"}));
  EXPECT_EQ(split_text(",a,,", ','), (Words{"", "a", "", ""}));
}

TEST(JoinText, IsTheOppositeOfSplitText) {
  EXPECT_EQ(join_text(Words{}, ", "), "");
  EXPECT_EQ(join_text(Words{"a", "b", "c"}, ", "), "a, b, c");
  for (const char* text : {"", "a", "a,b", ",", ",a", "a,", "a,,b", ",,"}) {
    EXPECT_EQ(join_text(split_text(text, ','), ","), text);
  }
}

TEST(Trim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(ParseReal, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_real("0.1"), 0.1);
  EXPECT_EQ(parse_real("-3e-2"), -0.03);
  EXPECT_EQ(parse_real("7"), 7.0);
  // Whether a number must be finite is for the setting to say.
  EXPECT_TRUE(std::isnan(parse_real("nan").value_or(0)));
  EXPECT_TRUE(std::isinf(parse_real("inf").value_or(0)));
  for (const char* text : {"", " ", "0.1 ", " 0.1", "0.1x", "x", "0,1", "--1", "1e", "."}) {
    EXPECT_EQ(parse_real(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(ParseInteger, TakesWholeNumbersThatFit) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807LL);
  for (const char* text : {"", "1.0", "1e3", "0x10", " 1", "1 ", "one", "9223372036854775808", "-"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << "'" << text << "'";
  }
}

}  // namespace
}  // namespace modlab

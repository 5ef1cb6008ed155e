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

TEST(Printable, KeepsTextAndReplacesWhatATerminalWouldObey) {
  for (const char* text : {"", "plain", "ä € 𝄞", "two\nlines\t", "\u00a0", "\uffff", "\U0010ffff"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text));
  }
  const std::string mark = "\uFFFD";
  EXPECT_EQ(printable("a\x1b[31mb"), "a" + mark + "[31mb");
  EXPECT_EQ(printable(std::string_view("\0\r\x7f", 3)), mark + mark + mark);
  EXPECT_EQ(printable("\u009b31m"), mark + mark + "31m") << "the same as an escape and a bracket";
  // Not UTF-8: a lone byte, a cut character, an overlong slash, half of a surrogate pair, beyond the last character.
  for (const char* text : {"\xff", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_EQ(printable(text).find_first_not_of(mark), std::string::npos) << text;
    EXPECT_FALSE(is_printable(text));
    EXPECT_TRUE(is_printable(printable(text)));
  }
  EXPECT_EQ(on_one_line("a\nb\tc\x1b"), "a b c" + mark);
}

TEST(DurationText, IsShortAndMakesSenseOfAnyNumber) {
  EXPECT_EQ(duration_text(42), "42 s");
  EXPECT_EQ(duration_text(185), "3 min 05 s");
  EXPECT_EQ(duration_text(7625), "2 h 07 min");
  EXPECT_EQ(duration_text(-201290), "0 s") << "a clock that jumped";
  for (const double seconds : {1e9, 1e300, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    EXPECT_EQ(duration_text(seconds), "more than three years");
  }
}

TEST(RateText, IsASecondOrForEach) {
  EXPECT_EQ(rate_text(30, 2.5), "12 a second");
  EXPECT_EQ(rate_text(30, 107), "3.6 s each");
  EXPECT_EQ(rate_text(5, 5), "1 a second");
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

// Questions are solved here once more, from their text alone and in other ways than they were made.
#include "tasks/mathematics.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <regex>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "temporary_folder.h"

namespace modlab {
namespace {

using tasks::draw_math_questions;
using tasks::MathDifficulty;
using tasks::MathModule;
using tasks::MathQuestion;

// "-3/4", "0.25" and "17" as fractions.
struct Fraction {
  long long over = 0;
  long long under = 1;

  explicit Fraction(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::size_t point = text.find('.');
    if (slash != std::string::npos) {
      over = std::stoll(text.substr(0, slash));
      under = std::stoll(text.substr(slash + 1));
    } else if (point != std::string::npos) {
      over = std::stoll(text.substr(0, point) + text.substr(point + 1));
      under = std::stoll("1" + std::string(text.size() - point - 1, '0'));
    } else {
      over = std::stoll(text);
    }
    reduce();
  }
  Fraction(long long top, long long bottom) : over(top), under(bottom) { reduce(); }
  void reduce() {
    const long long common = std::gcd(over, under);
    over /= common;
    under /= common;
  }
  Fraction operator+(const Fraction& other) const {
    return {over * other.under + other.over * under, under * other.under};
  }
  Fraction operator-(const Fraction& other) const { return *this + Fraction{-other.over, other.under}; }
  bool operator==(const Fraction&) const = default;
  bool operator<(const Fraction& other) const { return over * other.under < other.over * under; }
};

// Coefficients by power; the variable is the one letter of the text.
std::map<int, long long> polynomial(const std::string& text) {
  static const std::regex kTerm(R"(([+-]?) ?(?:(\d+)\*?)?([a-z])?(?:\*\*(\d+))?)");
  std::map<int, long long> found;
  for (std::sregex_iterator match(text.begin(), text.end(), kTerm), end; match != end; ++match) {
    const std::smatch& term = *match;
    if (!term[2].matched && !term[3].matched) {
      continue;
    }
    const int power = !term[3].matched ? 0 : term[4].matched ? std::stoi(term[4]) : 1;
    const long long size = term[2].matched ? std::stoll(term[2]) : 1;
    found[power] += term[1] == "-" ? -size : size;
  }
  std::erase_if(found, [](const auto& item) { return item.second == 0; });
  return found;
}

void solve_sum(const MathQuestion& asked) {
  static const std::regex kNumbers(R"((-?[\d.]*\d)\D+?(-?[\d.]*\d)[.?]$)");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(asked.question, found, kNumbers)) << asked.question;
  const Fraction first(found[1].str());
  const Fraction second(found[2].str());
  const std::string& text = asked.question;
  if (text.starts_with("Subtract")) {
    EXPECT_EQ(Fraction(asked.answer), second - first) << text;
  } else if (text.find(" - ") != std::string::npos || text.find("minus") != std::string::npos) {
    EXPECT_EQ(Fraction(asked.answer), first - second) << text;
  } else {
    EXPECT_EQ(Fraction(asked.answer), first + second) << text;
  }
}

void solve_equation(const MathQuestion& asked) {
  static const std::regex kSides("Solve (.*) = (.*) for ([a-z])\\.");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(asked.question, found, kSides)) << asked.question;
  std::map<int, long long> left = polynomial(found[1].str());
  std::map<int, long long> right = polynomial(found[2].str());
  const long long slope = left[1] - right[1];
  ASSERT_NE(slope, 0) << asked.question;
  EXPECT_EQ(slope * std::stoll(asked.answer), right[0] - left[0]) << asked.question;
}

void solve_derivative(const MathQuestion& asked) {
  static const std::regex kAsked("(?:.* (first|second|third) derivative of|Differentiate) (.*) wrt ([a-z])[.?]");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(asked.question, found, kAsked)) << asked.question;
  const int order = found[1] == "third" ? 3 : found[1] == "second" ? 2 : 1;
  std::map<int, long long> expected;
  for (const auto& [power, coefficient] : polynomial(found[2].str())) {
    if (power >= order) {
      long long factor = coefficient;
      for (int step = 0; step < order; ++step) {
        factor *= power - step;
      }
      expected[power - order] += factor;
    }
  }
  EXPECT_EQ(polynomial(asked.answer), expected) << asked.question << " " << asked.answer;
}

void solve_collection(const MathQuestion& asked) {
  static const std::regex kAsked("Collect the terms in (.*)\\.");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(asked.question, found, kAsked)) << asked.question;
  const std::map<int, long long> expected = polynomial(found[1].str());
  EXPECT_EQ(polynomial(asked.answer), expected) << asked.question << " " << asked.answer;
  if (expected.empty()) {
    EXPECT_EQ(asked.answer, "0") << asked.question;
  } else {
    const auto terms = static_cast<std::size_t>(std::ranges::count(asked.answer, ' ') / 2 + 1);
    EXPECT_EQ(terms, expected.size()) << "one term of each power: " << asked.answer;
  }
}

void solve_sort(const MathQuestion& asked) {
  static const std::regex kAsked("(?:Sort|Put) ([-\\d./, ]*\\d)(?: in (\\w+) order)?\\.");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(asked.question, found, kAsked)) << asked.question;
  std::vector<std::string> numbers;
  for (const std::string& number : split_text(found[1].str(), ',')) {
    numbers.emplace_back(trim(number));
  }
  std::ranges::sort(numbers, [](const auto& a, const auto& b) { return Fraction(a) < Fraction(b); });
  if (found[2] == "descending" || found[2] == "decreasing") {
    std::ranges::reverse(numbers);
  }
  EXPECT_EQ(asked.answer, join_text(numbers, ", ")) << asked.question;
}

class Mathematics : public testing::TestWithParam<int> {};

TEST_P(Mathematics, EveryQuestionHasItsAnswer) {
  const auto module = static_cast<MathModule>(GetParam());
  const std::array solve = {solve_sum, solve_equation, solve_derivative, solve_sort, solve_collection};
  for (const MathDifficulty difficulty : {MathDifficulty::kEasy, MathDifficulty::kMedium, MathDifficulty::kHard}) {
    const std::vector<MathQuestion> questions = draw_math_questions(module, difficulty, 500, 7);
    std::set<std::string> different;
    for (const MathQuestion& asked : questions) {
      solve[GetParam()](asked);
      different.insert(asked.question);
      EXPECT_LE(asked.question.size(), tasks::kLongestQuestion);
      EXPECT_LE(asked.answer.size(), tasks::kLongestAnswer);
    }
    EXPECT_EQ(different.size(), questions.size());
  }
}

TEST_P(Mathematics, HarderQuestionsAreLonger) {
  const auto module = static_cast<MathModule>(GetParam());
  std::vector<double> letters;
  for (const MathDifficulty difficulty : {MathDifficulty::kEasy, MathDifficulty::kMedium, MathDifficulty::kHard}) {
    double sum = 0;
    for (const MathQuestion& asked : draw_math_questions(module, difficulty, 500, 3)) {
      sum += static_cast<double>(asked.question.size());
    }
    letters.push_back(sum);
  }
  EXPECT_LT(letters[0], letters[1]);
  EXPECT_LT(letters[1], letters[2]);
}

TEST_P(Mathematics, DependsOnTheSeedAndOnNothingElse) {
  const auto module = static_cast<MathModule>(GetParam());
  const auto some = draw_math_questions(module, MathDifficulty::kMedium, 20, 1);
  const auto more = draw_math_questions(module, MathDifficulty::kMedium, 40, 1);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), more.begin()));
  EXPECT_NE(some, draw_math_questions(module, MathDifficulty::kMedium, 20, 2));
}

INSTANTIATE_TEST_SUITE_P(Modules, Mathematics, testing::Range(0, 5), [](const auto& module) {
  return std::string(tasks::kMathModules[static_cast<std::size_t>(module.param)]);
});

TEST(MathQuestions, ThereAreNoMoreThanThereAre) {
  const std::size_t easy = draw_math_questions(MathModule::kDifferentiate, MathDifficulty::kEasy, 10'000'000, 0).size();
  EXPECT_GT(easy, 100'000U);
  EXPECT_LT(easy, 1'000'000U);
}

class MathFiles : public testing::Test {
 protected:
  std::string mistake(const std::string& text) const {
    folder_.write("sort.txt", text);
    try {
      tasks::read_math_questions(folder_.file("sort.txt"));
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder folder_;
};

TEST_F(MathFiles, QuestionsAndAnswersComeInTurn) {
  folder_.write("sort.txt", "Sort 2, 1.\r\n1, 2\r\nSort -3, -4 in decreasing order.\n-3, -4\n");
  const auto questions = tasks::read_math_questions(folder_.file("sort.txt"));
  const std::vector<MathQuestion> expected = {{"Sort 2, 1.", "1, 2"}, {"Sort -3, -4 in decreasing order.", "-3, -4"}};
  EXPECT_EQ(questions, expected);
}

TEST_F(MathFiles, MistakesAreNamedByLine) {
  EXPECT_NE(mistake("").find("has 0 lines"), std::string::npos);
  EXPECT_NE(mistake("Sort 2, 1.\n1, 2\nSort 3, 4.\n").find("has 3 lines"), std::string::npos);
  EXPECT_NE(mistake("Sort 2, 1.\n\nSort 3, 4.\n3, 4\n").find("sort.txt:2: no answer"), std::string::npos);
  EXPECT_NE(mistake(std::string(161, '1') + "\n1\n").find("sort.txt:1: no question"), std::string::npos);
  EXPECT_NE(mistake(std::string("Sort\x01 1.\n1\n")).find("sort.txt:1: no question"), std::string::npos);
}

}  // namespace
}  // namespace modlab

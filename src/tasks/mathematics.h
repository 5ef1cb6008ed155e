#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Questions of school mathematics and their answers, as texts: five of the modules of the Mathematics Dataset (Saxton
// et al., ICLR 2019). Questions drawn here ask the same in the same notation, but are our own: easier ones have smaller
// numbers and fewer of them, polynomials have one variable, and there are fewer ways to ask.
namespace modlab::tasks {

enum class MathModule { kAddOrSub, kLinear1d, kDifferentiate, kSort, kCollect };
inline constexpr std::array<std::string_view, 5> kMathModules = {"arithmetic__add_or_sub", "algebra__linear_1d",
                                                                 "calculus__differentiate", "comparison__sort",
                                                                 "polynomials__collect"};

enum class MathDifficulty { kEasy, kMedium, kHard };
inline constexpr std::array<std::string_view, 3> kMathDifficulties = {"easy", "medium", "hard"};

// As in the published files no question is longer than 160 letters and no answer longer than 30.
inline constexpr std::size_t kLongestQuestion = 160;
inline constexpr std::size_t kLongestAnswer = 30;

// Letters of both, the signs of ASCII that are seen: from the first to the last.
inline constexpr char kFirstLetter = ' ';
inline constexpr char kLastLetter = '~';

struct MathQuestion {
  std::string question;
  std::string answer;
  bool operator==(const MathQuestion&) const = default;
};

// So many different questions, or fewer: as many as are found until a hundred draws in turn bring none that is new.
std::vector<MathQuestion> draw_math_questions(MathModule module, MathDifficulty difficulty, std::size_t count,
                                              std::uint64_t seed);

// A published file: lines of questions, each followed by its answer.
std::vector<MathQuestion> read_math_questions(const std::string& path);
// The same for its text; `path` stands in messages.
std::vector<MathQuestion> parse_math_questions(const std::string& file, const std::string& path);

}  // namespace modlab::tasks

#include "tasks/mathematics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <unordered_set>

#include "core/errors.h"
#include "core/random.h"
#include "io/file.h"

namespace modlab::tasks {
namespace {

constexpr std::size_t kMaxQuestionBytes = 1'000'000'000;             // the published files have some hundred megabytes
constexpr std::string_view kVariables = "abcdfghjklmnopqrstuvwxyz";  // as published: e and i are numbers

// What is drawn of a question; a level is the place of its difficulty.
class Draw {
 public:
  Draw(MathModule module, MathDifficulty difficulty, std::uint64_t seed)
      : random_(seed, Stream::kSamples,
                static_cast<std::uint32_t>(module) * 3 + static_cast<std::uint32_t>(difficulty)),
        level_(static_cast<int>(difficulty)) {}

  int level() const { return level_; }
  // A whole number from `least` to `most`.
  long long between(long long least, long long most) {
    const auto count = static_cast<std::uint64_t>(most - least + 1);
    const std::uint64_t word = (static_cast<std::uint64_t>(random_.next_word()) << 32) | random_.next_word();
    return least + static_cast<long long>(word % count);
  }
  // Of one digit up to `digits`, each number of digits as often: hard questions may look easy, as published.
  long long number(int digits) {
    const long long count = between(1, digits);
    long long end = 1;
    for (long long digit = 0; digit < count; ++digit) {
      end *= 10;
    }
    return between(-end + 1, end - 1);
  }
  long long nonzero(int digits) {
    while (true) {
      if (const long long value = number(digits); value != 0) {
        return value;
      }
    }
  }
  std::string_view one_of(std::span<const std::string_view> texts) {
    return texts[static_cast<std::size_t>(between(0, static_cast<long long>(texts.size()) - 1))];
  }
  char variable() {
    return kVariables[static_cast<std::size_t>(between(0, static_cast<long long>(kVariables.size()) - 1))];
  }

 private:
  RandomSequence random_;
  int level_;
};

// A whole number of units of 10^-places.
struct Decimal {
  long long units = 0;
  int places = 0;

  std::string text() const {
    long long shown = std::llabs(units);
    int left = places;
    while (left > 0 && shown % 10 == 0) {
      shown /= 10;
      --left;
    }
    std::string digits = fmt::format("{:0{}}", shown, left + 1);
    if (left > 0) {
      digits.insert(digits.size() - static_cast<std::size_t>(left), ".");
    }
    return (units < 0 ? "-" : "") + digits;
  }
  long long units_at(int finer) const {
    long long value = units;
    for (int place = places; place < finer; ++place) {
      value *= 10;
    }
    return value;
  }
};

Decimal sum(const Decimal& first, const Decimal& second, int sign) {
  const int places = std::max(first.places, second.places);
  return {first.units_at(places) + sign * second.units_at(places), places};
}

MathQuestion add_or_sub(Draw& draw) {
  const auto operand = [&] {
    const int digits = std::array{2, 5, 9}[draw.level()];
    // Half of the harder ones have decimal places.
    const bool is_whole = draw.level() == 0 || draw.between(0, 1) == 0;
    return Decimal{draw.number(digits), is_whole ? 0 : static_cast<int>(draw.between(1, 2 * draw.level()))};
  };
  const Decimal first = operand();
  const Decimal second = operand();
  const std::string a = first.text();
  const std::string b = second.text();
  if (draw.between(0, 1) == 0) {
    constexpr std::array<std::string_view, 5> kAsk = {"What is {} + {}?", "Add {} and {}.", "Calculate {} + {}.",
                                                      "Work out {} + {}.", "What is the sum of {} and {}?"};
    return {fmt::format(fmt::runtime(draw.one_of(kAsk)), a, b), sum(first, second, 1).text()};
  }
  constexpr std::array<std::string_view, 4> kAsk = {"What is {} - {}?", "Calculate {} - {}.", "Work out {} - {}.",
                                                    "What is {} minus {}?"};
  if (draw.between(0, 4) == 0) {
    return {fmt::format("Subtract {} from {}.", b, a), sum(first, second, -1).text()};
  }
  return {fmt::format(fmt::runtime(draw.one_of(kAsk)), a, b), sum(first, second, -1).text()};
}

// A coefficient times a power of the variable.
struct Term {
  long long coefficient = 0;
  int power = 0;
};

// "-3*x**2 + x - 5", and 0 where there are none.
std::string terms_text(std::span<const Term> terms, char variable) {
  std::string text;
  for (const Term& term : terms) {
    const long long size = std::llabs(term.coefficient);
    if (text.empty()) {
      text = term.coefficient < 0 ? "-" : "";
    } else {
      text += term.coefficient < 0 ? " - " : " + ";
    }
    if (term.power == 0) {
      text += std::to_string(size);
      continue;
    }
    if (size != 1) {
      text += fmt::format("{}*", size);
    }
    text += variable;
    if (term.power > 1) {
      text += fmt::format("**{}", term.power);
    }
  }
  return text.empty() ? "0" : text;
}

// The same with one term of each power, the highest first.
std::vector<Term> collected(std::span<const Term> terms) {
  int highest = 0;
  for (const Term& term : terms) {
    highest = std::max(highest, term.power);
  }
  std::vector<Term> all;
  for (int power = highest; power >= 0; --power) {
    long long coefficient = 0;
    for (const Term& term : terms) {
      coefficient += term.power == power ? term.coefficient : 0;
    }
    if (coefficient != 0) {
      all.push_back({coefficient, power});
    }
  }
  return all;
}

MathQuestion linear_1d(Draw& draw) {
  const int digits = std::array{1, 2, 3}[draw.level()];
  const long long solution = draw.number(std::array{1, 1, 2}[draw.level()]);
  const auto side = [&] {
    std::vector<Term> terms;
    const long long count = draw.between(1, 1 + draw.level());
    for (long long term = 0; term < count; ++term) {
      terms.push_back({draw.nonzero(digits), static_cast<int>(draw.between(0, 1))});
    }
    return terms;
  };
  std::vector<Term> left = side();
  std::vector<Term> right = side();
  const auto coefficient = [](std::span<const Term> terms) {
    return std::accumulate(terms.begin(), terms.end(), 0LL, [](long long total, const Term& term) {
      return total + (term.power == 1 ? term.coefficient : 0);
    });
  };
  if (coefficient(left) == coefficient(right)) {
    left.push_back({draw.nonzero(digits), 1});
  }
  // What is missing on one side for the solution to solve it.
  const auto value = [&](std::span<const Term> terms) {
    return std::accumulate(terms.begin(), terms.end(), 0LL, [&](long long total, const Term& term) {
      return total + term.coefficient * (term.power == 1 ? solution : 1);
    });
  };
  if (const long long missing = value(left) - value(right); missing != 0) {
    right.push_back({missing, 0});
  }
  const char variable = draw.variable();
  return {fmt::format("Solve {} = {} for {}.", terms_text(left, variable), terms_text(right, variable), variable),
          std::to_string(solution)};
}

MathQuestion differentiate(Draw& draw) {
  constexpr std::array<std::string_view, 3> kOrders = {"first", "second", "third"};
  constexpr std::array<std::string_view, 3> kAsk = {
      "What is the {} derivative of {} wrt {}?", "Find the {} derivative of {} wrt {}.", "Differentiate {1} wrt {2}."};
  const std::string_view ask = draw.one_of(kAsk);
  const auto order = ask == kAsk[2] ? 1 : static_cast<int>(draw.between(1, 1 + draw.level()));
  std::vector<Term> terms;
  const long long count = draw.between(1, 2 + draw.level());
  for (long long term = 0; term < count; ++term) {
    terms.push_back(
        {draw.nonzero(std::array{1, 3, 5}[draw.level()]), static_cast<int>(draw.between(0, 2 + 2 * draw.level()))});
  }
  std::vector<Term> derived = collected(terms);
  for (int time = 0; time < order; ++time) {
    for (Term& term : derived) {
      term = {term.coefficient * term.power, std::max(term.power - 1, 0)};
    }
  }
  const char variable = draw.variable();
  return {fmt::format(fmt::runtime(ask), kOrders[order - 1], terms_text(terms, variable), variable),
          terms_text(collected(derived), variable)};
}

MathQuestion collect(Draw& draw) {
  std::vector<Term> terms;
  const long long count = draw.between(2 + draw.level(), 4 + 3 * draw.level());
  for (long long term = 0; term < count; ++term) {
    terms.push_back(
        {draw.nonzero(std::array{1, 2, 4}[draw.level()]), static_cast<int>(draw.between(0, 1 + draw.level()))});
  }
  const char variable = draw.variable();
  return {fmt::format("Collect the terms in {}.", terms_text(terms, variable)), terms_text(collected(terms), variable)};
}

// A number to be sorted: a fraction, however it is written.
struct Ranked {
  long long over = 0;
  long long under = 1;
  std::string text;
};

Ranked ranked(Draw& draw) {
  const int digits = std::array{2, 3, 4}[draw.level()];
  const long long kind = draw.level() == 0 ? 0 : draw.between(0, 1 + draw.level());
  if (kind == 2) {
    const Decimal decimal{draw.number(digits), static_cast<int>(draw.between(1, 2))};
    return {decimal.units, decimal.places == 1 ? 10 : 100, decimal.text()};
  }
  if (kind == 3) {
    const long long under = draw.between(2, 40);
    const long long over = draw.nonzero(2);
    if (std::gcd(over, under) == 1) {
      return {over, under, fmt::format("{}/{}", over, under)};
    }
  }
  const long long value = draw.number(digits);
  return {value, 1, std::to_string(value)};
}

MathQuestion sort(Draw& draw) {
  const long long count = draw.between(3, 4 + 2 * draw.level());
  std::vector<Ranked> numbers;
  const auto is_less = [](const Ranked& first, const Ranked& second) {
    return first.over * second.under < second.over * first.under;
  };
  while (static_cast<long long>(numbers.size()) < count) {
    Ranked number = ranked(draw);
    // Different numbers have one order only.
    if (std::ranges::none_of(numbers,
                             [&](const Ranked& other) { return !is_less(other, number) && !is_less(number, other); })) {
      numbers.push_back(std::move(number));
    }
  }
  const auto listed = [&] {
    std::vector<std::string> texts;
    for (const Ranked& number : numbers) {
      texts.push_back(number.text);
    }
    return join_text(texts, ", ");
  };
  constexpr std::array<std::string_view, 4> kUp = {"Sort {}.", "Put {} in ascending order.",
                                                   "Sort {} in increasing order.", "Sort {} in ascending order."};
  constexpr std::array<std::string_view, 3> kDown = {"Put {} in descending order.", "Sort {} in decreasing order.",
                                                     "Sort {} in descending order."};
  const bool is_up = draw.between(0, 1) == 0;
  const std::string_view ask = is_up ? draw.one_of(kUp) : draw.one_of(kDown);
  std::string question = fmt::format(fmt::runtime(ask), listed());
  std::ranges::sort(numbers, is_less);
  if (!is_up) {
    std::ranges::reverse(numbers);
  }
  return {std::move(question), listed()};
}

MathQuestion draw_one(MathModule module, Draw& draw) {
  switch (module) {
    case MathModule::kAddOrSub:
      return add_or_sub(draw);
    case MathModule::kLinear1d:
      return linear_1d(draw);
    case MathModule::kDifferentiate:
      return differentiate(draw);
    case MathModule::kSort:
      return sort(draw);
    case MathModule::kCollect:
      return collect(draw);
  }
  return {};
}

bool is_letter(char letter) { return letter >= kFirstLetter && letter <= kLastLetter; }

}  // namespace

std::vector<MathQuestion> draw_math_questions(MathModule module, MathDifficulty difficulty, std::size_t count,
                                              std::uint64_t seed) {
  constexpr int kMostInVain = 100;  // draws one after the other that bring nothing new
  Draw draw(module, difficulty, seed);
  std::vector<MathQuestion> questions;
  std::unordered_set<std::string> known;
  int in_vain = 0;
  while (questions.size() < count) {
    MathQuestion question = draw_one(module, draw);
    if (question.question.size() <= kLongestQuestion && question.answer.size() <= kLongestAnswer &&
        known.insert(question.question).second) {
      questions.push_back(std::move(question));
      in_vain = 0;
    } else if (++in_vain == kMostInVain) {
      break;
    }
  }
  return questions;
}

std::vector<MathQuestion> parse_math_questions(const std::string& file, const std::string& path) {
  std::vector<std::string> lines = split_text(file, '\n');
  while (!lines.empty() && trim(lines.back()).empty()) {
    lines.pop_back();
  }
  if (lines.empty() || lines.size() % 2 != 0) {
    throw FormatError(fmt::format("{}: has {}, and should have questions and answers in turn", path,
                                  counted(static_cast<long long>(lines.size()), "line")));
  }
  std::vector<MathQuestion> questions;
  for (std::size_t line = 0; line < lines.size(); line += 2) {
    MathQuestion question{std::string(trim(lines[line])), std::string(trim(lines[line + 1]))};
    for (const auto& [text, longest, what] : {std::tuple(&question.question, kLongestQuestion, "question"),
                                              std::tuple(&question.answer, kLongestAnswer, "answer")}) {
      if (text->empty() || text->size() > longest || !std::ranges::all_of(*text, is_letter)) {
        throw FormatError(fmt::format("{}:{}: no {} of one to {} letters", path,
                                      line + (text == &question.answer ? 2 : 1), what, longest));
      }
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<MathQuestion> read_math_questions(const std::string& path) {
  return parse_math_questions(io::read_file(path, kMaxQuestionBytes), path);
}

}  // namespace modlab::tasks

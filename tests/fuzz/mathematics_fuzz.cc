#include "tasks/mathematics.h"

#include <algorithm>
#include <cstdlib>

#include "core/errors.h"
#include "entry.h"

std::vector<std::string> modlab::fuzz::seeds() {
  std::string drawn;
  for (const modlab::tasks::MathQuestion& asked : modlab::tasks::draw_math_questions(
           modlab::tasks::MathModule::kLinear1d, modlab::tasks::MathDifficulty::kHard, 5, 0)) {
    drawn += asked.question + "\n" + asked.answer + "\n";
  }
  return {drawn, "What is 2 + 3?\r\n5\r\n", "Sort -1, 4.\n-1, 4\n\n"};
}

// Any bytes are questions and answers of plain letters, neither of them empty nor too long, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tasks = modlab::tasks;
  const auto is_letter = [](char letter) { return letter >= tasks::kFirstLetter && letter <= tasks::kLastLetter; };
  try {
    for (const tasks::MathQuestion& asked :
         tasks::parse_math_questions({reinterpret_cast<const char*>(data), size}, "fuzz.txt")) {
      if (asked.question.empty() || asked.question.size() > tasks::kLongestQuestion || asked.answer.empty() ||
          asked.answer.size() > tasks::kLongestAnswer ||
          !std::ranges::all_of(asked.question + asked.answer, is_letter)) {
        std::abort();
      }
    }
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

#include "cli/data_mathematics.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/option_values.h"
#include "cli/terminal.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "tasks/mathematics.h"

namespace modlab::cli {
namespace {

using tasks::MathDifficulty;
using tasks::MathModule;
using tasks::MathQuestion;

constexpr std::size_t kShown = 5;

const std::vector<Option>& mathematics_options() {
  static const std::vector<Option> kOptions = {
      {"module", Arity::kOne, "NAME", "add_or_sub, linear_1d, differentiate, sort or collect", {}},
      {"difficulty", Arity::kOne, "easy|medium|hard", "how large the numbers are, and how many (easy)", {}},
      {"samples", Arity::kOne, "N", "how many questions, all different (1000)", {}},
      {"seed", Arity::kOne, "N", "which questions (0)", {}},
      {"out", Arity::kOne, "FILE", "the text file to write; default: some are shown", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_mathematics_help() {
  print_help(
      "modlab data mathematics: questions of school mathematics and their answers\n\n"
      "  modlab data mathematics --module sort --difficulty hard\n"
      "  modlab data mathematics --module differentiate --samples 100000 --out differentiate-easy.txt\n\n"
      "The file has a question on a line and its answer on the next, as those of the Mathematics Dataset, whose "
      "questions\n"
      "these resemble and are not.\n\n{}",
      describe_options(mathematics_options()));
}

// A module by the end of its name, `sort` of `comparison__sort`.
std::vector<std::pair<std::string, MathModule>> modules() {
  std::vector<std::pair<std::string, MathModule>> all;
  for (std::size_t place = 0; place < tasks::kMathModules.size(); ++place) {
    const std::string_view name = tasks::kMathModules[place];
    all.emplace_back(name.substr(name.find("__") + 2), static_cast<MathModule>(place));
  }
  return all;
}

std::vector<std::pair<std::string, MathDifficulty>> difficulties() {
  std::vector<std::pair<std::string, MathDifficulty>> all;
  for (std::size_t place = 0; place < tasks::kMathDifficulties.size(); ++place) {
    all.emplace_back(tasks::kMathDifficulties[place], static_cast<MathDifficulty>(place));
  }
  return all;
}

}  // namespace

int run_data_mathematics(std::span<const std::string> words) {
  const Arguments arguments(words, mathematics_options());
  if (arguments.has("help")) {
    print_mathematics_help();
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(fmt::format("modlab data mathematics does not take '{}'", arguments.positional().front()));
  }
  if (!arguments.has("module")) {
    throw ConfigError("name a module: --module add_or_sub, linear_1d, differentiate, sort or collect");
  }
  const auto module = one_of<MathModule>(arguments, "module", "", modules());
  const auto difficulty = one_of<MathDifficulty>(arguments, "difficulty", "easy", difficulties());
  const auto count = static_cast<std::size_t>(whole_number(arguments, "samples", 1000, 1, 5'000'000));
  const auto seed = static_cast<std::uint64_t>(whole_number(arguments, "seed", 0, 0, 9'000'000'000'000'000'000));
  const std::vector<MathQuestion> questions = tasks::draw_math_questions(module, difficulty, count, seed);
  if (questions.size() < count) {
    throw ConfigError(fmt::format("{} has about {} different {} questions, and {} were asked for",
                                  tasks::kMathModules[static_cast<std::size_t>(module)], questions.size(),
                                  tasks::kMathDifficulties[static_cast<std::size_t>(difficulty)], count));
  }
  if (arguments.has("out")) {
    std::string text;
    for (const MathQuestion& asked : questions) {
      text += asked.question + "\n" + asked.answer + "\n";
    }
    io::write_file(arguments.text("out"), text);
    fmt::print("{}: {}\n", arguments.text("out"), counted(static_cast<long long>(count), "question"));
    return 0;
  }
  for (std::size_t place = 0; place < std::min(count, kShown); ++place) {
    fmt::print("{}\n  {}\n", questions[place].question, questions[place].answer);
  }
  return 0;
}

}  // namespace modlab::cli

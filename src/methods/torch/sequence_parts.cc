#include "methods/torch/sequence_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/errors.h"
#include "core/numpy_random.h"

namespace modlab::methods {
namespace {

using models::TokenSequences;

// Whoever has no official files has the same split as all others who have none.
constexpr std::uint32_t kSimpleSeed = 0;
// Questions for testing are published as drawn with this seed.
constexpr std::uint32_t kTestSeed = 1234;
constexpr std::uint64_t kQuestionSeed = 0;

std::vector<std::uint8_t> letters_of(const std::string& text) {
  std::vector<std::uint8_t> letters;
  for (const char letter : text) {
    letters.push_back(static_cast<std::uint8_t>(letter - tasks::kFirstLetter));
  }
  return letters;
}

}  // namespace

const SequencePart& SequenceParts::part(const std::string& name) const {
  return *std::ranges::find(parts, name, &SequencePart::name);
}

std::vector<std::uint32_t> SequenceParts::all_train() const {
  std::vector<std::uint32_t> all;
  for (const SequencePart& part : parts) {
    all.insert(all.end(), part.train.begin(), part.train.end());
  }
  return all;
}

SequenceParts scan_parts(const std::vector<std::string>& simple) {
  auto samples = std::make_shared<TokenSequences>();
  for (const tasks::ScanCommand& command : tasks::scan_commands()) {
    samples->inputs.push_back(command.words);
    samples->outputs.push_back(command.actions);
  }
  SequenceParts made;
  made.samples = std::move(samples);
  made.input_tokens = static_cast<int>(tasks::kScanWords.size());
  made.output_tokens = static_cast<int>(tasks::kScanActions.size());
  constexpr tasks::ScanSplit kSplits[] = {tasks::ScanSplit::kSimple, tasks::ScanSplit::kJump, tasks::ScanSplit::kLength,
                                          tasks::ScanSplit::kTurnLeft};
  for (std::size_t split = 0; split < std::size(kSplits); ++split) {
    tasks::ScanSets sets = split == 0 && !simple.empty() ? tasks::read_scan_sets(simple[0], simple[1])
                                                         : tasks::scan_sets(kSplits[split], kSimpleSeed);
    made.parts.push_back({kScanSplits[split], std::move(sets.train), std::move(sets.test)});
  }
  return made;
}

SequenceParts math_parts(tasks::MathModule module, const std::vector<std::string>& files, int questions, int tests) {
  auto samples = std::make_shared<TokenSequences>();
  SequenceParts made;
  made.input_tokens = made.output_tokens = tasks::kLastLetter - tasks::kFirstLetter + 1;
  std::unordered_set<std::string> known;
  for (std::size_t difficulty = 0; difficulty < tasks::kMathDifficulties.size(); ++difficulty) {
    SequencePart& part = made.parts.emplace_back();
    part.name = tasks::kMathDifficulties[difficulty];
    const std::vector<tasks::MathQuestion> asked =
        files.empty() ? tasks::draw_math_questions(module, static_cast<tasks::MathDifficulty>(difficulty),
                                                   static_cast<std::size_t>(questions), kQuestionSeed)
                      : tasks::read_math_questions(files[difficulty]);
    std::vector<std::uint32_t> rows;
    for (const tasks::MathQuestion& question : asked) {
      if (known.insert(question.question).second) {
        rows.push_back(static_cast<std::uint32_t>(samples->inputs.size()));
        samples->inputs.push_back(letters_of(question.question));
        samples->outputs.push_back(letters_of(question.answer));
      }
    }
    if (std::ssize(rows) <= tests) {
      throw ConfigError(fmt::format("there are {} {} questions that no easier part has, and {} are to be tested on",
                                    rows.size(), part.name, tests));
    }
    const std::vector<std::uint32_t> order =
        NumpyRandom(kTestSeed).permutation(static_cast<std::uint32_t>(rows.size()));
    for (std::size_t place = 0; place < order.size(); ++place) {
      (place < static_cast<std::size_t>(tests) ? part.test : part.train).push_back(rows[order[place]]);
    }
  }
  made.samples = std::move(samples);
  return made;
}

}  // namespace modlab::methods

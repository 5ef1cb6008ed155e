#include "tasks/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/errors.h"
#include "core/numpy_random.h"
#include "core/text.h"
#include "io/file.h"

namespace modlab::tasks {
namespace {

using Tokens = std::vector<std::uint8_t>;

constexpr std::size_t kLongestTrained = 22;         // actions, of the split by length
constexpr std::size_t kMaxScanBytes = 100'000'000;  // the official files have a few megabytes

template <std::size_t count>
std::uint8_t place(const std::array<std::string_view, count>& names, std::string_view name) {
  return static_cast<std::uint8_t>(std::ranges::find(names, name) - names.begin());
}
std::uint8_t word(std::string_view name) { return place(kScanWords, name); }
std::uint8_t action(std::string_view name) { return place(kScanActions, name); }

Tokens joined(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Tokens repeated(const Tokens& part, int times) {
  Tokens all;
  for (int time = 0; time < times; ++time) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// The 34 phrases of one verb: a verb alone, to a side, opposite a side, and around it. `turn` needs a side, and does
// nothing but turn.
std::vector<ScanCommand> verb_phrases() {
  struct Verb {
    Tokens words;
    Tokens actions;
  };
  const std::vector<Verb> verbs = {{{word("walk")}, {action("I_WALK")}},
                                   {{word("look")}, {action("I_LOOK")}},
                                   {{word("run")}, {action("I_RUN")}},
                                   {{word("jump")}, {action("I_JUMP")}},
                                   {{word("turn")}, {}}};
  std::vector<ScanCommand> phrases;
  for (const Verb& verb : verbs) {
    if (!verb.actions.empty()) {
      phrases.push_back({verb.words, verb.actions});
    }
    for (const auto& [side, turn] : {std::pair("left", "I_TURN_LEFT"), std::pair("right", "I_TURN_RIGHT")}) {
      const Tokens to = {word(side)};
      const Tokens turned = {action(turn)};
      phrases.push_back({joined({verb.words, to}), joined({turned, verb.actions})});
      phrases.push_back({joined({verb.words, {word("opposite")}, to}), joined({turned, turned, verb.actions})});
      phrases.push_back({joined({verb.words, {word("around")}, to}), repeated(joined({turned, verb.actions}), 4)});
    }
  }
  return phrases;
}

std::vector<ScanCommand> all_commands() {
  std::vector<ScanCommand> single;  // once, twice or thrice
  for (const ScanCommand& phrase : verb_phrases()) {
    single.push_back(phrase);
    single.push_back({joined({phrase.words, {word("twice")}}), repeated(phrase.actions, 2)});
    single.push_back({joined({phrase.words, {word("thrice")}}), repeated(phrase.actions, 3)});
  }
  std::vector<ScanCommand> commands = single;
  commands.reserve(single.size() * (1 + 2 * single.size()));
  for (const ScanCommand& first : single) {
    for (const ScanCommand& second : single) {
      commands.push_back({joined({first.words, {word("and")}, second.words}), joined({first.actions, second.actions})});
    }
  }
  for (const ScanCommand& first : single) {
    for (const ScanCommand& second : single) {
      commands.push_back(
          {joined({first.words, {word("after")}, second.words}), joined({second.actions, first.actions})});
    }
  }
  return commands;
}

// Commands with `phrase` are tested, but for the phrase alone, which is a tenth of what is trained.
ScanSets by_phrase(const Tokens& phrase) {
  const std::vector<ScanCommand>& commands = scan_commands();
  ScanSets sets;
  std::uint32_t bare = 0;
  for (std::uint32_t index = 0; index < commands.size(); ++index) {
    const Tokens& words = commands[index].words;
    if (words == phrase) {
      bare = index;
    } else if (std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end()) {
      sets.test.push_back(index);
    } else {
      sets.train.push_back(index);
    }
  }
  sets.train.insert(sets.train.end(), sets.train.size() / 9, bare);
  return sets;
}

ScanSets by_length() {
  const std::vector<ScanCommand>& commands = scan_commands();
  ScanSets sets;
  for (std::uint32_t index = 0; index < commands.size(); ++index) {
    (commands[index].actions.size() <= kLongestTrained ? sets.train : sets.test).push_back(index);
  }
  return sets;
}

ScanSets drawn(std::uint32_t seed) {
  ScanSets sets;
  sets.train = NumpyRandom(seed).permutation(static_cast<std::uint32_t>(scan_commands().size()));
  const auto end = sets.train.begin() + static_cast<std::ptrdiff_t>(sets.train.size() * 4 / 5);
  sets.test.assign(end, sets.train.end());
  sets.train.erase(end, sets.train.end());
  return sets;
}

std::string words_text(const ScanCommand& command) {
  std::string text;
  for (const std::uint8_t token : command.words) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", kScanWords[token]);
  }
  return text;
}

// The commands of a file, by the table that has every line that there can be.
std::vector<std::uint32_t> parse_set(const ScanFile& file,
                                     const std::unordered_map<std::string, std::uint32_t>& known) {
  std::vector<std::uint32_t> set;
  std::size_t line_number = 0;
  for (std::string& line : split_text(file.text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (line.empty()) {
      continue;
    }
    const auto found = known.find(line);
    if (found == known.end()) {
      throw FormatError(
          fmt::format("{}:{}: no line of SCAN, or with actions that its command does not mean: '{}'; a line "
                      "reads 'IN: jump twice OUT: I_JUMP I_JUMP'",
                      file.path, line_number, on_one_line(line.substr(0, 80))));
    }
    set.push_back(found->second);
  }
  if (set.empty()) {
    throw FormatError(fmt::format("{}: has no commands", file.path));
  }
  return set;
}

}  // namespace

const std::vector<ScanCommand>& scan_commands() {
  static const std::vector<ScanCommand> kCommands = all_commands();
  return kCommands;
}

std::string scan_line(const ScanCommand& command) {
  std::string line = fmt::format("IN: {} OUT:", words_text(command));
  for (const std::uint8_t token : command.actions) {
    line += fmt::format(" {}", kScanActions[token]);
  }
  return line;
}

ScanSets scan_sets(ScanSplit split, std::uint32_t seed) {
  switch (split) {
    case ScanSplit::kSimple:
      return drawn(seed);
    case ScanSplit::kLength:
      return by_length();
    case ScanSplit::kJump:
      return by_phrase({word("jump")});
    case ScanSplit::kTurnLeft:
      return by_phrase({word("turn"), word("left")});
  }
  return {};
}

ScanSets parse_scan_sets(const ScanFile& train, const ScanFile& test) {
  const std::vector<ScanCommand>& commands = scan_commands();
  static const std::unordered_map<std::string, std::uint32_t> kKnown = [&] {
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::uint32_t index = 0; index < commands.size(); ++index) {
      known.emplace(scan_line(commands[index]), index);
    }
    return known;
  }();
  ScanSets sets{parse_set(train, kKnown), parse_set(test, kKnown)};
  std::vector<bool> is_trained(commands.size());
  for (const std::uint32_t index : sets.train) {
    is_trained[index] = true;
  }
  for (const std::uint32_t index : sets.test) {
    if (is_trained[index]) {
      throw FormatError(fmt::format("{}: '{}' is in {} too, and what is tested must not be trained", test.path,
                                    words_text(commands[index]), train.path));
    }
  }
  return sets;
}

ScanSets read_scan_sets(const std::string& train_path, const std::string& test_path) {
  return parse_scan_sets({train_path, io::read_file(train_path, kMaxScanBytes)},
                         {test_path, io::read_file(test_path, kMaxScanBytes)});
}

}  // namespace modlab::tasks

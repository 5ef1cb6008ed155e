#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

std::string normalised(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const Option* find_option(std::span<const Option> options, const std::string& name) {
  for (const Option& option : options) {
    const bool is_letter_for_help = name == "h" && option.name == "help";
    if (normalised(option.name) == name || is_letter_for_help ||
        std::ranges::any_of(option.aliases, [&](const std::string& alias) { return normalised(alias) == name; })) {
      return &option;
    }
  }
  return nullptr;
}

bool is_option(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

// "-o": the alias "o" of some option; "-h" is --help.
bool is_short_option(const std::string& word, std::span<const Option> options) {
  return word.size() == 2 && word[0] == '-' && find_option(options, word.substr(1)) != nullptr;
}

}  // namespace

Arguments::Arguments(std::span<const std::string> words, std::span<const Option> options) {
  std::vector<std::string> known;
  for (const Option& option : options) {
    known.push_back("--" + normalised(option.name));
  }
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool is_short = is_short_option(words[at], options);
    if (!is_option(words[at]) && !is_short) {
      positional_.push_back(words[at]);
      continue;
    }
    const std::string word = words[at].substr(is_short ? 1 : 2);
    const std::size_t equals = word.find('=');
    const std::string given = word.substr(0, equals);
    const Option* option = find_option(options, normalised(given));
    if (option == nullptr) {
      throw ConfigError(fmt::format("unknown setting '--{}'{}", given, did_you_mean("--" + normalised(given), known)));
    }
    std::vector<std::string>& values = values_[option->name];
    values.clear();
    given_as_[option->name] = given;
    if (equals != std::string::npos) {
      if (option->arity == Arity::kFlag) {
        throw ConfigError(fmt::format("--{} takes no value", given));
      }
      values.push_back(word.substr(equals + 1));
      continue;
    }
    const auto next_is_value = [&] {
      return at + 1 < words.size() && !is_option(words[at + 1]) && !is_short_option(words[at + 1], options);
    };
    switch (option->arity) {
      case Arity::kFlag:
        break;
      case Arity::kSwitch:
        if (next_is_value() && parse_truth(words[at + 1])) {
          values.push_back(words[++at]);
        }
        break;
      case Arity::kOptional:
        if (next_is_value()) {
          values.push_back(words[++at]);
        }
        break;
      case Arity::kOne:
        if (!next_is_value()) {
          throw ConfigError(fmt::format("--{} needs a value", given));
        }
        values.push_back(words[++at]);
        break;
      case Arity::kMany:
        if (!next_is_value()) {
          throw ConfigError(fmt::format("--{} needs a value", given));
        }
        while (next_is_value()) {
          values.push_back(words[++at]);
        }
        break;
    }
  }
}

const std::vector<std::string>& Arguments::words(const std::string& name) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  const std::vector<std::string>& given = words(name);
  return given.empty() ? otherwise : given.back();
}

bool Arguments::is_on(const std::string& name) const {
  if (!has(name) || words(name).empty()) {
    return has(name);
  }
  const std::string& word = words(name).back();
  const std::optional<bool> value = parse_truth(word);
  if (!value) {
    throw ConfigError(fmt::format("--{} takes true or false, not '{}'", given_as(name), word));
  }
  return *value;
}

std::string Arguments::given_as(const std::string& name) const {
  const auto found = given_as_.find(name);
  return found == given_as_.end() ? name : found->second;
}

std::string describe_options(std::span<const Option> options) {
  const auto left_side = [](const Option& option) {
    const std::string name = "--" + normalised(option.name);
    return option.value.empty() ? name : name + " " + option.value;
  };
  std::size_t width = 0;
  for (const Option& option : options) {
    width = std::max(width, left_side(option).size());
  }
  std::string text;
  for (const Option& option : options) {
    text += fmt::format("  {:<{}}  {}\n", left_side(option), width, option.help);
  }
  return text;
}

}  // namespace modlab::cli

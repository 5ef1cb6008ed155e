#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::settings {

inline constexpr int kMaxWidth = 4096;  // of a layer, a pool, a fan-in

// A setting's value from what a user wrote. They throw ConfigError, which names the setting and says what is allowed.
double read_real(const char* name, const std::string& text, double low, double high, const char* allowed);
long long read_integer(const char* name, const std::string& text, long long low, long long high, const char* allowed);
double read_rate(const char* name, const std::string& text);
bool read_truth(const char* name, const std::string& text);
std::vector<int> read_sizes(const char* name, const std::string& text);
std::vector<std::string> read_files(const char* name, const std::string& text);

// The words of an enumeration. Later words for the same value are aliases.
template <typename Value>
struct Word {
  const char* text;
  Value value;
};

template <typename Value, std::size_t kCount>
Value read_word(const char* name, const std::string& text, const Word<Value> (&words)[kCount]) {
  std::vector<std::string> known;
  for (const Word<Value>& word : words) {
    if (text == word.text) {
      return word.value;
    }
    known.emplace_back(word.text);
  }
  const std::string nearest = did_you_mean(text, known);
  throw ConfigError(fmt::format("unknown {} '{}'{}", name, text,
                                nearest.empty() ? "; it is one of " + join_text(known, ", ") : nearest));
}

template <typename Value, std::size_t kCount>
const char* word_for(Value value, const Word<Value> (&words)[kCount]) {
  for (const Word<Value>& word : words) {
    if (word.value == value) {
      return word.text;
    }
  }
  return "";
}

}  // namespace modlab::settings

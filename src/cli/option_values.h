#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {

// An option that takes a whole number within bounds.
long long whole_number(const Arguments& arguments, const char* name, long long otherwise, long long least,
                       long long most);

// An option that takes one of a few words, each with its meaning.
template <typename Value>
Value one_of(const Arguments& arguments, const char* name, const std::string& otherwise,
             const std::vector<std::pair<std::string, Value>>& known) {
  const std::string text = arguments.text(name, otherwise);
  std::vector<std::string> names;
  for (const auto& [word, value] : known) {
    if (word == text) {
      return value;
    }
    names.push_back(word);
  }
  throw ConfigError(
      fmt::format("--{} is one of {}, not '{}'{}", name, join_text(names, ", "), text, did_you_mean(text, names)));
}

}  // namespace modlab::cli

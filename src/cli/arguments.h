#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace modlab::cli {

// How many words may follow an option: none; exactly one; any number up to the next option; none or one truth word
// (`--json`, `--json false`); none or one word (`--help`, `--help all`).
enum class Arity { kFlag, kOne, kMany, kSwitch, kOptional };

struct Option {
  std::string name;  // without dashes
  Arity arity = Arity::kOne;
  std::string value;  // what help calls the value
  std::string help;
  std::vector<std::string>
      aliases;  // further names that are understood but not advertised; of one letter also after one dash
};

// A command line taken apart. Dashes and underscores in option names are the same; `--name=value` works too.
class Arguments {
 public:
  Arguments(std::span<const std::string> words, std::span<const Option> options);

  bool has(const std::string& name) const { return values_.contains(name); }
  // The words after the option, of the last one if it is repeated; empty if it was not given.
  const std::vector<std::string>& words(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  bool is_on(const std::string& name) const;
  // The name under which the option was given, for messages.
  std::string given_as(const std::string& name) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, std::string> given_as_;
  std::vector<std::string> positional_;
};

// The option list as help text, one option a line, aligned.
std::string describe_options(std::span<const Option> options);

}  // namespace modlab::cli

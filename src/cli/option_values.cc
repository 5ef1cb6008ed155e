#include "cli/option_values.h"

#include <optional>

namespace modlab::cli {

long long whole_number(const Arguments& arguments, const char* name, long long otherwise, long long least,
                       long long most) {
  const std::string text = arguments.text(name, std::to_string(otherwise));
  const std::optional<long long> value = parse_integer(text);
  if (!value || *value < least || *value > most) {
    throw ConfigError(fmt::format("--{} takes a whole number from {} to {}, not '{}'", name, least, most, text));
  }
  return *value;
}

}  // namespace modlab::cli

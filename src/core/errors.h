#pragma once

#include <stdexcept>
#include <string>

#include "core/text.h"

namespace modlab {

// What a user can put right. The message is one sentence that names the place and the way out; the program prints it
// and ends with exit code 2.
class UserError : public std::runtime_error {
 public:
  // Names that a file brings along may contain anything.
  explicit UserError(const std::string& message) : std::runtime_error(on_one_line(message)) {}
};

// A setting, a task or a command line that asks for something impossible.
class ConfigError : public UserError {
 public:
  using UserError::UserError;
};

// A file that is missing, damaged, or not what its name promises; also one that cannot be written.
class FormatError : public UserError {
 public:
  using UserError::UserError;
};

// The person asked to stop (Ctrl-C). The message says how much is done.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace modlab

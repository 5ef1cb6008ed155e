#pragma once

#include <string_view>
#include <system_error>

namespace modlab::cli {

// Writes on standard error. A terminal that went away or a full disk changes nothing: what is said there is not worth
// the work that it is said of.
void say(std::string_view text);

// Whatever was printed is on its way. Throws FormatError if standard output cannot be written; a pipe that nobody reads
// any more ends the program as it ends others.
void flush_output();
// Does the same if what was thrown comes from printing; otherwise nothing.
void blame_output(const std::system_error& error);

}  // namespace modlab::cli

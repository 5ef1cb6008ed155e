#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace modlab::cli {

// Columns of the terminal that a stream goes to, or what COLUMNS says; 0 where nobody knows.
std::size_t terminal_width(std::FILE* stream);

// Help for a terminal of `width` columns (40 at least; 0 is as many as one likes), which is as it is where that is
// enough: paragraphs, and lines that begin with blanks, which are commands (`modlab ...`) or entries with an
// explanation to their right.
std::string fit_help(const std::string& text, std::size_t width);

// Help on standard output, as wide as it is.
template <typename... Values>
void print_help(fmt::format_string<Values...> form, Values&&... values) {
  fmt::print("{}", fit_help(fmt::format(form, std::forward<Values>(values)...), terminal_width(stdout)));
}

// One line of a progress bar, which gives way first if there is little room. `width` 0 is as much as one likes.
std::string progress_line(double share, const std::string& text, std::size_t width);

}  // namespace modlab::cli

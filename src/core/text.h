#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modlab {

// The word of `known` nearest to `word` by edit distance, if any is near enough to be a likely misspelling.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

// "; did you mean 'x'?" or an empty string: the end of a message about an unknown name.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

std::vector<std::string> split_text(std::string_view text, char separator);
std::string join_text(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// The whole of `text` as a number, or nothing.
std::optional<double> parse_real(std::string_view text);
std::optional<long long> parse_integer(std::string_view text);

// "true", "on", "yes", "1" and their opposites, in any case; or nothing.
std::optional<bool> parse_truth(std::string_view text);

// "1 split", "3 splits".
std::string counted(long long count, std::string_view what);

// Text from outside as it may be shown: what is not UTF-8, and every control character but the ends of lines and tabs,
// becomes U+FFFD. A terminal would obey them, and XML and JSON forbid them.
std::string printable(std::string_view text);
bool is_printable(std::string_view text);
// The same on one line.
std::string on_one_line(std::string_view text);

// "42 s", "3 min 05 s", "2 h 07 min"; of any number, since a clock may jump.
std::string duration_text(double seconds);
// "12 a second", or "3.5 s each" where it is less than one.
std::string rate_text(double count, double seconds);

}  // namespace modlab

#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

namespace modlab {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t row = 1; row <= a.size(); ++row) {
    current[0] = row;
    for (std::size_t column = 1; column <= b.size(); ++column) {
      const std::size_t substituted = previous[column - 1] + (a[row - 1] == b[column - 1] ? 0 : 1);
      current[column] = std::min({previous[column] + 1, current[column - 1] + 1, substituted});
    }
    std::swap(previous, current);
  }
  return previous[b.size()];
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// How many bytes the character at the beginning of `text` has that may be shown; 0 if there is none.
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    return (lead >= ' ' && lead != 0x7f) || lead == '\n' || lead == '\t' ? 1 : 0;
  }
  const std::size_t count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  unsigned code = lead & (0xffU >> (count + 1));
  for (std::size_t at = 1; at < count; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) {
      return 0;
    }
    code = code << 6U | (byte(at) & 0x3fU);
  }
  // Below come overlong forms, and below U+00A0 more control characters.
  constexpr unsigned kFirst[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool is_character =
      lead >= 0xc2 && lead <= 0xf4 && code >= kFirst[count] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return is_character ? count : 0;
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  std::optional<std::string> best;
  // A third of the letters may be wrong: enough for typing errors, too few for unrelated words.
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // Every letter more or less is an edit. A file may have a word of a million letters, and comparing takes long.
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) >= best_distance) {
      continue;
    }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::optional<std::string> nearest = nearest_word(word, known);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

std::string join_text(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (std::size_t index = 0; index < parts.size(); ++index) {
    joined += index == 0 ? std::string_view() : separator;
    joined += parts[index];
  }
  return joined;
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<long long> parse_integer(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<bool> parse_truth(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (lower == "true" || lower == "on" || lower == "yes" || lower == "1") {
    return true;
  }
  if (lower == "false" || lower == "off" || lower == "no" || lower == "0") {
    return false;
  }
  return std::nullopt;
}

std::string counted(long long count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t count = shown_bytes(text);
    shown += count > 0 ? text.substr(0, count) : kReplacement;
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  return shown;
}

bool is_printable(std::string_view text) { return printable(text) == text; }

std::string on_one_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace_if(
      line, [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return line;
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e8;
  if (!(seconds < kLongest)) {
    return "more than three years";
  }
  if (seconds < 60) {
    return fmt::format("{:.0f} s", std::max(seconds, 0.0));
  }
  const int minutes = static_cast<int>(seconds / 60);
  return minutes < 60 ? fmt::format("{} min {:02.0f} s", minutes, seconds - 60.0 * minutes)
                      : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string rate_text(double count, double seconds) {
  return count >= seconds ? fmt::format("{:.0f} a second", count / seconds)
                          : fmt::format("{:.1f} s each", seconds / count);
}

}  // namespace modlab

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/text.h"

namespace modlab::cli {
namespace {

constexpr std::size_t kMaxBar = 28;
constexpr std::size_t kMinBar = 6;
constexpr std::size_t kLeastRoom = 24;  // for an explanation beside its entry

// Words, those that are longer than a line in pieces, which end with a comma where there is one.
std::vector<std::string> breakable(const std::string& text, std::size_t room) {
  std::vector<std::string> pieces;
  for (std::string word : split_text(text, ' ')) {
    while (word.size() > room) {
      const std::size_t comma = word.rfind(',', room - 1);
      const std::size_t length = comma == std::string::npos ? room : comma + 1;
      pieces.push_back(word.substr(0, length));
      word.erase(0, length);
    }
    if (!word.empty()) {
      pieces.push_back(word);
    }
  }
  return pieces;
}

// Words after `start`, on lines that go on at column `hang`; `more` ends those that do.
std::string wrapped(std::string start, const std::string& words, std::size_t hang, std::size_t width,
                    const std::string& more = "") {
  std::string text;
  std::string line = std::move(start);
  bool is_empty = line.find_first_not_of(' ') == std::string::npos;
  for (const std::string& word : breakable(words, width - hang - more.size())) {
    if (!is_empty && line.size() + 1 + word.size() + more.size() > width) {
      text += line + more + "\n";
      line = std::string(hang, ' ');
      is_empty = true;
    }
    line += (is_empty || line.ends_with(' ') ? "" : " ") + word;
    is_empty = false;
  }
  return text + line + "\n";
}

std::string fit_entry(const std::string& line, std::size_t width) {
  if (line.size() <= width) {
    return line + "\n";
  }
  const std::size_t indent = line.find_first_not_of(' ');
  const std::string body = line.substr(indent);
  if (body.starts_with("modlab ")) {
    return wrapped(std::string(indent, ' '), body, indent + 4, width, " \\");
  }
  const std::size_t gap = body.find("  ");
  if (gap == std::string::npos) {
    return wrapped(std::string(indent, ' '), body, indent + 2, width);
  }
  const std::size_t column = indent + body.find_first_not_of(' ', gap);
  if (column + kLeastRoom <= width) {
    return wrapped(line.substr(0, column), line.substr(column), column, width);
  }
  return line.substr(0, indent + gap) + "\n" +
         wrapped(std::string(indent + 4, ' '), line.substr(column), indent + 4, width);
}

}  // namespace

std::size_t terminal_width(std::FILE* stream) {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const std::optional<long long> width = parse_integer(columns); width && *width > 0) {
      return static_cast<std::size_t>(*width);
    }
  }
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string fit_help(const std::string& text, std::size_t width) {
  constexpr std::size_t kLeastWidth = 40;  // fewer columns are not worth the trouble
  const std::size_t columns = std::max(width, kLeastWidth);
  const std::vector<std::string> lines = split_text(text, '\n');
  if (width == 0 || std::ranges::all_of(lines, [&](const std::string& line) { return line.size() <= columns; })) {
    return text;
  }
  std::string fitted;
  std::string paragraph;
  const auto end_paragraph = [&] {
    fitted += paragraph.empty() ? "" : wrapped("", paragraph, 0, columns);
    paragraph.clear();
  };
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string& line = lines[at];
    if (!line.empty() && line.front() != ' ') {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    if (!line.empty()) {
      fitted += fit_entry(line, columns);
    } else if (at + 1 < lines.size()) {
      fitted += "\n";
    }
  }
  end_paragraph();
  return fitted;
}

std::string progress_line(double share, const std::string& text, std::size_t width) {
  const std::string numbers = fmt::format("{:3.0f} %  {}", 100 * share, text);
  // The last column stays empty: some terminals go on to the next line with it.
  const std::size_t room = width == 0 ? numbers.size() + 1 + kMaxBar : width - 1;
  if (room < numbers.size() + 1 + kMinBar) {
    return numbers.substr(0, room);
  }
  const std::size_t cells = std::min(kMaxBar, room - numbers.size() - 1);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string bar;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    bar += cell < filled ? "█" : "░";
  }
  return bar + " " + numbers;
}

}  // namespace modlab::cli

#include "io/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::io {
namespace {

std::vector<std::string> split_cells(std::string_view line, char separator) {
  std::vector<std::string> cells = split_text(line, separator);
  for (std::string& cell : cells) {
    std::string_view bare = trim(cell);
    if (bare.size() >= 2 && bare.front() == '"' && bare.back() == '"') {
      bare = trim(bare.substr(1, bare.size() - 2));
    }
    cell = std::string(bare);
  }
  return cells;
}

char separator_of(std::string_view header) {
  const std::size_t found = header.find_first_of(",;\t");
  return found == std::string_view::npos ? ',' : header[found];
}

}  // namespace

Csv parse_csv(const std::string& text, const std::string& source, std::size_t max_rows, std::size_t max_columns) {
  Csv csv;
  char separator = ',';
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) {
    rest.remove_prefix(kByteOrderMark.size());
  }
  for (int line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (csv.header.empty()) {
      separator = separator_of(line);
      const auto columns = static_cast<std::size_t>(std::ranges::count(line, separator)) + 1;
      if (columns > max_columns) {
        throw FormatError(
            fmt::format("{}:{}: {} columns; at most {} are possible here", source, line_number, columns, max_columns));
      }
      csv.header = split_cells(line, separator);
      continue;
    }
    const auto cells = static_cast<std::size_t>(std::ranges::count(line, separator)) + 1;
    if (cells != csv.header.size()) {
      throw FormatError(fmt::format("{}:{}: {} cells where the header has {}; give every column a value", source,
                                    line_number, cells, csv.header.size()));
    }
    if (csv.rows.size() == max_rows) {
      throw FormatError(
          fmt::format("{}:{}: more than {} rows; remove what is too much", source, line_number, max_rows));
    }
    csv.rows.push_back({line_number, split_cells(line, separator)});
  }
  if (csv.header.empty()) {
    throw FormatError(fmt::format("{}: no header; the first line names the columns", source));
  }
  return csv;
}

std::string csv_cell(const std::string& text) {
  const bool is_formula = text.find_first_of("=+-@\t\r") == 0 && !parse_real(text);
  std::string harmless = is_formula ? "'" + text : text;
  if (harmless.find_first_of(",\"\n\r") == std::string::npos) {
    return harmless;
  }
  std::string quoted = "\"";
  for (const char letter : harmless) {
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  }
  return quoted + "\"";
}

std::string csv_cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

}  // namespace modlab::io

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace modlab::io {

// What some programs put before the first letter of a text in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct CsvRow {
  int line = 0;  // in the file, from 1
  std::vector<std::string> cells;
};

// A table with a header. Every row has as many cells as the header.
struct Csv {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
};

// Cells are separated by commas, semicolons or tabs, whichever the header uses, trimmed, and freed of quotes around
// them; a cell may not contain a separator. Blank lines, lines that start with '#' and a byte order mark are passed
// over. Throws FormatError, naming `source` and the line, on ragged rows and on more than `max_rows` rows or
// `max_columns` columns.
Csv parse_csv(const std::string& text, const std::string& source, std::size_t max_rows, std::size_t max_columns);

// A text as a cell of a table: in quotes where it has to be, and with an apostrophe in front where a spreadsheet would
// take it for a formula. Numbers stay as they are.
std::string csv_cell(const std::string& text);
// A number as one; empty where it is not a number.
std::string csv_cell(double value);

}  // namespace modlab::io

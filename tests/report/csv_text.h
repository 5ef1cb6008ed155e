#pragma once

#include <map>
#include <string>
#include <vector>

namespace modlab::test {

// CSV as spreadsheets read it (RFC 4180): rows of fields, quotes taken off.
inline std::vector<std::vector<std::string>> csv_fields(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  bool quoted = false;
  bool at_start = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at_start) {
      rows.push_back({""});
      at_start = false;
    }
    std::string& field = rows.back().back();
    const char letter = text[at];
    if (quoted) {
      if (letter != '"') {
        field += letter;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        field += text[++at];
      } else {
        quoted = false;
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == ',') {
      rows.back().emplace_back();
    } else if (letter == '\n') {
      at_start = true;
    } else {
      field += letter;
    }
  }
  return rows;
}

using CsvRow = std::map<std::string, std::string>;

// The rows below the header, by the names of their columns; a row with another number of fields is left out.
inline std::vector<CsvRow> csv_rows(const std::string& text) {
  const std::vector<std::vector<std::string>> fields = csv_fields(text);
  std::vector<CsvRow> rows;
  for (std::size_t row = 1; row < fields.size(); ++row) {
    if (fields[row].size() == fields[0].size()) {
      CsvRow& named = rows.emplace_back();
      for (std::size_t column = 0; column < fields[0].size(); ++column) {
        named[fields[0][column]] = fields[row][column];
      }
    }
  }
  return rows;
}

}  // namespace modlab::test

#include "report/epoch_table.h"

#include <algorithm>

#include "core/text.h"

namespace modlab::report {

EpochTable::EpochTable(const std::string& csv) {
  rows_ = split_text(csv, '\n');
  if (!rows_.empty() && rows_.back().empty()) {
    rows_.pop_back();
  }
  if (!rows_.empty()) {
    names_ = split_text(rows_.front(), ',');
    rows_.erase(rows_.begin());
  }
}

void EpochTable::add_names(std::vector<std::string>& columns) const {
  std::ranges::copy_if(names_, std::back_inserter(columns),
                       [&](const std::string& name) { return std::ranges::find(columns, name) == columns.end(); });
}

std::string EpochTable::lines(const std::string& start, const std::vector<std::string>& columns) const {
  std::string text;
  for (const std::string& row : rows_) {
    text += start;
    if (columns == names_) {
      text += "," + row;
    } else {
      const std::vector<std::string> cells = split_text(row, ',');
      for (const std::string& column : columns) {
        const auto found = std::ranges::find(names_, column);
        text += "," + (found == names_.end() ? "" : cells[static_cast<std::size_t>(found - names_.begin())]);
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace modlab::report

#pragma once

#include <string>
#include <vector>

namespace modlab::report {

// What a kind knows of a run after every epoch: CSV with a header.
class EpochTable {
 public:
  explicit EpochTable(const std::string& csv);

  // Its columns, behind those that are there already.
  void add_names(std::vector<std::string>& columns) const;
  // Its rows with these columns, each behind `start`; what the run does not have stays empty.
  std::string lines(const std::string& start, const std::vector<std::string>& columns) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> rows_;
};

}  // namespace modlab::report

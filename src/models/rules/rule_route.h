#pragma once

#include <span>
#include <vector>

#include "models/rules/rule_samples.h"
#include "models/rules/rule_shape.h"

namespace modlab::models {

// The module that answers each row where no score decides.
class RuleRoute {
 public:
  explicit RuleRoute(const RuleShape& shape);

  std::span<const int> find(const RuleBatch& batch);
  // Those found last, by row.
  int operator[](int row) const { return modules_[static_cast<std::size_t>(row)]; }

 private:
  int module_count_;
  OracleKind kind_;
  std::uint64_t seed_;
  std::vector<int> of_rule_;
  std::vector<int> modules_;  // [row]
};

}  // namespace modlab::models

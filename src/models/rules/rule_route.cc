#include "models/rules/rule_route.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace modlab::models {

RuleRoute::RuleRoute(const RuleShape& shape)
    : module_count_(shape.modules),
      kind_(shape.gates.oracle),
      seed_(shape.gates.seed),
      of_rule_(static_cast<std::size_t>(shape.rules)) {
  std::iota(of_rule_.begin(), of_rule_.end(), 0);
  if (kind_ == OracleKind::kPermuted) {
    RandomSequence random(seed_, Stream::kRoutes);
    for (std::size_t left = of_rule_.size(); left > 1; --left) {
      std::swap(of_rule_[left - 1],
                of_rule_[static_cast<std::size_t>((std::uint64_t{random.next_word()} * left) >> 32U)]);
    }
  }
  for (int& module : of_rule_) {
    module %= module_count_;
  }
}

std::span<const int> RuleRoute::find(const RuleBatch& batch) {
  modules_.resize(static_cast<std::size_t>(batch.rows()));
  const Words4 key = stream_key(seed_, Stream::kRoutes);
  Words4 words{};
  for (std::size_t row = 0; row < modules_.size(); ++row) {
    if (kind_ != OracleKind::kRandom) {
      modules_[row] = of_rule_[batch.rules[row]];
      continue;
    }
    if (row % 4 == 0) {
      words =
          threefry({static_cast<std::uint32_t>(row / 4), batch.step, static_cast<std::uint32_t>(batch.use), 1}, key);
    }
    modules_[row] =
        static_cast<int>((std::uint64_t{words[row % 4]} * static_cast<std::uint64_t>(module_count_)) >> 32U);
  }
  return modules_;
}

}  // namespace modlab::models

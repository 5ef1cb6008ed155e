#include "measures/pool_use.h"

#include <algorithm>

namespace modlab::measures {
namespace {

// The gates of one task, with the members that serve them.
std::vector<PoolUse::Served> served_gates(int task, const std::vector<std::vector<int>>& operations,
                                          const tasks::Routing& routing, const InSitu& in_situ) {
  std::vector<PoolUse::Served> gates;
  for (std::size_t level = 0; level < operations.size(); ++level) {
    for (std::size_t gate = 0; gate < operations[level].size(); ++gate) {
      PoolUse::Served served{task, static_cast<int>(level), static_cast<int>(gate), operations[level][gate], -1};
      if (level < in_situ.matching.size()) {
        const std::vector<int>& matching = in_situ.matching[level];
        const auto slot = std::ranges::find(matching, static_cast<int>(gate)) - matching.begin();
        if (slot < static_cast<std::ptrdiff_t>(matching.size())) {
          served.member = routing.modules[level][static_cast<std::size_t>(slot)];
        }
      }
      gates.push_back(served);
    }
  }
  return gates;
}

}  // namespace

std::optional<PoolUse> pool_use(const ModularView& view, const tasks::TaskSuite& suite,
                                const std::vector<InSitu>& in_situ) {
  if (view.shape.pool == 0 || in_situ.size() != suite.tasks.size()) {
    return std::nullopt;
  }
  std::vector<std::string> operations = tasks::true_pool(suite);
  const std::vector<std::vector<std::vector<int>>> true_members = tasks::true_members(suite);
  const auto pool = static_cast<std::size_t>(view.shape.pool);
  std::vector<double> counts(operations.size() * pool);
  std::vector<bool> has_slot(operations.size());
  std::vector<PoolUse::Served> gates;
  for (std::size_t task = 0; task < suite.tasks.size(); ++task) {
    for (const PoolUse::Served& served :
         served_gates(static_cast<int>(task), true_members[task], view.routings[task], in_situ[task])) {
      gates.push_back(served);
      if (served.member >= 0) {
        const auto operation = static_cast<std::size_t>(served.operation);
        counts[operation * pool + static_cast<std::size_t>(served.member)] += 1;
        has_slot[operation] = true;
      }
    }
  }
  if (operations.empty() || std::ranges::find(has_slot, false) != has_slot.end()) {
    return std::nullopt;
  }
  ModuleUse use(static_cast<int>(operations.size()), view.shape.pool, std::move(counts));
  return PoolUse{std::move(operations), std::move(gates), std::move(use)};
}

}  // namespace modlab::measures

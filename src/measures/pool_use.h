#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measures/modular_view.h"
#include "measures/module_use.h"

namespace modlab::measures {

// Which member of a shared pool serves which gate. What rules are to a mixture, operations (XOR, AND) are to a pool: it
// is there because they repeat, and the true pool has one member for each. So a gate counts by its operation and not by
// its place, and a pool of the true size that uses each member for one operation scores 0 in all measures.
struct PoolUse {
  struct Served {
    int task = 0;
    int level = 0;
    int gate = 0;       // of the level
    int operation = 0;  // index into `operations`
    int member = -1;    // of the pool, selected by the slot that is matched with the gate; -1: there is no such slot
  };
  std::vector<std::string> operations;
  std::vector<Served> gates;
  ModuleUse use;  // operations by members, gates with a slot counting the same
};

// `in_situ` has the matching of slots with gates, for each task. A slot that is matched with no gate does not count.
// Nothing without a pool, and where an operation has no slot at all.
std::optional<PoolUse> pool_use(const ModularView& view, const tasks::TaskSuite& suite,
                                const std::vector<InSitu>& in_situ);

}  // namespace modlab::measures

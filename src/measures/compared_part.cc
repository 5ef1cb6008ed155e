#include "measures/compared_part.h"

#include <algorithm>

#include "measures/matching.h"

namespace modlab::measures {
namespace {

// Whether some level has more slots than gates, and modules that may read more than a gate needs.
bool has_free_reads(const Wiring& learned, const Wiring& truth) {
  const std::size_t levels = std::min(learned.levels.size(), truth.levels.size());
  for (std::size_t level = 1; level < levels; ++level) {
    const bool has_surplus = learned.levels[level - 1].size() > truth.levels[level - 1].size();
    const auto reads_more = [&](const Wiring::Node& slot) {
      return std::ranges::any_of(truth.levels[level],
                                 [&](const Wiring::Node& gate) { return needless(slot, gate) > 0; });
    };
    if (has_surplus && std::ranges::any_of(learned.levels[level], reads_more)) {
      return true;
    }
  }
  return false;
}

// Without what modules read beyond the needs of their gates from slots that stand for no gate.
Wiring without_free_reads(Wiring learned, const Wiring& truth, const std::vector<std::vector<int>>& gates) {
  for (std::size_t level = 1; level < std::min(learned.levels.size(), truth.levels.size()); ++level) {
    for (std::size_t slot = 0; slot < learned.levels[level].size(); ++slot) {
      if (gates[level][slot] >= 0) {
        Wiring::Node& node = learned.levels[level][slot];
        int free = needless(node, truth.levels[level][gates[level][slot]]);
        std::erase_if(node.reads, [&](int read) { return gates[level - 1][read] < 0 && free-- > 0; });
      }
    }
  }
  return learned;
}

}  // namespace

ComparedPart compared_part(const tasks::Routing& routing, const Wiring& truth, bool has_other_tasks) {
  const Wiring all = wiring_of(routing, truth.inputs);
  ComparedPart part{nodes_in_use(all), all};
  if (!has_other_tasks) {
    for (std::vector<bool>& level : part.kept) {
      level.assign(level.size(), true);
    }
    return part;
  }
  part.wiring = part_of(all, part.kept);
  if (has_free_reads(part.wiring, truth)) {
    const Matching matching = best_matching(part.wiring, truth);
    const Wiring needed = without_free_reads(all, truth, gates_of_all(matching.gates, part.kept));
    part.kept = nodes_in_use(needed);
    part.wiring = part_of(needed, part.kept);
  }
  return part;
}

std::vector<std::vector<int>> gates_of_all(const std::vector<std::vector<int>>& gates,
                                           const std::vector<std::vector<bool>>& kept) {
  std::vector<std::vector<int>> all;
  for (std::size_t level = 0; level < kept.size(); ++level) {
    std::size_t next = 0;
    all.emplace_back();
    for (const bool keeps : kept[level]) {
      all.back().push_back(keeps ? gates[level][next++] : -1);
    }
  }
  return all;
}

}  // namespace modlab::measures

#include "models/grid.h"

#include <fmt/format.h>

#include <unordered_set>

#include "core/errors.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMaxRuns = 5'000'000;

}  // namespace

std::vector<RunSpec> all_combinations(const std::vector<Choices>& choices) {
  std::size_t count = 1;
  for (const Choices& choice : choices) {
    if (choice.values.empty()) {
      return {};
    }
    if (choice.values.size() > kMaxRuns / count) {
      throw ConfigError(fmt::format("these settings multiply to more than {} runs; split them up", kMaxRuns));
    }
    count *= choice.values.size();
  }
  std::unordered_set<std::string> seen;
  std::vector<RunSpec> runs;
  std::vector<std::size_t> at(choices.size(), 0);
  for (std::size_t index = 0; index < count; ++index) {
    RunSpec spec;
    for (std::size_t choice = 0; choice < choices.size(); ++choice) {
      choices[choice].setting->set(spec, choices[choice].values[at[choice]]);
    }
    // Equal names are equal runs.
    if (seen.insert(run_id(spec)).second) {
      runs.push_back(std::move(spec));
    }
    for (std::size_t choice = choices.size(); choice-- > 0;) {
      if (++at[choice] < choices[choice].values.size()) {
        break;
      }
      at[choice] = 0;
    }
  }
  return runs;
}

}  // namespace modlab::models

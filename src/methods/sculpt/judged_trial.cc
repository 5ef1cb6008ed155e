#include "methods/sculpt/judged_trial.h"

#include <algorithm>

namespace modlab::methods {

double JudgedTrial::share_of(int count) const {
  return networks.empty() ? 0 : static_cast<double>(count) / static_cast<double>(networks.size());
}

std::optional<double> JudgedTrial::success() const {
  int successes = 0;
  for (const JudgedNetwork& network : networks) {
    if (!network.success) {
      return std::nullopt;
    }
    successes += *network.success ? 1 : 0;
  }
  return share_of(successes);
}

std::optional<double> JudgedTrial::meets(const std::string& criterion) const {
  int successes = 0;
  for (const JudgedNetwork& network : networks) {
    const auto found = std::ranges::find(network.criteria, criterion, &Criterion::name);
    if (found == network.criteria.end()) {
      return std::nullopt;
    }
    successes += found->met ? 1 : 0;
  }
  return share_of(successes);
}

std::optional<double> JudgedTrial::success_as_in_tables(const tasks::Task& task) const {
  int successes = 0;
  for (const JudgedNetwork& network : networks) {
    const std::optional<bool> success = is_success(network.detection, task, OneHiddenLayer::kAsInTables);
    if (!success) {
      return std::nullopt;
    }
    successes += *success ? 1 : 0;
  }
  return share_of(successes);
}

JudgedTrial judge(const TrialOutcome& outcome, const tasks::Task& task, const DetectSettings& settings) {
  JudgedTrial judged;
  for (const SculptedNetwork& winner : outcome.winners) {
    JudgedNetwork& network = judged.networks.emplace_back();
    network.network = to_layered(winner.network);
    network.detection = detect(network.network, settings);
    network.criteria = criteria(network.detection, task);
    network.success = is_success(network.detection, task);
  }
  return judged;
}

}  // namespace modlab::methods

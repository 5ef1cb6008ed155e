#include "studies/run_sculpted.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <unordered_map>

#include "models/settings.h"
#include "studies/finish_sculpted.h"

namespace modlab::studies {
namespace {

// Runs that differ only in how modules are looked for share one training and pruning.
class Carvings {
 public:
  explicit Carvings(std::span<const models::RunSpec> runs) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const auto [found, is_new] = known.emplace(carving_id(runs[run]), different_.size());
      if (is_new) {
        different_.push_back(runs[run]);
        runs_.emplace_back();
      }
      runs_[found->second].push_back(run);
    }
  }

  const std::vector<models::RunSpec>& different() const { return different_; }
  const std::vector<std::size_t>& runs_of(std::size_t carving) const { return runs_[carving]; }

 private:
  std::vector<models::RunSpec> different_;
  std::vector<std::vector<std::size_t>> runs_;
};

}  // namespace

void run_sculpted(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                  int threads, const engine::Kernels<float>& kernels, methods::SculptProgress& progress, Store& store) {
  const Carvings carvings(runs);
  methods::sculpt_networks(carvings.different(), suites, threads, kernels, progress,
                           [&](std::size_t carving, const methods::SculptResult& result) {
                             std::vector<FinishedRun> finished;
                             for (const std::size_t run : carvings.runs_of(carving)) {
                               finished.push_back(finish_sculpted(runs[run], suites.at(runs[run].task), result));
                             }
                             store.add(finished);
                           });
}

std::string carving_id(const models::RunSpec& run) {
  models::RunSpec carved = run;
  carved.detect = {};
  return models::run_id(carved);
}

std::size_t different_carvings(std::span<const models::RunSpec> runs) { return Carvings(runs).different().size(); }

double estimate_sculpted_seconds(std::span<const models::RunSpec> all_runs,
                                 const std::map<std::string, tasks::TaskSuite>& suites, int threads,
                                 const engine::Kernels<float>& kernels) {
  constexpr std::size_t kStrata = 5;
  const Carvings carvings(all_runs);
  const std::vector<models::RunSpec>& runs = carvings.different();
  // Runs by what a pass over their table costs, cut into strata of which the middle one speaks for all.
  std::vector<std::pair<double, const models::RunSpec*>> by_cost;
  for (const models::RunSpec& run : runs) {
    const double widest = static_cast<double>(std::accumulate(run.hidden.begin(), run.hidden.end(), 0));
    by_cost.emplace_back(widest * widest * (1 << suites.at(run.task).inputs()), &run);
  }
  std::ranges::sort(by_cost, {}, [](const auto& pair) { return pair.first; });
  const std::size_t strata = std::min(kStrata, by_cost.size());
  double total = 0;
  for (std::size_t stratum = 0; stratum < strata; ++stratum) {
    const std::size_t first = stratum * by_cost.size() / strata;
    const std::size_t last = (stratum + 1) * by_cost.size() / strata;
    const models::RunSpec& run = *by_cost[(first + last) / 2].second;
    methods::SculptProgress progress;
    const auto begin = std::chrono::steady_clock::now();
    methods::sculpt_networks(std::span(&run, 1), suites, 1, kernels, progress,
                             [](std::size_t, const methods::SculptResult&) {});
    total += static_cast<double>(last - first) *
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return total / threads;
}

}  // namespace modlab::studies

#include "bench/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/random.h"
#include "methods/detect/detect.h"
#include "methods/sculpt/sculpt.h"

namespace modlab::bench {
namespace {

models::LayeredNetwork random_network(const std::vector<int>& widths, double density, std::uint64_t seed) {
  RandomSequence random(seed, Stream::kMask);
  models::LayeredNetwork network;
  network.widths = widths;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    models::Connections& connections = network.connections.emplace_back();
    for (int to = 0; to < widths[layer + 1]; ++to) {
      for (int from = 0; from < widths[layer]; ++from) {
        if (random.next_uniform() < density) {
          connections.edges.push_back({from, to, 1});
        }
      }
    }
  }
  return models::checked(network, "random network");
}

}  // namespace

SculptTiming time_sculpting(const SculptWork& work, int trials, int repeats, const engine::Kernels<float>& kernels) {
  std::vector<methods::SculptRun> runs(trials, work.spec);
  for (int trial = 0; trial < trials; ++trial) {
    runs[trial].seed = static_cast<std::uint64_t>(trial);
  }
  SculptTiming best;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    SculptTiming timing;
    timing.trials = trials;
    methods::SculptProgress progress;
    const Stopwatch watch;
    methods::sculpt_networks(runs, 1, kernels, progress, [&](std::size_t /*run*/, const methods::SculptResult& result) {
      const methods::TrialOutcome& outcome = result.outcome;
      timing.trainings += outcome.trainings;
      if (!outcome.winners.empty()) {
        timing.learned.push_back({static_cast<double>(outcome.trainings),
                                  static_cast<double>(outcome.winners.front().network.edge_count()),
                                  static_cast<double>(outcome.winners.size())});
      }
    });
    timing.time = watch.spent();
    timing.time.improve(best.time);
    best = std::move(timing);
  }
  if (best.learned.empty()) {
    throw ConfigError(fmt::format("none of {} networks learned {}; give --trials more of them", trials, work.name));
  }
  return best;
}

DetectTiming time_detection(const std::vector<int>& widths, double density, std::uint64_t seed, int repeats) {
  const models::LayeredNetwork network = random_network(widths, density, seed);
  DetectTiming timing;
  timing.edges = network.edge_count();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Stopwatch watch;
    const methods::Detection detection = methods::detect(network, {});
    timing.time.improve(watch.spent());
    timing.modules = detection.module_count;
    timing.live.clear();
    timing.clusters.clear();
    for (std::size_t layer = 0; layer < widths.size(); ++layer) {
      const std::vector<int>& clusters = detection.clusters[layer];
      timing.live.push_back(static_cast<int>(detection.live[layer].size()));
      timing.clusters.push_back(clusters.empty() ? 0 : 1 + std::ranges::max(clusters));
    }
  }
  return timing;
}

}  // namespace modlab::bench

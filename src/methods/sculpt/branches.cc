#include "methods/sculpt/branches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "core/random.h"
#include "methods/sculpt/pruning.h"
#include "methods/sculpt/unit_scores.h"

namespace modlab::methods {
namespace {

constexpr std::pair<const char*, Branch> kNames[] = {{"random", Branch::kRandom},
                                                     {"reinitialised", Branch::kReinitialised},
                                                     {"rewound", Branch::kRewound},
                                                     {"one-shot", Branch::kOneShot}};

// `count` of `items`, in their order.
std::vector<int> some_of(std::vector<int> items, std::size_t count, RandomSequence& random) {
  for (std::size_t taken = 0; taken < count; ++taken) {
    std::swap(items[taken], items[taken + random.next_word() % (items.size() - taken)]);
  }
  items.resize(count);
  std::ranges::sort(items);
  return items;
}

PrunedMlp random_branch(const PrunedMlp& dense, const PrunedMlp& like, std::uint64_t seed) {
  RandomSequence random(seed, Stream::kMask);
  std::vector<std::vector<int>> units = used_units(like);
  for (std::size_t layer = 1; layer + 1 < units.size(); ++layer) {
    std::vector<int> all(like.shape.widths[layer]);
    std::iota(all.begin(), all.end(), 0);
    units[layer] = some_of(std::move(all), units[layer].size(), random);
  }
  PrunedMlp branch = dense;
  const std::vector<LayerPlace> places = layer_places(dense.shape);
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    const LayerPlace& place = places[layer];
    const auto kept = like.kept.begin() + static_cast<std::ptrdiff_t>(place.weights);
    const auto edges = static_cast<std::size_t>(std::count(kept, kept + place.in * place.out, 1));
    std::vector<int> possible;
    for (const int to : units[layer + 1]) {
      for (const int from : units[layer]) {
        possible.push_back(to * place.in + from);
      }
    }
    const auto weights = branch.kept.begin() + static_cast<std::ptrdiff_t>(place.weights);
    std::fill(weights, weights + place.in * place.out, 0);
    for (const int edge : some_of(std::move(possible), edges, random)) {
      branch.kept[place.weights + edge] = 1;
    }
  }
  clear_pruned(branch);
  return branch;
}

PrunedMlp same_mask(const PrunedMlp& like, models::Init init, std::uint64_t seed) {
  PrunedMlp branch = unpruned_mlp(like.shape, init, seed);
  branch.kept = like.kept;
  clear_pruned(branch);
  return branch;
}

int hidden_units_of(const PrunedMlp& network) {
  const std::vector<std::vector<int>> units = used_units(network);
  int count = 0;
  for (std::size_t layer = 1; layer + 1 < units.size(); ++layer) {
    count += static_cast<int>(units[layer].size());
  }
  return count;
}

// The percentage that leaves `left` of `count` where no two numbers are equal: its threshold lies halfway between the
// last that goes and the first that stays.
double percent_to_leave(int left, int count) { return left >= count ? 0 : 100.0 * (count - left - 0.5) / (count - 1); }

PrunedMlp one_shot_branch(const PrunedMlp& dense, const PrunedMlp& like, const SculptRun& run,
                          const tasks::Task& task) {
  PrunedMlp branch = dense;
  if (const int units = hidden_units_of(like); units < dense.hidden_units()) {
    const ScoreSettings score{run.sculpt.unit_score, run.sculpt.unit_norm, run.seed};
    branch = prune_units(branch, unit_scores(branch, task.table, score), run.sculpt.unit_scale,
                         percent_to_leave(units, dense.hidden_units()));
  }
  return like.edge_count() < branch.edge_count()
             ? prune_edges(branch, percent_to_leave(like.edge_count(), dense.weight_count()))
             : branch;
}

}  // namespace

std::string branch_name(Branch branch) {
  return std::ranges::find(kNames, branch, [](const auto& name) { return name.second; })->first;
}

Branch branch_from_name(const std::string& name) {
  for (const auto& [text, branch] : kNames) {
    if (name == text) {
      return branch;
    }
  }
  throw ConfigError(fmt::format("unknown branch '{}'; it is one of random, reinitialised, rewound, one-shot", name));
}

bool keeps_mask(Branch branch) { return branch == Branch::kReinitialised || branch == Branch::kRewound; }

std::vector<const PruneStep*> accepted_steps(const SculptedNetwork& carved) {
  std::vector<const PruneStep*> steps;
  for (const PruneStep& step : carved.steps) {
    if (step.accepted) {
      steps.push_back(&step);
    }
  }
  return steps;
}

PrunedMlp network_after(const PruneStep& step, const SculptedNetwork& carved) {
  return with_parameters(carved.network.shape, *step.kept);
}

std::vector<BranchResult> grow_branches(const SculptRun& run, int epochs, const tasks::TaskSuite& suite,
                                        const SculptedNetwork& carved, std::size_t level,
                                        std::span<const Branch> branches, std::span<const std::uint64_t> seeds,
                                        const engine::Kernels<float>& kernels) {
  const std::vector<const PruneStep*> steps = accepted_steps(carved);
  if (level >= steps.size()) {
    throw ConfigError(fmt::format("the pruning history has the levels 0 to {}, not {}", steps.size() - 1, level));
  }
  const PrunedMlp dense = network_after(*steps.front(), carved);
  const PrunedMlp like = network_after(*steps[level], carved);
  std::vector<BranchResult> results;
  for (const Branch branch : branches) {
    for (const std::uint64_t seed : seeds) {
      const auto grow = [&] {
        switch (branch) {
          case Branch::kRandom:
            return random_branch(dense, like, seed);
          case Branch::kReinitialised:
            // Never the weights that the network itself began with.
            return same_mask(like, run.init, seed + (seed >= run.seed ? 1 : 0));
          case Branch::kRewound:
            return same_mask(like, run.init, run.seed);
          case Branch::kOneShot:
            break;
        }
        return one_shot_branch(dense, like, run, suite.tasks.front());
      };
      results.push_back({branch, seed, grow(), 0});
    }
  }
  const TrialSettings settings = trial_settings(run, epochs, suite);
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  for (std::size_t first = 0; first < results.size(); first += lanes) {
    std::vector<TrainingCall> calls;
    for (std::size_t at = first; at < std::min(first + lanes, results.size()); ++at) {
      calls.push_back({&results[at].network, results[at].seed});
    }
    engine::Progress progress;
    std::vector<TrainedMlp> trained = train_side_by_side(settings.recipe, calls, kernels, progress);
    for (std::size_t call = 0; call < trained.size(); ++call) {
      results[first + call].network = std::move(trained[call].network);
      results[first + call].accuracy = trained[call].accuracy;
    }
  }
  return results;
}

}  // namespace modlab::methods

#include "methods/sculpt/epoch_search.h"

#include <algorithm>
#include <map>

#include "core/parallel.h"

namespace modlab::methods {
namespace {

// A network that is trained for as long as a search may take: whose it is, and what came of it.
struct Probe {
  TrialSettings settings;
  std::uint64_t seed = 0;
  std::optional<int> epochs;  // the first after which it reaches the threshold
};

using ProbeKey = std::pair<const TrialSettings*, std::uint64_t>;

std::optional<int> first_epoch_at(const std::vector<double>& accuracies, double threshold) {
  const auto found = std::ranges::find_if(accuracies, [&](double accuracy) { return accuracy >= threshold; });
  return found == accuracies.end() ? std::nullopt : std::optional(static_cast<int>(found - accuracies.begin()) + 1);
}

int rounded_up(int epochs) {
  return *std::ranges::find_if(kSearchedEpochs, [&](int allowed) { return allowed >= epochs; });
}

std::map<ProbeKey, Probe> make_probes(std::span<const TrialSpec> trials) {
  std::map<ProbeKey, Probe> probes;
  const auto add = [&](const TrialSettings* settings, std::uint64_t seed) {
    Probe& probe = probes[{settings, seed}];
    probe.settings = *settings;
    probe.settings.recipe.epochs = kLongestSearch;
    probe.seed = seed;
  };
  for (const TrialSpec& trial : trials) {
    add(trial.settings, trial.seed);
    for (const std::uint64_t seed : kProbeSeeds) {
      add(trial.settings, seed);
    }
  }
  return probes;
}

// Probes that can train side by side, as many as there are lanes.
std::vector<std::vector<Probe*>> make_blocks(std::map<ProbeKey, Probe>& probes, int lanes) {
  std::map<std::pair<TrainingRecipe, std::size_t>, std::vector<Probe*>> kinds;
  for (auto& [key, probe] : probes) {
    kinds[{probe.settings.recipe, probe.settings.hidden.size()}].push_back(&probe);
  }
  std::vector<std::vector<Probe*>> blocks;
  for (const auto& [kind, members] : kinds) {
    for (std::size_t member = 0; member < members.size(); ++member) {
      if (member % static_cast<std::size_t>(lanes) == 0) {
        blocks.emplace_back();
      }
      blocks.back().push_back(members[member]);
    }
  }
  return blocks;
}

void train_block(std::span<Probe* const> block, const engine::Kernels<float>& kernels, engine::Progress& progress) {
  std::vector<Trial::Call> starts;
  std::vector<TrainingCall> calls;
  starts.reserve(block.size());
  for (const Probe* probe : block) {
    starts.push_back(Trial(probe->settings, probe->seed).start());
    calls.push_back({&starts.back().network, starts.back().seed});
  }
  const std::vector<TrainedMlp> trained = train_side_by_side(block.front()->settings.recipe, calls, kernels, progress);
  for (std::size_t member = 0; member < trained.size(); ++member) {
    Probe& probe = *block[member];
    probe.epochs = first_epoch_at(trained[member].accuracies, probe.settings.sculpt.threshold);
  }
}

}  // namespace

std::vector<std::optional<int>> search_epochs(std::span<const TrialSpec> trials, int threads,
                                              const engine::Kernels<float>& kernels, engine::Progress& progress) {
  std::map<ProbeKey, Probe> probes = make_probes(trials);
  const std::vector<std::vector<Probe*>> blocks = make_blocks(probes, kernels.lanes);
  parallel_for(blocks.size(), threads, [&](std::size_t block) {
    if (!progress.stop) {
      train_block(blocks[block], kernels, progress);
    }
  });
  std::vector<std::optional<int>> found;
  for (const TrialSpec& trial : trials) {
    std::optional<int>& epochs = found.emplace_back(probes.at({trial.settings, trial.seed}).epochs);
    if (!epochs) {
      continue;
    }
    for (const std::uint64_t seed : kProbeSeeds) {
      epochs = std::max(*epochs, probes.at({trial.settings, seed}).epochs.value_or(0));
    }
    epochs = rounded_up(*epochs);
  }
  return found;
}

}  // namespace modlab::methods

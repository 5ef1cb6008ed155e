#include "methods/mask/masked_bits.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "methods/mask/derived_masks.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/stage_numbers.h"

namespace modlab::methods {
namespace {

constexpr double kEnough = 0.95;

// Many masks, and many networks to judge, in blocks of lanes.
class Lanes {
 public:
  Lanes(const BitsMasking& masking, int threads, const engine::Kernels<float>& kernels, MaskProgress& progress)
      : masking_(masking),
        threads_(threads),
        kernels_(kernels),
        progress_(progress),
        masked_(masked_parameters(masking.blueprint->layout, masking.spec)) {}

  const MaskedParameters& masked() const { return masked_; }
  bool is_stopped() const { return progress_.stop.load(); }

  // The logits of each job; nothing where it was asked to stop.
  std::vector<std::vector<float>> train(const std::vector<MaskJob>& jobs) {
    std::vector<std::vector<float>> logits(jobs.size());
    in_blocks(jobs.size(), [&](engine::Network<float>& network, std::size_t first, std::size_t last) {
      const std::vector<MaskJob> block(jobs.begin() + static_cast<std::ptrdiff_t>(first),
                                       jobs.begin() + static_cast<std::ptrdiff_t>(last));
      auto trained =
          train_mask_block(kernels_, network, masking_.blueprint->data, masked_, masking_.spec, block, progress_);
      std::ranges::move(trained, logits.begin() + static_cast<std::ptrdiff_t>(first));
    });
    return logits;
  }

  // [network][target]: accuracy in percent.
  std::vector<std::vector<double>> judge(const std::vector<std::vector<float>>& networks,
                                         const std::vector<MaskTarget>& targets) {
    std::vector<std::vector<double>> accuracies(networks.size());
    in_blocks(networks.size(), [&](engine::Network<float>& network, std::size_t first, std::size_t last) {
      const std::vector<std::vector<float>> block(networks.begin() + static_cast<std::ptrdiff_t>(first),
                                                  networks.begin() + static_cast<std::ptrdiff_t>(last));
      const engine::Data& data = masking_.blueprint->data;
      const auto said = predict(kernels_, network, data, block);
      for (std::size_t at = 0; at < said.size(); ++at) {
        for (const MaskTarget& target : targets) {
          accuracies[first + at].push_back(target_accuracy(target, said[at], data.target_words));
        }
      }
    });
    return accuracies;
  }

 private:
  template <typename Work>
  void in_blocks(std::size_t count, const Work& work) {
    const auto lanes = static_cast<std::size_t>(kernels_.lanes);
    parallel_for((count + lanes - 1) / lanes, threads_, [&](std::size_t block) {
      const auto network = models::make_network<float>(*masking_.blueprint, kernels_);
      work(*network, block * lanes, std::min(count, (block + 1) * lanes));
    });
  }

  const BitsMasking& masking_;
  int threads_;
  const engine::Kernels<float>& kernels_;
  MaskProgress& progress_;
  MaskedParameters masked_;
};

class BitsMasker {
 public:
  BitsMasker(const BitsMasking& masking, const std::vector<NetworkToMask>& networks, Lanes& lanes)
      : masking_(masking), networks_(networks), lanes_(lanes), outcomes_(networks.size()) {}

  // False if it was asked to stop.
  bool run() {
    judge_unmasked();
    return find_betas() && train_stages() && train_controls();
  }
  std::vector<MaskOutcome> take() { return std::move(outcomes_); }

 private:
  MaskJob job(std::size_t network, const MaskTarget& target, std::uint32_t stage, double beta) const {
    const MaskSpec& spec = masking_.spec;
    return {.weights = &networks_[network].weights,
            .rows = target.rows,
            .outputs = target.outputs,
            .seed = networks_[network].seed,
            .stage = stage,
            .lr = spec.lr,
            .beta = beta,
            .init = spec.init,
            .clip = spec.clip,
            .tau = spec.tau};
  }

  std::vector<MaskTarget> all_targets() const {
    std::vector<MaskTarget> all = {masking_.whole};
    all.insert(all.end(), masking_.targets.begin(), masking_.targets.end());
    return all;
  }

  void judge_unmasked() {
    std::vector<std::vector<float>> weights;
    for (const NetworkToMask& network : networks_) {
      weights.push_back(network.weights);
    }
    const auto accuracies = lanes_.judge(weights, all_targets());
    for (std::size_t network = 0; network < networks_.size(); ++network) {
      MaskOutcome& outcome = outcomes_[network];
      whole_unmasked_.push_back(accuracies[network].front());
      outcome.idle_logits = idle_logits(lanes_.masked(), networks_[network].weights);
      outcome.unmasked.assign(accuracies[network].begin() + 1, accuracies[network].end());
      for (const MaskTarget& target : masking_.targets) {
        outcome.targets.push_back(target.name);
      }
    }
  }

  bool find_betas() {
    if (masking_.spec.beta) {
      for (MaskOutcome& outcome : outcomes_) {
        outcome.beta = *masking_.spec.beta;
      }
      return true;
    }
    const std::vector<double> betas = beta_candidates();
    std::vector<MaskJob> jobs;
    for (std::size_t network = 0; network < networks_.size(); ++network) {
      for (std::size_t beta = 0; beta < betas.size(); ++beta) {
        jobs.push_back(job(network, masking_.whole, kBetaStages + static_cast<std::uint32_t>(beta), betas[beta]));
      }
    }
    const auto logits = lanes_.train(jobs);
    if (lanes_.is_stopped()) {
      return false;
    }
    const auto [masks, left] = masks_of(jobs, logits);
    const auto accuracies = lanes_.judge(left, {masking_.whole});
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      MaskOutcome& outcome = outcomes_[at / betas.size()];
      outcome.beta_table.push_back({betas[at % betas.size()], kept_percent(masks[at]), accuracies[at].front(),
                                    100 * ambiguous_share(logits[at], outcome.idle_logits)});
    }
    for (std::size_t network = 0; network < networks_.size(); ++network) {
      outcomes_[network].beta = chosen_beta(outcomes_[network].beta_table, whole_unmasked_[network]);
    }
    return true;
  }

  // The masks that jobs have come to, and the networks of which they alone are left.
  struct Masks {
    std::vector<models::WeightMask> masks;
    std::vector<std::vector<float>> left;
  };
  Masks masks_of(const std::vector<MaskJob>& jobs, const std::vector<std::vector<float>>& logits) const {
    Masks made;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      made.masks.push_back(kept_weights(lanes_.masked(), logits[at], *jobs[at].weights, ""));
      made.left.push_back(masked_weights(lanes_.masked(), made.masks.back(), *jobs[at].weights));
    }
    return made;
  }

  bool train_stages() {
    const std::vector<MaskTarget> stages = all_targets();
    std::vector<MaskJob> jobs;
    for (std::size_t network = 0; network < networks_.size(); ++network) {
      for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        jobs.push_back(job(network, stages[stage], static_cast<std::uint32_t>(stage), outcomes_[network].beta));
      }
    }
    auto logits = lanes_.train(jobs);
    if (lanes_.is_stopped()) {
      return false;
    }
    std::vector<std::vector<float>> left;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const std::size_t stage = at % stages.size();
      MaskOutcome& outcome = outcomes_[at / stages.size()];
      MaskStage& made = outcome.stages.emplace_back();
      made.name = stages[stage].name;
      made.mask = kept_weights(lanes_.masked(), logits[at], *jobs[at].weights, made.name);
      made.ambiguous = 100 * ambiguous_share(logits[at], outcome.idle_logits);
      made.logits = std::move(logits[at]);
      std::vector<std::uint8_t> wanted;
      for (int output = 0; output < masking_.blueprint->data.outputs; ++output) {
        wanted.push_back((stages[stage].outputs >> output) & 1U);
      }
      made.live = live_weights(made.mask, wanted).value_or(std::vector<std::size_t>{});
      const models::WeightMask inverse = inverse_mask(made.mask, outcome.stages.front().mask, masking_.spec.inverse_io);
      left.push_back(masked_weights(lanes_.masked(), made.mask, *jobs[at].weights));
      left.push_back(masked_weights(lanes_.masked(), inverse, *jobs[at].weights));
    }
    auto accuracies = lanes_.judge(left, masking_.targets);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      MaskStage& made = outcomes_[at / stages.size()].stages[at % stages.size()];
      made.accuracy = std::move(accuracies[2 * at]);
      made.inverse = std::move(accuracies[2 * at + 1]);
    }
    return true;
  }

  bool train_controls() {
    if (!masking_.controls) {
      return true;
    }
    std::vector<MaskJob> jobs;
    struct Place {
      std::size_t network, target;
      bool untrained;
    };
    std::vector<Place> places;
    for (std::size_t network = 0; network < networks_.size(); ++network) {
      for (std::size_t target = 0; target < masking_.targets.size(); ++target) {
        const auto stage = static_cast<std::uint32_t>(target + 1);
        jobs.push_back(job(network, masking_.targets[target], kAgainStages + stage, outcomes_[network].beta));
        places.push_back({network, target, false});
        if (!networks_[network].untrained.empty()) {
          jobs.push_back(job(network, masking_.targets[target], kUntrainedStages + stage, outcomes_[network].beta));
          jobs.back().weights = &networks_[network].untrained;
          places.push_back({network, target, true});
        }
      }
    }
    const auto logits = lanes_.train(jobs);
    if (lanes_.is_stopped()) {
      return false;
    }
    const auto [masks, left] = masks_of(jobs, logits);
    const auto accuracies = lanes_.judge(left, masking_.targets);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      MaskStage& stage = outcomes_[places[at].network].stages[places[at].target + 1];
      if (places[at].untrained) {
        stage.untrained = accuracies[at][places[at].target];
        continue;
      }
      stage.again = measures::overlap_of(stage.mask, masks[at]);
    }
    return true;
  }

  const BitsMasking& masking_;
  const std::vector<NetworkToMask>& networks_;
  Lanes& lanes_;
  std::vector<MaskOutcome> outcomes_;
  std::vector<double> whole_unmasked_;  // [network]
};

}  // namespace

std::size_t mask_count(const BitsMasking& masking) {
  const std::size_t betas = masking.spec.beta ? 0 : beta_candidates().size();
  return betas + 1 + masking.targets.size() * (masking.controls ? 3 : 1);
}

std::vector<MaskOutcome> mask_networks(const BitsMasking& masking, const std::vector<NetworkToMask>& networks,
                                       int threads, const engine::Kernels<float>& kernels, MaskProgress& progress) {
  Lanes lanes(masking, threads, kernels, progress);
  BitsMasker masker(masking, networks, lanes);
  return masker.run() ? masker.take() : std::vector<MaskOutcome>{};
}

std::vector<double> beta_candidates() {
  return {1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
}

double chosen_beta(const std::vector<BetaPoint>& table, double unmasked) {
  double chosen = table.front().beta;
  for (const BetaPoint& point : table) {
    // Raised as long as nothing is lost: what a larger one finds by luck does not count.
    if (point.accuracy < kEnough * unmasked) {
      break;
    }
    chosen = point.beta;
  }
  return chosen;
}

}  // namespace modlab::methods

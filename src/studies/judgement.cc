#include "studies/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace modlab::studies {
namespace {

// The vectors of one split's seeds.
using Seeds = std::vector<const std::vector<double>*>;

std::map<std::uint64_t, Seeds> by_split(const Draws& draws) {
  std::map<std::uint64_t, Seeds> splits;
  for (const auto& [unit, values] : draws.units) {
    splits[unit.split].push_back(&values);
  }
  return splits;
}

// At each place, of all seeds but one; of all where `without` is none of them. Not a number where no seed has one.
std::vector<double> means_of(const Seeds& seeds, std::size_t without) {
  std::vector<double> means(seeds.front()->size());
  for (std::size_t place = 0; place < means.size(); ++place) {
    double sum = 0;
    int count = 0;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      if (const double value = (*seeds[seed])[place]; seed != without && !std::isnan(value)) {
        sum += value;
        ++count;
      }
    }
    means[place] = sum / count;
  }
  return means;
}

// Not a number unless every place has one.
double statistic_of(const std::vector<double>& means, const Statistic& statistic) {
  const bool complete = std::ranges::none_of(means, [](double mean) { return std::isnan(mean); });
  return complete ? statistic(means) : std::numeric_limits<double>::quiet_NaN();
}

// The statistic of one split, and its variance over seeds by the jackknife, which for a mean is the usual one.
measures::Stratum stratum_of(const Seeds& seeds, const Statistic& statistic) {
  const auto count = static_cast<double>(seeds.size());
  measures::Stratum stratum{.value = statistic_of(means_of(seeds, seeds.size()), statistic),
                            .draws = static_cast<int>(seeds.size())};
  if (seeds.size() < 2) {
    return stratum;
  }
  std::vector<double> left_out;
  double mean = 0;
  for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
    left_out.push_back(statistic_of(means_of(seeds, seed), statistic));
    mean += left_out.back() / count;
  }
  if (std::isnan(mean)) {
    stratum.draws = 1;  // some place has a single seed
    return stratum;
  }
  for (const double value : left_out) {
    stratum.variance += (value - mean) * (value - mean) * (count - 1) / count;
  }
  return stratum;
}

Judgement judgement_of(const measures::Estimate& estimate, const Range& expected) {
  Judgement judgement{.mean = estimate.mean,
                      .low = estimate.low,
                      .high = estimate.high,
                      .p_wrong = 0,
                      .equal = estimate.equal,
                      .draws = estimate.units};
  if (std::isfinite(expected.low)) {
    judgement.p_wrong = estimate.p_at_most(expected.low);
    judgement.p_right = estimate.p_at_least(expected.low);
  }
  if (std::isfinite(expected.high)) {
    judgement.p_wrong = std::max(judgement.p_wrong, estimate.p_at_least(expected.high));
    judgement.p_right = std::min(judgement.p_right, estimate.p_at_most(expected.high));
  }
  judgement.verdict = verdict_of(judgement.p_wrong, judgement.p_right);
  return judgement;
}

}  // namespace

Verdict verdict_of(double p_wrong, double p_right, double tail) {
  if (p_wrong <= tail) {
    return Verdict::kHolds;
  }
  return p_right <= tail ? Verdict::kFails : Verdict::kUndecided;
}

std::vector<std::vector<double>> means_by_split(const Draws& draws) {
  std::vector<std::vector<double>> all;
  if (draws.has_splits) {
    for (const auto& [split, seeds] : by_split(draws)) {
      all.push_back(means_of(seeds, seeds.size()));
    }
  } else {
    for (const auto& [unit, values] : draws.units) {
      all.push_back(values);
    }
  }
  std::erase_if(all, [](const std::vector<double>& means) {
    return std::ranges::any_of(means, [](double mean) { return std::isnan(mean); });
  });
  return all;
}

bool has_any(const Draws& draws) { return !means_by_split(draws).empty(); }

std::optional<Evidence> evidence_of(const Draws& draws, const Statistic& statistic, double tail) {
  std::vector<double> numbers;
  if (!draws.has_splits) {
    for (const auto& [unit, values] : draws.units) {
      if (const double number = statistic(values); !std::isnan(number)) {
        numbers.push_back(number);
      }
    }
    if (numbers.empty()) {
      return std::nullopt;
    }
    return Evidence{.general = measures::mean_of_draws(numbers, tail),
                    .has_splits = false,
                    .seeds = static_cast<int>(numbers.size())};
  }
  std::vector<measures::Stratum> strata;
  Evidence evidence;
  for (const auto& [split, seeds] : by_split(draws)) {
    if (const measures::Stratum stratum = stratum_of(seeds, statistic); !std::isnan(stratum.value)) {
      strata.push_back(stratum);
      numbers.push_back(stratum.value);
      evidence.seeds += static_cast<int>(seeds.size());
    }
  }
  if (numbers.empty()) {
    return std::nullopt;
  }
  evidence.splits = static_cast<int>(numbers.size());
  evidence.general = measures::mean_of_draws(numbers, tail);
  evidence.here = measures::mean_of_strata(strata, tail);
  return evidence;
}

std::string interval_text(const Judgement& judgement, bool is_factor) {
  const auto number = [&](double value) { return fmt::format("{:.3g}", is_factor ? std::pow(10, value) : value); };
  if (judgement.equal && judgement.low == judgement.high) {
    return fmt::format("the same in all, so that at most {:.0f} % differ, {}",
                       100 * measures::others_share(judgement.draws), judgement.population);
  }
  if (!std::isfinite(judgement.low) || !std::isfinite(judgement.high)) {
    return fmt::format("too few for an interval, {}", judgement.population);
  }
  return fmt::format("[{}, {}], {:.0f} % {}", number(judgement.low), number(judgement.high), 100 * measures::kLevel,
                     judgement.population);
}

Judgements judge(const Evidence& evidence, const Range& expected) {
  Judgements judgements{judgement_of(evidence.general, expected), std::nullopt};
  Judgement& general = judgements.general;
  const std::string drawn = counted(general.draws, evidence.has_splits ? evidence.drawn : "trial");
  general.population = "over " + drawn;
  if (general.draws < (evidence.has_splits ? kFewestSplits : kFewestTrials)) {
    general.too_few = drawn;
    general.verdict = Verdict::kUndecided;
  }
  if (evidence.here) {
    judgements.here = judgement_of(*evidence.here, expected);
    judgements.here->population =
        evidence.splits == 1 ? "on this " + evidence.drawn : "on these " + counted(evidence.splits, evidence.drawn);
  }
  return judgements;
}

}  // namespace modlab::studies

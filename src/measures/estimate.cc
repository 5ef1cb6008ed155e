#include "measures/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/random.h"
#include "measures/distributions.h"

namespace modlab::measures {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kSeed = 2025;
// One less than a multiple of 20, so that shares of 5 % are whole numbers of resamples.
constexpr int kResamples = 3999;
constexpr std::size_t kFewestForBootstrap = 10;
// Means of equal numbers may differ in their last bits.
constexpr double kRounding = 1e-12;

struct Moments {
  double mean = 0;
  double error = 0;  // standard error of the mean
};

// Around the first value, so that equal values have exactly their own mean and no error.
Moments moments_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) {
    sum += value - values.front();
  }
  const double shift = sum / count;
  double squares = 0;
  for (const double value : values) {
    const double deviation = value - values.front() - shift;
    squares += deviation * deviation;
  }
  return {values.front() + shift, std::sqrt(squares / (count - 1) / count)};
}

Estimate nothing_known(double mean, int units) {
  const auto never = [](double /*bound*/) { return 1.0; };
  return {mean, -kInfinite, kInfinite, units, false, never, never};
}

Estimate of_equal(double value, int units, double tail) {
  const double p = std::pow(0.5, units);
  Estimate estimate = nothing_known(value, units);
  estimate.equal = true;
  if (p <= tail) {
    estimate.low = estimate.high = value;
  }
  estimate.p_at_most = [=](double bound) { return bound < value ? p : 1; };
  estimate.p_at_least = [=](double bound) { return bound > value ? p : 1; };
  return estimate;
}

Estimate by_student(const Moments& moments, double df, int units, double tail) {
  const double reach = student_quantile(1 - tail, df) * moments.error;
  return {.mean = moments.mean,
          .low = moments.mean - reach,
          .high = moments.mean + reach,
          .units = units,
          .p_at_most = [=](double bound) { return student_cdf((bound - moments.mean) / moments.error, df); },
          .p_at_least = [=](double bound) { return student_cdf((moments.mean - bound) / moments.error, df); }};
}

// How far t goes from zero when numbers like these are drawn again and again, in rising order.
std::vector<double> resampled_t(std::span<const double> values, const Moments& moments) {
  RandomSequence random(kSeed, Stream::kBootstrap);
  std::vector<double> drawn(values.size());
  std::vector<double> t;
  t.reserve(kResamples);
  for (int resample = 0; resample < kResamples; ++resample) {
    for (double& value : drawn) {
      value = values[(static_cast<std::uint64_t>(random.next_word()) * values.size()) >> 32];
    }
    const Moments again = moments_of(drawn);
    const double distance = again.mean - moments.mean;
    t.push_back(again.error > 0 ? distance / again.error : std::copysign(kInfinite, distance));
  }
  std::ranges::sort(t);
  // A resample of equal numbers says "very far"; the farthest of the others stands for that.
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const double least = *std::ranges::find_if(t, is_finite);
  const double most = *std::find_if(t.rbegin(), t.rend(), is_finite);
  for (double& value : t) {
    value = std::clamp(value, least, most);
  }
  return t;
}

Estimate by_bootstrap(std::span<const double> values, const Moments& moments, double tail) {
  const auto t = std::make_shared<const std::vector<double>>(resampled_t(values, moments));
  // As many as p counts below, so that the interval ends where p passes the tail.
  const auto beyond = static_cast<std::size_t>(std::max(1.0, std::floor(tail * (kResamples + 1) + kRounding)));
  const auto share = [](std::ptrdiff_t count) { return (1.0 + static_cast<double>(count)) / (kResamples + 1.0); };
  return {.mean = moments.mean,
          .low = moments.mean - (*t)[t->size() - beyond] * moments.error,
          .high = moments.mean - (*t)[beyond - 1] * moments.error,
          .units = static_cast<int>(values.size()),
          .p_at_most =
              [=](double bound) {
                return share(t->end() - std::ranges::lower_bound(*t, (moments.mean - bound) / moments.error));
              },
          .p_at_least =
              [=](double bound) {
                return share(std::ranges::upper_bound(*t, (moments.mean - bound) / moments.error) - t->begin());
              }};
}

// The chance at which `p`, which rises with it, passes `tail`.
double crossing(const std::function<double(double chance)>& p, double tail) {
  double low = 0;
  double high = 1;
  for (int bit = 0; bit < std::numeric_limits<double>::digits; ++bit) {
    const double middle = 0.5 * (low + high);
    (p(middle) <= tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

Estimate mean_of_draws(std::span<const double> values, double tail) {
  const int units = static_cast<int>(values.size());
  if (values.empty()) {
    return nothing_known(kUndefined, 0);
  }
  if (units == 1) {
    return of_equal(values.front(), units, tail);
  }
  const Moments moments = moments_of(values);
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  if (moments.error <= kRounding * largest) {
    return of_equal(moments.mean, units, tail);
  }
  return values.size() < kFewestForBootstrap ? by_student(moments, units - 1, units, tail)
                                             : by_bootstrap(values, moments, tail);
}

Estimate mean_of_strata(std::span<const Stratum> strata, double tail) {
  if (strata.empty()) {
    return nothing_known(kUndefined, 0);
  }
  const auto count = static_cast<double>(strata.size());
  double sum = 0;
  double largest = 0;
  double variance = 0;
  double squares_by_df = 0;
  int draws = 0;
  bool is_single = false;
  for (const Stratum& stratum : strata) {
    sum += stratum.value;
    largest = std::max(largest, std::abs(stratum.value));
    draws += stratum.draws;
    is_single = is_single || stratum.draws < 2;
    variance += stratum.variance;
    squares_by_df += stratum.variance * stratum.variance / std::max(1, stratum.draws - 1);
  }
  if (is_single) {
    return nothing_known(sum / count, draws);
  }
  const double error = std::sqrt(variance) / count;
  if (error <= kRounding * largest) {
    // In each group the first draw says what the others are compared with.
    Estimate estimate = of_equal(sum / count, draws - static_cast<int>(strata.size()) + 1, tail);
    estimate.units = draws;
    return estimate;
  }
  return by_student({sum / count, error}, variance * variance / squares_by_df, draws, tail);
}

Estimate chance_of(int successes, int trials, double scale, double tail) {
  if (trials == 0) {
    return nothing_known(kUndefined, 0);
  }
  const auto at_most = [=](double chance) { return binomial_at_least(successes, trials, chance); };
  const auto at_least = [=](double chance) { return binomial_at_least(trials - successes, trials, 1 - chance); };
  return {.mean = scale * successes / trials,
          .low = successes == 0 ? 0 : scale * crossing(at_most, tail),
          .high = successes == trials ? scale
                                      : scale * (1 - crossing([&](double rest) { return at_least(1 - rest); }, tail)),
          .units = trials,
          .equal = successes == 0 || successes == trials,
          .p_at_most = [=](double bound) { return at_most(std::clamp(bound / scale, 0.0, 1.0)); },
          .p_at_least = [=](double bound) { return at_least(std::clamp(bound / scale, 0.0, 1.0)); }};
}

Estimate smallest_mean(std::size_t count, const std::function<Estimate(std::size_t which, double tail)>& estimate) {
  const auto each = std::make_shared<std::vector<Estimate>>();
  Estimate smallest = nothing_known(kInfinite, 0);
  smallest.low = kInfinite;
  smallest.equal = true;
  for (std::size_t which = 0; which < count; ++which) {
    const Estimate& one = each->emplace_back(estimate(which, kTail));
    smallest.mean = std::min(smallest.mean, one.mean);
    smallest.low = std::min(smallest.low, one.low);
    smallest.high = std::min(smallest.high, estimate(which, kTail / static_cast<double>(count)).high);
    smallest.units = which == 0 ? one.units : std::min(smallest.units, one.units);
    smallest.equal = smallest.equal && one.equal;
  }
  smallest.p_at_most = [each](double bound) {
    double p = 0;
    for (const Estimate& one : *each) {
      p = std::max(p, one.p_at_most(bound));
    }
    return p;
  };
  smallest.p_at_least = [each](double bound) {
    double p = 1;
    for (const Estimate& one : *each) {
      p = std::min(p, one.p_at_least(bound) * static_cast<double>(each->size()));
    }
    return p;
  };
  return smallest;
}

Estimate negated(const Estimate& estimate) {
  Estimate result = estimate;
  result.mean = -estimate.mean;
  result.low = -estimate.high;
  result.high = -estimate.low;
  result.p_at_most = [p = estimate.p_at_least](double bound) { return p(-bound); };
  result.p_at_least = [p = estimate.p_at_most](double bound) { return p(-bound); };
  return result;
}

double others_share(int equal) { return 1 - std::pow(kTail, 1.0 / equal); }

}  // namespace modlab::measures

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace modlab::measures {

// Intervals have a level of 90 %: each of their ends is a bound that errs in 5 of 100 cases.
inline constexpr double kTail = 0.05;
inline constexpr double kLevel = 1 - 2 * kTail;

// What numbers drawn independently of each other say about the mean of what they were drawn from.
struct Estimate {
  double mean = 0;
  double low = 0;  // of the interval; infinite where nothing can be said
  double high = 0;
  int units = 0;       // how many were drawn
  bool equal = false;  // all of them are the same
  // One-sided p of "the mean is at most this" and of "the mean is at least this". At most kTail where the interval
  // does not reach there.
  std::function<double(double bound)> p_at_most;
  std::function<double(double bound)> p_at_least;
};

// The mean of numbers of any distribution: Student's t of fewer than ten, from ten on a bootstrap of t, which allows
// for skewed numbers (Efron and Tibshirani 1993, 12.5). Numbers that are all equal have no spread to go by; what they
// do say is that at least half of all others are like them, with a p of 2^-n. Not a number without any.
// The ends of the interval err with a chance of `tail` each.
Estimate mean_of_draws(std::span<const double> values, double tail = kTail);

// One of several given groups: what was estimated of it, the variance of that, and the number of draws behind it.
struct Stratum {
  double value = 0;
  double variance = 0;
  int draws = 0;
};
// The mean of these very groups, by Student's t with the degrees of freedom of Welch and Satterthwaite. Nothing can be
// said if a group has a single draw.
Estimate mean_of_strata(std::span<const Stratum> strata, double tail = kTail);

// The chance of success, times `scale`: exact (Clopper and Pearson 1934).
Estimate chance_of(int successes, int trials, double scale, double tail = kTail);

// The smallest of several means, each estimated from draws of its own with ends that err with the given chance. That it
// is above a bound needs all of them above it, one by one; that it is below needs one that is, allowing for as many as
// were looked at (Bonferroni).
Estimate smallest_mean(std::size_t count, const std::function<Estimate(std::size_t which, double tail)>& estimate);

// Of the same draws with their signs changed.
Estimate negated(const Estimate& estimate);

// The share of draws that may well differ from n that were all equal: 1 - kTail^(1/n).
double others_share(int equal);

}  // namespace modlab::measures

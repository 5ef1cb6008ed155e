#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace modlab::measures {

// A mean over splits and seeds with both of its errors (spec 6.5). Not a number where undefined: without values, within
// for a split with one seed, between for one split.
struct MeanWithErrors {
  double mean = 0;           // of the splits' means
  double error_within = 0;   // sqrt(sum of the splits' squared standard errors) / splits
  double error_between = 0;  // standard deviation of the splits' means / sqrt(splits)
  double deviation = 0;      // sample standard deviation of all values
  int count = 0;             // values
};

// Groups are the values of each split; empty ones are left out.
MeanWithErrors combine(const std::vector<std::vector<double>>& groups);

// An estimate and the 5th and 95th percentile of its bootstrap distribution.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
  double p = 1;  // one-sided, that the true value is not above zero: (1 + resamples at or below zero) / (resamples + 1)
  double p_below = 1;  // the same for not below zero; more than 1 - p where resamples are zero
};

// Bootstrap of the mean of paired differences. The same numbers give the same interval.
Interval bootstrap_mean(std::span<const double> differences, int resamples = 10000);

// The same for any statistic of resampled unit indices (units are runs). A resample whose statistic is not a number
// counts against the claim in p and is left out of the interval.
Interval bootstrap(std::size_t units, const std::function<double(std::span<const std::size_t>)>& statistic,
                   int resamples = 2000);

// Rank correlation; ties share their mean rank, 0 where a side is constant.
double spearman(std::span<const double> a, std::span<const double> b);
// Of the least-squares line; not a number where x is constant.
double slope(std::span<const double> x, std::span<const double> y);
// The smallest x whose y is at least `level`.
std::optional<double> first_reaching(std::span<const double> x, std::span<const double> y, double level);

}  // namespace modlab::measures

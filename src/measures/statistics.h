#pragma once

#include <optional>
#include <span>
#include <vector>

namespace modlab::measures {

// A mean over splits and seeds with both of its errors. Not a number where undefined: without values, within
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

// Rank correlation; ties share their mean rank, 0 where a side is constant.
double spearman(std::span<const double> a, std::span<const double> b);
// Of the least-squares line; not a number where x is constant.
double slope(std::span<const double> x, std::span<const double> y);
// The smallest x whose y is at least `level`.
std::optional<double> first_reaching(std::span<const double> x, std::span<const double> y, double level);

}  // namespace modlab::measures

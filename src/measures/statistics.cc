#include "measures/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "measures/specialisation.h"

namespace modlab::measures {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Around the first value, so that equal values have exactly their own mean.
double mean_of(std::span<const double> values) {
  if (values.empty()) {
    return kNoNumber;
  }
  double sum = 0;
  for (const double value : values) {
    sum += value - values.front();
  }
  return values.front() + sum / static_cast<double>(values.size());
}

double sample_deviation(std::span<const double> values) {
  if (values.size() < 2) {
    return kNoNumber;
  }
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t index) { return values[index]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) {
      ++last;
    }
    for (std::size_t place = first; place <= last; ++place) {
      result[order[place]] = 0.5 * static_cast<double>(first + last);
    }
    first = last + 1;
  }
  return result;
}

}  // namespace

MeanWithErrors combine(const std::vector<std::vector<double>>& groups) {
  std::vector<double> all;
  std::vector<double> means;
  double squared_errors = 0;
  for (const std::vector<double>& group : groups) {
    if (group.empty()) {
      continue;
    }
    all.insert(all.end(), group.begin(), group.end());
    means.push_back(mean_of(group));
    const double deviation = sample_deviation(group);
    squared_errors += deviation * deviation / static_cast<double>(group.size());
  }
  const auto splits = static_cast<double>(means.size());
  return {.mean = mean_of(means),
          .error_within = means.empty() ? kNoNumber : std::sqrt(squared_errors) / splits,
          .error_between = sample_deviation(means) / std::sqrt(splits),
          .deviation = sample_deviation(all),
          .count = static_cast<int>(all.size())};
}

double spearman(std::span<const double> a, std::span<const double> b) { return pearson(ranks(a), ranks(b)); }

double slope(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x);
  const double mean_y = mean_of(y);
  double products = 0;
  double squares = 0;
  for (std::size_t point = 0; point < x.size(); ++point) {
    products += (x[point] - mean_x) * (y[point] - mean_y);
    squares += (x[point] - mean_x) * (x[point] - mean_x);
  }
  return squares > 0 ? products / squares : kNoNumber;
}

std::optional<double> first_reaching(std::span<const double> x, std::span<const double> y, double level) {
  std::optional<double> first;
  for (std::size_t point = 0; point < x.size(); ++point) {
    if (y[point] >= level && (!first || x[point] < *first)) {
      first = x[point];
    }
  }
  return first;
}

}  // namespace modlab::measures

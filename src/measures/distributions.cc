#include "measures/distributions.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

namespace modlab::measures {
namespace {

// What Stirling's formula leaves out of ln Gamma(z), for z of 10 and more: to 17 digits.
double stirling_rest(double z) {
  // Bernoulli numbers: B_2k / (2k (2k - 1)).
  constexpr double kTerms[] = {1.0 / 12,        -1.0 / 360, 1.0 / 1260,       -1.0 / 1680,      1.0 / 1188,
                               -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400, 43867.0 / 244188, -174611.0 / 125400};
  double sum = 0;
  for (std::size_t term = std::size(kTerms); term-- > 0;) {
    sum = sum / (z * z) + kTerms[term];
  }
  return sum / z;
}

// ln B(a, b). Differences of ln Gamma would lose digits where a or b is large.
double log_beta(double a, double b) {
  constexpr double kLarge = 10;
  // B(a, b) = B(a + 1, b) (a + b) / a.
  double factor = 1;
  while (a < kLarge) {
    factor *= (a + b) / a;
    a += 1;
  }
  while (b < kLarge) {
    factor *= (a + b) / b;
    b += 1;
  }
  return std::log(factor) + 0.5 * std::log(2 * std::numbers::pi / b) - (a - 0.5) * std::log1p(b / a) -
         b * std::log1p(a / b) + stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
}

// The continued fraction of I_x(a, b) by Lentz's method, which converges fast where x is below the distribution's mean.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double c = 1;
  double fraction = d;
  for (int term = 1; term <= kMaxTerms; ++term) {
    const double even = term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) {
      break;
    }
  }
  return fraction;
}

// ln x, from whichever of x and 1 - x is the smaller.
double log_of(double x, double rest) { return x < rest ? std::log(x) : std::log1p(-rest); }

}  // namespace

double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0 || rest <= 0) {
    return x <= 0 ? 0 : 1;
  }
  const double power = std::exp(a * log_of(x, rest) + b * log_of(rest, x) - log_beta(a, b));
  // Beyond the mean the fraction of the other tail converges faster.
  return x < (a + 1) / (a + b + 2) ? power * beta_fraction(a, b, x) / a : 1 - power * beta_fraction(b, a, rest) / b;
}

double student_cdf(double t, double df) {
  // x = df / (df + t^2) and 1 - x, without a square that overflows.
  const double ratio = t / df * t;
  const double x = 1 / (1 + ratio);
  const double rest = std::isinf(ratio) ? 1 : ratio / (1 + ratio);
  const double tail = 0.5 * incomplete_beta(0.5 * df, 0.5, x, rest);
  return t < 0 ? tail : 1 - tail;
}

double student_quantile(double share, double df) {
  if (share < 0.5) {
    return -student_quantile(1 - share, df);
  }
  double low = 0;
  double high = 1;
  while (student_cdf(high, df) < share && high < 1e300) {
    high *= 2;
  }
  // Each halving is a bit of the result.
  for (int bit = 0; bit < std::numeric_limits<double>::digits + 10; ++bit) {
    const double middle = 0.5 * (low + high);
    (student_cdf(middle, df) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double binomial_at_least(int successes, int trials, double chance) {
  if (successes <= 0) {
    return 1;
  }
  return successes > trials ? 0 : incomplete_beta(successes, trials - successes + 1, chance, 1 - chance);
}

}  // namespace modlab::measures

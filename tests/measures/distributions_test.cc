#include "measures/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace modlab::measures {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

void expect_close(double found, double expected, double relative) {
  EXPECT_NEAR(found, expected, relative * std::abs(expected));
}

// The others were computed with 40 digits.
TEST(IncompleteBeta, KnownValues) {
  struct Known {
    double a, b, x, value;
  };
  for (const Known& known :
       {Known{2, 3, 0.4, 0.5248}, Known{0.5, 0.5, 0.25, 1.0 / 3}, Known{1, 1, 0.75, 0.75},
        Known{10, 0.125, 0.875, 0.0201444642352233462}, Known{200, 300, 0.41015625, 0.680167541487249171},
        Known{1.0 / 1024, 5, 1.0 / 128, 0.997268941924138941},
        Known{100000, 0.5, 0.9998779296875, 7.76418319330164308e-7}}) {
    expect_close(incomplete_beta(known.a, known.b, known.x, 1 - known.x), known.value, 5e-12);
  }
  EXPECT_EQ(incomplete_beta(2, 3, 0, 1), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1, 0), 1);
}

TEST(IncompleteBeta, BothSidesSumToOne) {
  for (const double a : {0.3, 1.0, 7.5, 120.0}) {
    for (const double b : {0.5, 2.0, 33.0}) {
      for (const double x : {1e-6, 0.125, 0.5, 0.875}) {
        EXPECT_NEAR(incomplete_beta(a, b, x, 1 - x) + incomplete_beta(b, a, 1 - x, x), 1, 1e-12) << a << " " << b;
      }
    }
  }
}

// For whole degrees of freedom the distribution is a finite sum (of angles where they are odd).
double closed_form(double t, int df) {
  const double angle = std::atan(t / std::sqrt(df));
  const double square = std::cos(angle) * std::cos(angle);
  double term = df % 2 == 0 ? 1 : std::cos(angle);
  double sum = df == 1 ? 0 : term;
  for (int power = df % 2 == 0 ? 2 : 3; power <= df - 2; power += 2) {
    term *= square * (power - 1) / power;
    sum += term;
  }
  const double inside = df % 2 == 0 ? std::sin(angle) * sum : 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
  return 0.5 + 0.5 * inside;
}

TEST(StudentCdf, WholeDegreesOfFreedom) {
  for (int df = 1; df <= 60; ++df) {
    for (const double t : {-30.0, -4.5, -1.0, -0.2, 0.0, 1e-9, 0.7, 2.0, 12.0}) {
      EXPECT_NEAR(student_cdf(t, df), closed_form(t, df), 1e-13) << "t " << t << ", df " << df;
    }
  }
}

// Computed with 40 digits; also far out in the tail, and where df is large or small.
TEST(StudentCdf, AnyDegreesOfFreedom) {
  struct Known {
    double t, df, p;
  };
  for (const Known& known : {Known{-2.5, 3.7, 0.0359110114559133864}, Known{-0.01, 5.25, 0.496195120801746},
                             Known{1.3, 4.999, 0.874844339492674434}, Known{-1217.05, 3, 6.11666129854112908e-10},
                             Known{-1e8, 3.5, 1.77976283979972025e-28}, Known{-4, 1000, 0.0000340049596043907888},
                             Known{-3, 12345.678, 0.00135259180814098371}, Known{-5, 1e6, 2.86699893544537078e-7},
                             Known{0.7, 0.5, 0.657299668739616733}, Known{-40, 250.25, 5.21107863351644983e-111},
                             Known{-1e-8, 7, 0.499999996150085492}, Known{-0.6745, 1e7, 0.24999675066000689}}) {
    expect_close(student_cdf(known.t, known.df), known.p, 5e-12);
  }
}

TEST(StudentCdf, IsSymmetricAndRises) {
  for (const double df : {0.4, 1.0, 3.0, 5.9, 42.0, 1e5}) {
    double before = 0;
    for (int quarters = -200; quarters <= 200; ++quarters) {
      const double t = 0.25 * quarters;
      const double p = student_cdf(t, df);
      EXPECT_GE(p, before) << t;
      EXPECT_NEAR(p + student_cdf(-t, df), 1, 1e-14) << t;
      before = p;
    }
    EXPECT_EQ(student_cdf(0, df), 0.5);
    EXPECT_EQ(student_cdf(-kInfinite, df), 0);
    EXPECT_EQ(student_cdf(kInfinite, df), 1);
    EXPECT_EQ(student_cdf(1e300, df), 1);
  }
}

TEST(StudentQuantile, IsTheInverse) {
  // Of printed tables.
  EXPECT_NEAR(student_quantile(0.95, 2), 2.919986, 1e-6);
  EXPECT_NEAR(student_quantile(0.95, 9), 1.833113, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.776445, 1e-6);
  for (const double df : {1.0, 3.7, 29.0, 1e4}) {
    for (const double share : {1e-6, 0.05, 0.3, 0.5, 0.9, 0.999}) {
      EXPECT_NEAR(student_cdf(student_quantile(share, df), df), share, 1e-12) << df << " " << share;
    }
  }
}

TEST(BinomialAtLeast, ByHand) {
  EXPECT_EQ(binomial_at_least(0, 5, 0.3), 1);
  EXPECT_EQ(binomial_at_least(6, 5, 0.3), 0);
  EXPECT_NEAR(binomial_at_least(1, 5, 0.3), 1 - std::pow(0.7, 5), 1e-14);
  EXPECT_NEAR(binomial_at_least(5, 5, 0.3), std::pow(0.3, 5), 1e-14);
  EXPECT_NEAR(binomial_at_least(2, 3, 0.5), 0.5, 1e-14);
  EXPECT_EQ(binomial_at_least(2, 3, 1), 1);
  EXPECT_EQ(binomial_at_least(2, 3, 0), 0);
}

}  // namespace
}  // namespace modlab::measures

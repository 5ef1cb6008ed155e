#pragma once

namespace modlab::measures {

// The regularised incomplete beta function I_x(a, b) for a, b > 0 and 0 <= x <= 1; `rest` is 1 - x, which the caller
// may know better than x does where x is near 1.
double incomplete_beta(double a, double b, double x, double rest);

// P(T <= t) for Student's distribution with df > 0 degrees of freedom, whole or not; t may be infinite.
double student_cdf(double t, double df);

// The t that a share of Student's distribution lies below, 0 < share < 1.
double student_quantile(double share, double df);

// P(X >= successes) for X successes in so many trials, each with probability `chance`.
double binomial_at_least(int successes, int trials, double chance);

}  // namespace modlab::measures

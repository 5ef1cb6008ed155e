#pragma once

#include <cstddef>
#include <vector>

namespace modlab::methods {

// A number for each pair of units, the same both ways round.
class PairTable {
 public:
  explicit PairTable(int units) : units_(units), values_(units_ * units_) {}

  int units() const { return static_cast<int>(units_); }
  double at(int a, int b) const { return values_[a * units_ + b]; }
  void set(int a, int b, double value) {
    values_[a * units_ + b] = value;
    values_[b * units_ + a] = value;
  }
  double* row(int unit) { return values_.data() + unit * units_; }
  const double* row(int unit) const { return values_.data() + unit * units_; }
  std::vector<double>& values() { return values_; }

 private:
  std::size_t units_;
  std::vector<double> values_;
};

}  // namespace modlab::methods

#include "measures/image_specialisation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "measures/assignment.h"
#include "measures/specialisation.h"

namespace modlab::measures {
namespace {

// The assignment compares whole numbers: |rho| in steps far below the rounding of any network.
constexpr double kSteps = 0x1p40;

}  // namespace

double image_specialisation(const std::vector<std::vector<double>>& outputs, const std::vector<int>& digits, int bits) {
  std::vector<std::vector<double>> rho(bits);  // [bit][output], without sign
  for (int bit = 0; bit < bits; ++bit) {
    std::vector<double> truth;
    for (const int digit : digits) {
      truth.push_back((digit >> (bits - 1 - bit)) & 1);
    }
    for (const std::vector<double>& output : outputs) {
      rho[bit].push_back(std::abs(pearson(output, truth)));
    }
  }
  // The assignment wants no more rows than columns, so outputs that are missing become columns of zeros.
  const int columns = std::max(bits, static_cast<int>(outputs.size()));
  std::vector<std::int64_t> weights;
  for (std::vector<double>& row : rho) {
    row.resize(columns, 0.0);
    for (const double value : row) {
      weights.push_back(std::llround(value * kSteps));
    }
  }
  Assignment assignment;
  assignment.maximise(weights, bits, columns);
  double sum = 0;
  for (int bit = 0; bit < bits; ++bit) {
    sum += rho[bit][assignment.column_of(bit)];
  }
  return sum / bits;
}

}  // namespace modlab::measures

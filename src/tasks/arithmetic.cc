#include "tasks/arithmetic.h"

#include "core/numpy_random.h"

namespace modlab::tasks {
namespace {

int power_of_ten(int digits) {
  int power = 1;
  for (int place = 0; place < digits; ++place) {
    power *= 10;
  }
  return power;
}

}  // namespace

std::vector<std::string> arithmetic_targets(Arithmetic kind) {
  return kind == Arithmetic::kAddMul ? std::vector<std::string>{"add", "mul"}
                                     : std::vector<std::string>{"pair1", "pair2"};
}

std::vector<ArithmeticSample> draw_arithmetic(Arithmetic kind, int digits, std::uint32_t seed, std::size_t count) {
  NumpyRandom random(seed);
  const int numbers = kind == Arithmetic::kAddMul ? 2 : 4;
  const int end = power_of_ten(digits);
  std::vector<ArithmeticSample> samples(count);
  for (ArithmeticSample& sample : samples) {
    for (int number = 0; number < numbers; ++number) {
      sample.numbers[static_cast<std::size_t>(number)] = static_cast<std::uint16_t>(random.uniform() * end);
    }
    if (kind == Arithmetic::kAddMul) {
      sample.operation = random.uniform() < 0.5 ? 0 : 1;
    }
  }
  return samples;
}

int arithmetic_result(int first, int second, int operation, int digits) {
  const long long whole =
      operation == 0 ? static_cast<long long>(first) + second : static_cast<long long>(first) * second;
  return static_cast<int>(whole % power_of_ten(digits));
}

int digit_of(int number, int place) { return number / power_of_ten(place) % 10; }

}  // namespace modlab::tasks

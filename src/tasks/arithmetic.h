#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// Two-digit arithmetic with one network for two functions (Csordas, van Steenkiste and Schmidhuber, "Are neural nets
// modular?").
namespace modlab::tasks {

// Sums and products, one of which is asked for; or two sums at once.
enum class Arithmetic { kAddMul, kDoubleAddition };

inline constexpr int kMaxDigits10 = 4;

// What a network is asked. Of sums and products a and b, and the operation; of two sums a + b and c + d.
struct ArithmeticSample {
  std::array<std::uint16_t, 4> numbers{};
  std::uint8_t operation = 0;  // 0: add, 1: multiply
};

// What can be asked for by itself: "add" and "mul", or "pair1" and "pair2".
std::vector<std::string> arithmetic_targets(Arithmetic kind);

// So many samples, as the legacy generator of numpy draws them from a seed: number after number, then the operation.
std::vector<ArithmeticSample> draw_arithmetic(Arithmetic kind, int digits, std::uint32_t seed, std::size_t count);
// The published seeds and sizes of what is learned from and of what is tested on.
inline constexpr std::uint32_t kArithmeticTrainSeed = 0x12345678;
inline constexpr std::uint32_t kArithmeticTestSeed = 0x1234567A;
inline constexpr std::size_t kArithmeticTrainSamples = 1'000'000;
inline constexpr std::size_t kArithmeticTestSamples = 10'000;

// The last digits of a sum or a product, as many as numbers have.
int arithmetic_result(int first, int second, int operation, int digits);

// Digit `place` of a number, the least significant first.
int digit_of(int number, int place);

}  // namespace modlab::tasks

#include "core/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace modlab {
namespace {

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void Sha256::mix(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> words;
  for (std::size_t round = 0; round < 16; ++round) {
    words[round] = big_endian(block + 4 * round);
  }
  for (std::size_t round = 16; round < words.size(); ++round) {
    const std::uint32_t near = words[round - 2];
    const std::uint32_t far = words[round - 15];
    words[round] = words[round - 16] + words[round - 7] + (std::rotr(near, 17) ^ std::rotr(near, 19) ^ (near >> 10)) +
                   (std::rotr(far, 7) ^ std::rotr(far, 18) ^ (far >> 3));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t round = 0; round < words.size(); ++round) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                kRounds[round] + words[round];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t word = 0; word < state_.size(); ++word) {
    state_[word] += mixed[word];
  }
}

void Sha256::add(std::span<const std::uint8_t> bytes) {
  byte_count_ += bytes.size();
  while (!bytes.empty()) {
    if (pending_count_ == 0 && bytes.size() >= kBlock) {
      mix(bytes.data());
      bytes = bytes.subspan(kBlock);
      continue;
    }
    const std::size_t count = std::min(kBlock - pending_count_, bytes.size());
    std::ranges::copy(bytes.first(count), pending_.begin() + static_cast<std::ptrdiff_t>(pending_count_));
    pending_count_ += count;
    bytes = bytes.subspan(count);
    if (pending_count_ == kBlock) {
      mix(pending_.data());
      pending_count_ = 0;
    }
  }
}

void Sha256::add(std::string_view text) {
  add(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string Sha256::hex() {
  const std::uint64_t bit_count = 8 * byte_count_;
  // A single 1 bit, zeros, and the length as eight bytes at the very end of a block.
  const std::size_t zeros = (2 * kBlock - 8 - 1 - pending_count_) % kBlock;
  std::string ending = "\x80" + std::string(zeros, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) {
    ending += static_cast<char>(bit_count >> shift & 0xff);
  }
  add(ending);
  std::string digits;
  for (const std::uint32_t word : state_) {
    digits += fmt::format("{:08x}", word);
  }
  return digits;
}

std::string sha256_hex(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.hex();
}

}  // namespace modlab

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace modlab {

// SHA-256 (FIPS 180-4) of bytes that come in parts; as 64 lower-case hexadecimal digits.
class Sha256 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  void add(std::string_view text);
  // Of everything added; nothing can be added after it.
  std::string hex();

 private:
  static constexpr std::size_t kBlock = 64;
  void mix(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> pending_{};  // the bytes that do not fill a block yet
  std::size_t pending_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

std::string sha256_hex(std::string_view text);

}  // namespace modlab

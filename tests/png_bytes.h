#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

// PNG images, written out byte by byte.
namespace modlab::test {

inline std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::string png_chunk(const std::string& kind, const std::string& contents) {
  const std::string body = kind + contents;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(contents.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

// `filtered`: for each row the number of its filter, and its bytes after it.
inline std::string png(std::uint32_t width, std::uint32_t height, const std::string& filtered, char colour_type = 2) {
  std::string packed(compressBound(filtered.size()), '\0');
  uLongf size = packed.size();
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(filtered.data()),
            filtered.size(), Z_BEST_SPEED);
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big_endian(width) + big_endian(height) + std::string({8, colour_type, 0, 0, 0})) +
         png_chunk("tEXt", "what nobody asks for") + png_chunk("IDAT", packed.substr(0, 5)) +
         png_chunk("IDAT", packed.substr(5)) + png_chunk("IEND", "");
}

}  // namespace modlab::test

#include "io/png.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>

#include "core/errors.h"
#include "io/inflate.h"

namespace modlab::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n"sv;
constexpr std::size_t kColours = 3;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) {
    value = (value << 8) | static_cast<std::uint8_t>(byte);
  }
  return value;
}

// What a byte was predicted to be, from its neighbours to the left, above, and above to the left (Paeth's filter).
std::uint8_t nearest(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int to_left = std::abs(guess - left);
  const int to_above = std::abs(guess - above);
  const int to_corner = std::abs(guess - corner);
  if (to_left <= to_above && to_left <= to_corner) {
    return static_cast<std::uint8_t>(left);
  }
  return static_cast<std::uint8_t>(to_above <= to_corner ? above : corner);
}

// Each row says first by which of five filters its bytes were made differences.
void undo_filters(std::string_view filtered, PngImage& image, const std::string& source) {
  const std::size_t row_bytes = kColours * image.width;
  image.pixels.resize(image.height * row_bytes);
  auto* pixels = reinterpret_cast<std::uint8_t*>(image.pixels.data());
  for (std::size_t row = 0; row < image.height; ++row) {
    const std::string_view line = filtered.substr(row * (1 + row_bytes), 1 + row_bytes);
    std::uint8_t* now = pixels + row * row_bytes;
    const std::uint8_t* before = row == 0 ? nullptr : now - row_bytes;
    for (std::size_t place = 0; place < row_bytes; ++place) {
      const int left = place < kColours ? 0 : now[place - kColours];
      const int above = before == nullptr ? 0 : before[place];
      const int corner = before == nullptr || place < kColours ? 0 : before[place - kColours];
      int predicted = 0;
      switch (line[0]) {
        case 0:
          break;
        case 1:
          predicted = left;
          break;
        case 2:
          predicted = above;
          break;
        case 3:
          predicted = (left + above) / 2;
          break;
        case 4:
          predicted = nearest(left, above, corner);
          break;
        default:
          throw FormatError(fmt::format("{}: a damaged PNG image; get it again", source));
      }
      now[place] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(line[1 + place]) + predicted);
    }
  }
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(kSignature); }

PngImage decode_png(std::string_view bytes, std::size_t max_pixels, const std::string& source) {
  if (!is_png(bytes)) {
    throw FormatError(fmt::format("{}: not a PNG image", source));
  }
  PngImage image;
  std::string packed;
  std::string_view rest = bytes.substr(kSignature.size());
  while (true) {
    // A chunk: length, kind, contents, and a checksum of kind and contents.
    const std::size_t length = rest.size() < 12 ? 0 : big_endian(rest);
    if (rest.size() < 12 || rest.size() - 12 < length) {
      throw FormatError(fmt::format("{}: ends in the middle; get it again", source));
    }
    const std::string_view kind = rest.substr(4, 4);
    const std::string_view contents = rest.substr(8, length);
    const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(kind.data()), static_cast<uInt>(4 + length));
    if (sum != big_endian(rest.substr(8 + length))) {
      throw FormatError(fmt::format("{}: a damaged PNG image; get it again", source));
    }
    if (kind == "IHDR") {
      // Width, height, bits of a colour, colours without a palette, and three kinds that have one value each here.
      if (length != 13 || contents.substr(8) != "\x08\x02\x00\x00\x00"sv) {
        throw FormatError(
            fmt::format("{}: a kind of PNG that is not read here; eight bits of red, green and blue are", source));
      }
      image.width = big_endian(contents);
      image.height = big_endian(contents.substr(4));
      if (image.width == 0 || image.height == 0 || image.width > max_pixels / image.height) {
        throw FormatError(
            fmt::format("{}: has {} x {} pixels, and may have {}", source, image.width, image.height, max_pixels));
      }
    } else if (kind == "IDAT") {
      packed += contents;
    } else if (kind == "IEND") {
      break;
    }
    rest.remove_prefix(12 + length);
  }
  const std::size_t expected = image.height * (1 + kColours * image.width);
  const std::string filtered = inflate_stream(packed, Wrapping::kZlib, expected, source);
  if (image.width == 0 || filtered.size() != expected) {
    throw FormatError(fmt::format("{}: a damaged PNG image; get it again", source));
  }
  undo_filters(filtered, image, source);
  return image;
}

}  // namespace modlab::io

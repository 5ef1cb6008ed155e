#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlab::io {

// The pixels of a PNG image (ISO/IEC 15948), three bytes each: red, green and blue, row after row.
struct PngImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::string pixels;
};

bool is_png(std::string_view bytes);

// Of the kinds of PNG the one that keeps colours as they are: eight bits a colour, not interlaced, without
// transparency. Throws FormatError, naming `source`, on other kinds, on a damaged file, and where there are more than
// `max_pixels`.
PngImage decode_png(std::string_view bytes, std::size_t max_pixels, const std::string& source);

}  // namespace modlab::io

#include "io/compress.h"

#include <fmt/format.h>
#include <zlib.h>

#include <new>

#include "core/errors.h"

namespace modlab::io {

std::string compress(std::string_view text) {
  uLongf bytes = compressBound(static_cast<uLong>(text.size()));
  std::string stream(bytes, '\0');
  // The fastest level: weights hardly shrink further, and curves shrink well at any.
  if (compress2(reinterpret_cast<Bytef*>(stream.data()), &bytes, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), Z_BEST_SPEED) != Z_OK) {
    throw std::bad_alloc();
  }
  stream.resize(bytes);
  return stream;
}

std::string expand(std::string_view stream, std::size_t bytes, const std::string& source) {
  std::string text(bytes, '\0');
  auto got = static_cast<uLongf>(bytes);
  const int code = uncompress(reinterpret_cast<Bytef*>(text.data()), &got,
                              reinterpret_cast<const Bytef*>(stream.data()), static_cast<uLong>(stream.size()));
  if (code != Z_OK || got != bytes) {
    throw FormatError(fmt::format("{}: a compressed part is damaged; train it again into another folder", source));
  }
  return text;
}

}  // namespace modlab::io

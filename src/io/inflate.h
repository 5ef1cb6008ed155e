#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlab::io {

// Deflated bytes from outside: bare, as in zip files, with zlib's header and checksum, as in PNG images, or with
// gzip's.
enum class Wrapping { kNone, kZlib, kGzip };

bool is_gzip(std::string_view bytes);

// The bytes of the stream; of gzip streams one after the other, all of them. Memory is taken as the bytes arrive.
// Throws FormatError, naming `source`, on a damaged stream, on one that ends early or goes on after its end, and where
// there are more than `max_bytes`.
std::string inflate_stream(std::string_view stream, Wrapping wrapping, std::size_t max_bytes,
                           const std::string& source);

}  // namespace modlab::io

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace modlab::io {

// zlib streams. expand() throws FormatError, naming `source`, on a damaged stream and on one that does not unfold to
// exactly `bytes`.
std::string compress(std::string_view text);
std::string expand(std::string_view stream, std::size_t bytes, const std::string& source);

}  // namespace modlab::io

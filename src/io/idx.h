#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace modlab::io {

// An array of unsigned bytes, the last dimension running fastest: the format in which MNIST was published.
struct IdxArray {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> values;
};

// Reads an IDX file, plain or compressed with gzip, whatever its name says. Throws FormatError if it is not exactly
// what its header promises; memory is taken as the bytes arrive. `source`, if given, stands in messages for the path.
IdxArray read_idx(const std::string& path, const std::string& source = "");
// The same for bytes; `source` stands for the path.
IdxArray decode_idx(std::string_view bytes, const std::string& source);

// The bytes of a plain file, and those before its values.
std::string encode_idx(const IdxArray& array);
std::string idx_header(const std::vector<std::uint32_t>& shape);

}  // namespace modlab::io

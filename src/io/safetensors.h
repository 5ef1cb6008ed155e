#pragma once

#include <map>
#include <string>
#include <vector>

namespace modlab::io {

// Named float arrays and a little text, in the safetensors container: a length, a JSON header, raw little-endian data.
struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

struct TensorFile {
  std::vector<NamedTensor> tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;

  const NamedTensor* find(const std::string& name) const;
};

// The whole container as bytes.
std::string encode_safetensors(const TensorFile& file);

// Whether a file is meant to be one: by its name, so that damage is then called by its name, or by its first bytes.
bool is_safetensors(std::string_view bytes, std::string_view name);

// Reads a file from anyone: lengths, offsets and shapes are checked against the file's size before memory is taken.
// Throws FormatError.
TensorFile read_safetensors(const std::string& path);
TensorFile decode_safetensors(const std::string& bytes, const std::string& path);

}  // namespace modlab::io

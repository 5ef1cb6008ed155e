#include "io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/errors.h"
#include "io/file.h"
#include "io/json_text.h"

namespace modlab::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are copied as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxFileBytes = 4'000'000'000;

struct Entry {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t begin;
  std::size_t end;
};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FormatError(fmt::format("{}: {}; the file is damaged or not a safetensors file", path, why));
}

Entry read_entry(const std::string& path, const std::string& name, const nlohmann::ordered_json& value,
                 std::size_t data_bytes) {
  const auto is_size = [](const nlohmann::ordered_json& number) { return number.is_number_unsigned(); };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
    fail(path, fmt::format("tensor '{}' has no dtype, shape and data_offsets", name));
  }
  if (value["dtype"] != "F32") {
    throw FormatError(fmt::format("{}: tensor '{}' is {}, but only F32 is read", path, name, value["dtype"].dump()));
  }
  const nlohmann::ordered_json& shape = value["shape"];
  const nlohmann::ordered_json& offsets = value["data_offsets"];
  if (!shape.is_array() || !std::ranges::all_of(shape, is_size) || !offsets.is_array() || offsets.size() != 2 ||
      !std::ranges::all_of(offsets, is_size)) {
    fail(path, fmt::format("tensor '{}' has a broken shape or data_offsets", name));
  }
  Entry entry{name, {}, offsets[0].get<std::size_t>(), offsets[1].get<std::size_t>()};
  std::size_t count = 1;
  for (const nlohmann::ordered_json& size : shape) {
    const auto extent = size.get<std::size_t>();
    if (extent != 0 && count > kMaxFileBytes / extent) {
      fail(path, fmt::format("tensor '{}' is larger than the file", name));
    }
    count *= extent;
    entry.shape.push_back(extent);
  }
  if (entry.begin > entry.end || entry.end > data_bytes || entry.end - entry.begin != count * sizeof(float)) {
    fail(path, fmt::format("tensor '{}' does not fit the file's {} bytes of data", name, data_bytes));
  }
  return entry;
}

}  // namespace

const NamedTensor* TensorFile::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::string encode_safetensors(const TensorFile& file) {
  nlohmann::ordered_json header;
  if (!file.metadata.empty()) {
    header["__metadata__"] = file.metadata;
  }
  std::size_t offset = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::size_t bytes = tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const NamedTensor& tensor : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  }
  return bytes;
}

bool is_safetensors(std::string_view bytes, std::string_view name) {
  std::uint64_t length = 0;
  if (bytes.size() > kLengthBytes) {
    std::memcpy(&length, bytes.data(), kLengthBytes);
  }
  const bool has_header = bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{';
  return name.ends_with(".safetensors") || (has_header && length <= bytes.size() - kLengthBytes);
}

TensorFile decode_safetensors(const std::string& bytes, const std::string& path) {
  if (bytes.size() < kLengthBytes) {
    fail(path, fmt::format("it has only {} bytes", bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes || length > bytes.size() - kLengthBytes) {
    fail(path, "its header is longer than the file");
  }
  const char* text = bytes.data() + kLengthBytes;
  const nlohmann::ordered_json header = parse_json({text, length});
  if (!header.is_object()) {
    fail(path, "its header is not JSON");
  }
  const std::size_t data_begin = kLengthBytes + length;
  const std::size_t data_bytes = bytes.size() - data_begin;
  TensorFile file;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(read_entry(path, name, value, data_bytes));
      continue;
    }
    if (!value.is_object()) {
      fail(path, "its metadata are not an object");
    }
    for (const auto& [key, metadata] : value.items()) {
      if (!metadata.is_string()) {
        fail(path, "its metadata are not text");
      }
      file.metadata[key] = metadata.get<std::string>();
    }
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::size_t filled = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != filled) {
      fail(path, fmt::format("tensor '{}' overlaps another or leaves a gap", entry.name));
    }
    filled = entry.end;
    NamedTensor tensor{entry.name, entry.shape, std::vector<float>((entry.end - entry.begin) / sizeof(float))};
    if (!tensor.values.empty()) {
      std::memcpy(tensor.values.data(), bytes.data() + data_begin + entry.begin, entry.end - entry.begin);
    }
    file.tensors.push_back(std::move(tensor));
  }
  if (filled != data_bytes) {
    fail(path, fmt::format("it has {} bytes that belong to no tensor", data_bytes - filled));
  }
  return file;
}

TensorFile read_safetensors(const std::string& path) {
  return decode_safetensors(read_file(path, kMaxFileBytes), path);
}

}  // namespace modlab::io

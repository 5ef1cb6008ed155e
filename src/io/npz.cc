#include "io/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/inflate.h"

namespace modlab::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

constexpr std::size_t kMaxFileBytes = 4'000'000'000;
constexpr std::size_t kMaxExpandedBytes = std::size_t{1} << 30;  // all arrays together
constexpr std::size_t kMaxDimensions = 32;                       // as in numpy

// Of the zip format.
constexpr std::string_view kMemberMagic = "PK\x03\x04";
constexpr std::string_view kEntryMagic = "PK\x01\x02";
constexpr std::string_view kEndMagic = "PK\x05\x06";
constexpr std::string_view kZip64Magic = "PK\x06\x07";
constexpr std::size_t kMemberBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::size_t kMaxComment = 65535;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint32_t kInZip64 = 0xffffffff;

constexpr std::string_view kArrayMagic = "\x93NUMPY";
constexpr std::string_view kArraySuffix = ".npy";

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw FormatError(fmt::format("{}: {}", path, reason));
}

[[noreturn]] void fail_damaged(const std::string& path, const std::string& reason) {
  fail(path, reason + "; the file is damaged or not an npz file");
}

[[noreturn]] void fail_zip64(const std::string& path) {
  fail(path, "is a zip64 file, which is not read; save arrays of less than 4 GB");
}

// The number at `at`, which the caller knows to be there.
template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

// A line of the zip's directory, which stands at its end. It is what counts: where a member begins, sizes may be left
// out.
struct Entry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::size_t packed = 0;
  std::size_t expanded = 0;
  std::size_t begin = 0;
};

struct Directory {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t entries = 0;
};

Directory find_directory(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kEndBytes) {
    fail_damaged(path, fmt::format("it has only {} bytes", bytes.size()));
  }
  const std::size_t last = bytes.size() - kEndBytes;
  const std::size_t first = last - std::min(last, kMaxComment);
  for (std::size_t at = last + 1; at-- > first;) {
    // Only a comment may follow, up to the end of the file.
    if (!bytes.substr(at).starts_with(kEndMagic) || number_at<std::uint16_t>(bytes, at + 20) != last - at) {
      continue;
    }
    const auto size = number_at<std::uint32_t>(bytes, at + 12);
    const auto begin = number_at<std::uint32_t>(bytes, at + 16);
    const bool has_locator = at >= kZip64LocatorBytes && bytes.substr(at - kZip64LocatorBytes).starts_with(kZip64Magic);
    if (has_locator || size == kInZip64 || begin == kInZip64) {
      fail_zip64(path);
    }
    if (begin > at || size != at - begin) {
      fail_damaged(path, "its directory lies outside of the file");
    }
    return {begin, at, number_at<std::uint16_t>(bytes, at + 10)};
  }
  fail_damaged(path, "it has no directory at its end");
}

std::vector<Entry> read_entries(std::string_view bytes, const std::string& path) {
  const Directory directory = find_directory(bytes, path);
  std::vector<Entry> entries;
  std::size_t at = directory.begin;
  while (at < directory.end) {
    if (directory.end - at < kEntryBytes || !bytes.substr(at).starts_with(kEntryMagic)) {
      fail_damaged(path, "its directory is broken");
    }
    const std::size_t name_bytes = number_at<std::uint16_t>(bytes, at + 28);
    const std::size_t more_bytes =
        std::size_t{number_at<std::uint16_t>(bytes, at + 30)} + number_at<std::uint16_t>(bytes, at + 32);
    if (directory.end - at - kEntryBytes < name_bytes + more_bytes) {
      fail_damaged(path, "its directory is broken");
    }
    Entry entry;
    entry.name = bytes.substr(at + kEntryBytes, name_bytes);
    entry.flags = number_at<std::uint16_t>(bytes, at + 8);
    entry.method = number_at<std::uint16_t>(bytes, at + 10);
    entry.checksum = number_at<std::uint32_t>(bytes, at + 16);
    entry.packed = number_at<std::uint32_t>(bytes, at + 20);
    entry.expanded = number_at<std::uint32_t>(bytes, at + 24);
    entry.begin = number_at<std::uint32_t>(bytes, at + 42);
    if (entry.packed == kInZip64 || entry.expanded == kInZip64 || entry.begin == kInZip64) {
      fail_zip64(path);
    }
    entries.push_back(std::move(entry));
    at += kEntryBytes + name_bytes + more_bytes;
  }
  if (entries.size() != directory.entries) {
    fail_damaged(path, fmt::format("its directory has {} entries and promises {}", entries.size(), directory.entries));
  }
  return entries;
}

std::size_t sum_of(const std::vector<Entry>& entries, std::size_t Entry::*size) {
  std::size_t sum = 0;
  for (const Entry& entry : entries) {
    sum += entry.*size;
  }
  return sum;
}

// The bytes of a member, expanded and checked.
std::string expand_member(std::string_view bytes, const Entry& entry, const std::string& source) {
  if (entry.begin > bytes.size() || bytes.size() - entry.begin < kMemberBytes ||
      !bytes.substr(entry.begin).starts_with(kMemberMagic)) {
    fail_damaged(source, "it is not where the directory says");
  }
  const std::size_t begin = entry.begin + kMemberBytes + number_at<std::uint16_t>(bytes, entry.begin + 26) +
                            number_at<std::uint16_t>(bytes, entry.begin + 28);
  if (begin > bytes.size() || bytes.size() - begin < entry.packed) {
    fail_damaged(source, "it does not fit the file");
  }
  if ((entry.flags & kEncrypted) != 0) {
    fail(source, "it is encrypted; save it without a password");
  }
  if (entry.method != kStored && entry.method != kDeflated) {
    fail(source, fmt::format("it is compressed by method {}; save it with numpy.savez or numpy.savez_compressed",
                             entry.method));
  }
  const std::string_view packed = bytes.substr(begin, entry.packed);
  std::string data =
      entry.method == kStored ? std::string(packed) : inflate_stream(packed, Wrapping::kNone, entry.expanded, source);
  if (data.size() != entry.expanded) {
    fail_damaged(source, fmt::format("it has {} bytes and promises {}", data.size(), entry.expanded));
  }
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
  if (checksum != entry.checksum) {
    fail_damaged(source, "it does not have the checksum of the directory");
  }
  return data;
}

// What stands before an array's numbers: a Python dictionary.
struct ArrayHeader {
  std::string type;
  bool is_fortran = false;
  std::vector<std::size_t> shape;
};

// Reads exactly what numpy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } in any order. Everything
// else is no header.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  std::optional<ArrayHeader> read() {
    ArrayHeader header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    if (!take("{")) {
      return std::nullopt;
    }
    while (!take("}")) {
      const std::optional<std::string> key = text();
      if (!key || !take(":")) {
        return std::nullopt;
      }
      bool* const has = *key == "descr"           ? &has_type
                        : *key == "fortran_order" ? &has_order
                        : *key == "shape"         ? &has_shape
                                                  : nullptr;
      if (has == nullptr || *has) {
        return std::nullopt;
      }
      *has = has == &has_type ? type(header) : has == &has_order ? order(header) : shape(header);
      if (!*has || (!take(",") && !rest_.starts_with("}"))) {
        return std::nullopt;
      }
    }
    return has_type && has_order && has_shape && rest_.empty() ? std::optional(header) : std::nullopt;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    skip_blanks();
    return true;
  }

  std::optional<std::string> text() {
    for (const std::string_view quote : {"'", "\""}) {
      if (take(quote)) {
        const std::size_t end = rest_.find(quote);
        if (end == std::string_view::npos) {
          return std::nullopt;
        }
        std::string found(rest_.substr(0, end));
        rest_.remove_prefix(end);
        take(quote);
        return found;
      }
    }
    return std::nullopt;
  }

  bool type(ArrayHeader& header) {
    // A list, which stands for several named columns, is no text.
    const std::optional<std::string> found = text();
    header.type = found.value_or("");
    return found.has_value();
  }

  bool order(ArrayHeader& header) {
    header.is_fortran = take("True");
    return header.is_fortran || take("False");
  }

  bool shape(ArrayHeader& header) {
    if (!take("(")) {
      return false;
    }
    while (!take(")")) {
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const std::optional<long long> size = parse_integer(rest_.substr(0, digits));
      if (!size || header.shape.size() == kMaxDimensions) {
        return false;
      }
      header.shape.push_back(static_cast<std::size_t>(*size));
      rest_.remove_prefix(digits);
      if (!take(",") && !rest_.starts_with(")")) {
        return false;
      }
    }
    return true;
  }

  std::string_view rest_;
};

float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  float size = 0;
  if (exponent == 0x1f) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    size = std::ldexp(static_cast<float>(0x400 | fraction), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -size : size;
}

template <typename T>
float value_at(std::string_view bytes, std::size_t at) {
  return static_cast<float>(number_at<T>(bytes, at));
}
float half_at(std::string_view bytes, std::size_t at) { return half_to_float(number_at<std::uint16_t>(bytes, at)); }
float truth_at(std::string_view bytes, std::size_t at) { return bytes[at] != 0 ? 1.0F : 0.0F; }

struct NumberType {
  std::string_view name;
  std::size_t bytes;
  float (*value)(std::string_view bytes, std::size_t at);
};

constexpr NumberType kNumberTypes[] = {
    {"<f2", 2, &half_at},
    {"<f4", 4, &value_at<float>},
    {"<f8", 8, &value_at<double>},
    {"|b1", 1, &truth_at},
    {"|i1", 1, &value_at<std::int8_t>},
    {"|u1", 1, &value_at<std::uint8_t>},
    {"<i2", 2, &value_at<std::int16_t>},
    {"<u2", 2, &value_at<std::uint16_t>},
    {"<i4", 4, &value_at<std::int32_t>},
    {"<u4", 4, &value_at<std::uint32_t>},
    {"<i8", 8, &value_at<std::int64_t>},
    {"<u8", 8, &value_at<std::uint64_t>},
};

const NumberType& number_type(const std::string& name, const std::string& source) {
  const auto* const found = std::ranges::find(kNumberTypes, name, &NumberType::name);
  if (found != std::end(kNumberTypes)) {
    return *found;
  }
  if (name.starts_with(">")) {
    fail(source, fmt::format("it has big-endian numbers ({}); save it as little-endian ones, such as <f4", name));
  }
  fail(
      source,
      fmt::format("it has values of type {}; only real and whole numbers are read, so save the file without it", name));
}

// The header as text, and where the numbers begin.
std::pair<std::string_view, std::size_t> header_text(std::string_view bytes, const std::string& source) {
  // Magic and version, then the header's length in two bytes, since version 2 in four.
  const std::size_t version_at = kArrayMagic.size();
  const int version = bytes.size() > version_at ? bytes[version_at] : 0;
  const std::size_t begin = version_at + 2 + (version == 1 ? 2 : 4);
  if (!bytes.starts_with(kArrayMagic) || version < 1 || version > 3 || bytes.size() < begin) {
    fail_damaged(source, "it is not an array");
  }
  const std::size_t length = version == 1 ? std::size_t{number_at<std::uint16_t>(bytes, version_at + 2)}
                                          : std::size_t{number_at<std::uint32_t>(bytes, version_at + 2)};
  if (bytes.size() - begin < length) {
    fail_damaged(source, "it has a header longer than itself");
  }
  return {bytes.substr(begin, length), begin + length};
}

// Nothing if it is more than any file can hold.
std::optional<std::size_t> count_of(const std::vector<std::size_t>& shape) {
  // Looked for first: the other factors may be anything.
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) {
    return 0;
  }
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (count > kMaxFileBytes / extent) {
      return std::nullopt;
    }
    count *= extent;
  }
  return count;
}

// The numbers with the last dimension running fastest, of data where the first does.
std::vector<float> turned_values(std::string_view data, const NumberType& type, const std::vector<std::size_t>& shape,
                                 std::size_t count) {
  std::vector<std::size_t> strides(shape.size(), type.bytes);
  for (std::size_t dimension = 1; dimension < shape.size(); ++dimension) {
    strides[dimension] = strides[dimension - 1] * shape[dimension - 1];
  }
  std::vector<float> values(count);
  std::vector<std::size_t> index(shape.size());
  std::size_t place = 0;
  for (float& value : values) {
    value = type.value(data, place);
    for (std::size_t dimension = shape.size(); dimension-- > 0;) {
      place += strides[dimension];
      if (++index[dimension] < shape[dimension]) {
        break;
      }
      place -= strides[dimension] * shape[dimension];
      index[dimension] = 0;
    }
  }
  return values;
}

std::vector<float> values_in_order(std::string_view data, const NumberType& type, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = type.value(data, at * type.bytes);
  }
  return values;
}

NamedTensor decode_array(std::string_view bytes, const std::string& name, const std::string& source) {
  const auto [text, begin] = header_text(bytes, source);
  const std::optional<ArrayHeader> header = HeaderReader(text).read();
  if (!header) {
    fail(source, "it has a header that names no type, order and shape of numbers; save plain arrays");
  }
  const NumberType& type = number_type(header->type, source);
  const std::string_view data = bytes.substr(begin);
  const std::optional<std::size_t> count = count_of(header->shape);
  if (!count || data.size() != *count * type.bytes) {
    fail_damaged(source, fmt::format("it has {} bytes of numbers, which is not its shape", data.size()));
  }
  return {name, header->shape,
          header->is_fortran ? turned_values(data, type, header->shape, *count) : values_in_order(data, type, *count)};
}

}  // namespace

void refuse_pickle(std::string_view bytes, const std::string& path) {
  // torch.save puts the pickle first.
  bool is_pickle = false;
  if (bytes.starts_with(kMemberMagic) && bytes.size() >= kMemberBytes) {
    const std::size_t name_bytes = number_at<std::uint16_t>(bytes, 26);
    is_pickle = bytes.substr(kMemberBytes, name_bytes).ends_with(".pkl");
  } else if (bytes.size() >= 2 && bytes[0] == '\x80') {
    is_pickle = bytes[1] >= 2 && bytes[1] <= 5;  // the versions of the format
  }
  if (is_pickle) {
    fail(path,
         "is a pickle, which could run any program and is never read; write a PyTorch model with "
         "safetensors.torch.save_file(model.state_dict(), FILE), or its matrices with numpy.savez");
  }
}

std::vector<NamedTensor> decode_npz(std::string_view bytes, const std::string& path) {
  refuse_pickle(bytes, path);
  const std::vector<Entry> entries = read_entries(bytes, path);
  // Otherwise members share bytes, and a small file could expand without end.
  if (sum_of(entries, &Entry::packed) > bytes.size()) {
    fail_damaged(path, "its members are longer than itself");
  }
  if (sum_of(entries, &Entry::expanded) > kMaxExpandedBytes) {
    fail(path, fmt::format("expands to more than {} bytes, the most that is possible here", kMaxExpandedBytes));
  }
  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  for (const Entry& entry : entries) {
    if (!entry.name.ends_with(kArraySuffix)) {
      continue;
    }
    const std::string name = entry.name.substr(0, entry.name.size() - kArraySuffix.size());
    if (!names.insert(name).second) {
      fail(path, fmt::format("has two arrays '{}'; save it again with one", name));
    }
    const std::string source = fmt::format("{}: array '{}'", path, name);
    tensors.push_back(decode_array(expand_member(bytes, entry, source), name, source));
  }
  if (tensors.empty()) {
    fail(path, "is a zip file without numpy arrays; write one with numpy.savez");
  }
  return tensors;
}

namespace {

template <typename T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

// An array with its header, which numpy wants to end at a multiple of 64 bytes.
std::string encode_array(const NamedTensor& tensor) {
  std::string shape;
  for (const std::size_t extent : tensor.shape) {
    shape += fmt::format("{}, ", extent);
  }
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape);
  constexpr std::size_t kUnit = 64;
  const std::size_t before = kArrayMagic.size() + 2 + sizeof(std::uint16_t);
  header.append((kUnit - (before + header.size() + 1) % kUnit) % kUnit, ' ');
  header += '\n';
  std::string bytes(kArrayMagic);
  bytes += std::string("\x01\0", 2);
  append(bytes, static_cast<std::uint16_t>(header.size()));
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  return bytes;
}

}  // namespace

std::string encode_npz(const std::vector<NamedTensor>& tensors) {
  constexpr std::uint16_t kVersion = 20;  // of the zip format: 2.0
  std::string file;
  std::string directory;
  for (const NamedTensor& tensor : tensors) {
    const std::string array = encode_array(tensor);
    const std::string name = tensor.name + std::string(kArraySuffix);
    // What stands both before a member and in its line of the directory.
    std::string common;
    append(common, kVersion);
    append(common, std::uint16_t{0});  // flags
    append(common, kStored);
    append(common, std::uint32_t{0x00210000});  // 1980-01-01, so that equal arrays are equal files
    append(common, static_cast<std::uint32_t>(
                       crc32_z(0, reinterpret_cast<const Bytef*>(array.data()), static_cast<z_size_t>(array.size()))));
    append(common, static_cast<std::uint32_t>(array.size()));
    append(common, static_cast<std::uint32_t>(array.size()));
    append(common, static_cast<std::uint16_t>(name.size()));
    append(common, std::uint16_t{0});  // more fields
    directory += kEntryMagic;
    append(directory, kVersion);
    directory += common;
    append(directory, std::uint16_t{0});  // comment
    append(directory, std::uint16_t{0});  // disk
    append(directory, std::uint16_t{0});  // attributes
    append(directory, std::uint32_t{0});
    append(directory, static_cast<std::uint32_t>(file.size()));
    directory += name;
    file += kMemberMagic;
    file += common;
    file += name;
    file += array;
  }
  const auto begin = static_cast<std::uint32_t>(file.size());
  file += directory;
  file += kEndMagic;
  append(file, std::uint32_t{0});  // disks
  append(file, static_cast<std::uint16_t>(tensors.size()));
  append(file, static_cast<std::uint16_t>(tensors.size()));
  append(file, static_cast<std::uint32_t>(directory.size()));
  append(file, begin);
  append(file, std::uint16_t{0});  // comment
  return file;
}

std::vector<NamedTensor> read_npz(const std::string& path) { return decode_npz(read_file(path, kMaxFileBytes), path); }

bool is_npy(std::string_view bytes) { return bytes.starts_with(kArrayMagic); }

NamedTensor decode_npy(std::string_view bytes, const std::string& path) { return decode_array(bytes, "", path); }

bool is_zip(std::string_view bytes) { return bytes.starts_with(kMemberMagic) || bytes.starts_with(kEndMagic); }

}  // namespace modlab::io

#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// Compressed files, and numpy arrays in them, written out byte by byte.
namespace modlab::test {

template <typename T>
std::string bytes_of(const std::vector<T>& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  if (!numbers.empty()) {
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  }
  return bytes;
}

template <typename T>
std::string number_bytes(T number) {
  return bytes_of(std::vector<T>{number});
}

// An array with any header, as version 1 of the format has it.
inline std::string npy_with(const std::string& header, const std::string& data) {
  return "\x93NUMPY" + std::string("\x01\0", 2) + number_bytes(static_cast<std::uint16_t>(header.size())) + header +
         data;
}

// `shape` as Python writes it: "(2, 3)".
inline std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                       bool is_fortran = false) {
  return npy_with("{'descr': '" + type + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
                      ", 'shape': " + shape + ", }      \n",
                  data);
}

// A member of a zip file; what tests may want to falsify is filled in unless it is given.
struct ZipMember {
  std::string name;
  std::string data;  // expanded
  bool is_deflated = false;
  int flags = 0;
  int method = -1;
  std::int64_t packed_bytes = -1;
  std::int64_t expanded_bytes = -1;
  std::int64_t begin = -1;
};

// Bare, as in a zip file.
inline std::string deflated(const std::string& data, int window = -MAX_WBITS) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string gzip(const std::string& data) { return deflated(data, 16 + MAX_WBITS); }

inline std::string zip(const std::vector<ZipMember>& members, const std::string& comment = "") {
  const auto two = [](std::int64_t number) { return number_bytes(static_cast<std::uint16_t>(number)); };
  const auto four = [](std::int64_t number) { return number_bytes(static_cast<std::uint32_t>(number)); };
  const auto given_or = [](std::int64_t given, std::size_t otherwise) {
    return given >= 0 ? given : static_cast<std::int64_t>(otherwise);
  };
  std::string file;
  std::string directory;
  for (const ZipMember& member : members) {
    const std::string packed = member.is_deflated ? deflated(member.data) : member.data;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(member.data.data()), static_cast<uInt>(member.data.size()));
    const std::string sizes =
        four(static_cast<std::int64_t>(checksum)) + four(given_or(member.packed_bytes, packed.size())) +
        four(given_or(member.expanded_bytes, member.data.size())) + two(static_cast<std::int64_t>(member.name.size()));
    const std::string common =
        two(20) + two(member.flags) + two(given_or(member.method, member.is_deflated ? 8 : 0)) + four(0) + sizes;
    directory += "PK\x01\x02" + two(20) + common + two(0) + two(0) + two(0) + two(0) + four(0) +
                 four(given_or(member.begin, file.size())) + member.name;
    file += "PK\x03\x04" + common + two(0) + member.name + packed;
  }
  const auto count = static_cast<std::int64_t>(members.size());
  return file + directory + "PK\x05\x06" + two(0) + two(0) + two(count) + two(count) +
         four(static_cast<std::int64_t>(directory.size())) + four(static_cast<std::int64_t>(file.size())) +
         two(static_cast<std::int64_t>(comment.size())) + comment;
}

}  // namespace modlab::test

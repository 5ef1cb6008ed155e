#include "io/idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "core/errors.h"

namespace modlab::io {
namespace {

constexpr std::uint8_t kUnsignedBytes = 0x08;
constexpr std::uint64_t kMaxValues = 1ULL << 30;
constexpr std::size_t kBlock = 1 << 20;
// Taken at once if the header asks for it: enough for MNIST.
constexpr std::size_t kFirstBlocks = 64 * kBlock;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// The bytes of a file, expanded if they are gzip's.
class ByteReader {
 public:
  ByteReader(File file, std::string source) : source_(std::move(source)), file_(std::move(file)) {
    if (!file_) {
      fail(fmt::format("cannot be read ({}); check the path", std::strerror(errno)));
    }
    fill();
    is_gzip_ = stream_.avail_in >= 2 && input_[0] == 0x1f && input_[1] == 0x8b;
    // 16 asks zlib for gzip's header and checksum.
    if (is_gzip_ && inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~ByteReader() {
    if (is_gzip_) {
      inflateEnd(&stream_);
    }
  }
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // Up to kBlock bytes; fewer than asked for only at the end.
  std::size_t read(std::uint8_t* into, std::size_t count) {
    stream_.next_out = into;
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0 && (stream_.avail_in > 0 || fill())) {
      if (is_gzip_) {
        expand();
      } else {
        copy();
      }
    }
    if (is_gzip_ && stream_.avail_out > 0 && !member_complete_) {
      fail("ends in the middle of its gzip stream; get it again");
    }
    return count - stream_.avail_out;
  }

  [[noreturn]] void fail(const std::string& reason) const { throw FormatError(fmt::format("{}: {}", source_, reason)); }

 private:
  bool fill() {
    const std::size_t count = std::fread(input_.data(), 1, input_.size(), file_.get());
    if (std::ferror(file_.get()) != 0) {
      fail(fmt::format("cannot be read to its end ({})", std::strerror(errno)));
    }
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  void copy() {
    const uInt count = std::min(stream_.avail_in, stream_.avail_out);
    std::memcpy(stream_.next_out, stream_.next_in, count);
    stream_.next_in += count;
    stream_.avail_in -= count;
    stream_.next_out += count;
    stream_.avail_out -= count;
  }

  void expand() {
    // A gzip file may be several, one after the other.
    if (member_complete_) {
      inflateReset(&stream_);
      member_complete_ = false;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      fail("its gzip stream is damaged; get it again");
    }
    member_complete_ = code == Z_STREAM_END;
  }

  std::string source_;
  File file_;
  std::array<std::uint8_t, 1 << 16> input_;
  z_stream stream_{};  // of a plain file only the counts and pointers
  bool is_gzip_ = false;
  bool member_complete_ = false;
};

const char* other_type(std::uint8_t code) {
  switch (code) {
    case 0x09:
      return "signed bytes";
    case 0x0b:
      return "16-bit integers";
    case 0x0c:
      return "32-bit integers";
    case 0x0d:
      return "32-bit floats";
    case 0x0e:
      return "64-bit floats";
    default:
      return nullptr;
  }
}

std::uint64_t count_values(const std::vector<std::uint32_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint32_t size : shape) {
    count *= size;
    // Looked at after every factor, so that the product stays far below 64 bits.
    if (count > kMaxValues) {
      break;
    }
  }
  return count;
}

std::vector<std::uint32_t> read_shape(ByteReader& reader) {
  std::array<std::uint8_t, 4> bytes;
  if (reader.read(bytes.data(), 4) < 4 || bytes[0] != 0 || bytes[1] != 0 ||
      (bytes[2] != kUnsignedBytes && other_type(bytes[2]) == nullptr)) {
    reader.fail("not an IDX file, which begins with the bytes 00 00 08 and its number of dimensions");
  }
  if (bytes[2] != kUnsignedBytes) {
    reader.fail(fmt::format("an IDX file of {}; write it as unsigned bytes (type 08)", other_type(bytes[2])));
  }
  std::vector<std::uint32_t> shape(bytes[3]);
  if (shape.empty()) {
    reader.fail("an IDX file without dimensions; get it again");
  }
  for (std::uint32_t& size : shape) {
    if (reader.read(bytes.data(), 4) < 4) {
      reader.fail("ends in the middle of its header; get it again");
    }
    for (const std::uint8_t byte : bytes) {
      size = size << 8 | byte;
    }
  }
  return shape;
}

IdxArray read_array(File file, const std::string& source) {
  ByteReader reader(std::move(file), source);
  IdxArray array;
  array.shape = read_shape(reader);
  const std::uint64_t count = count_values(array.shape);
  if (count > kMaxValues) {
    reader.fail(fmt::format("its header promises more than {} values, the most such a file may have; get it again",
                            kMaxValues));
  }
  array.values.reserve(std::min<std::size_t>(count, kFirstBlocks));
  while (array.values.size() < count) {
    const std::size_t begin = array.values.size();
    const std::size_t wanted = std::min<std::size_t>(count - begin, kBlock);
    array.values.resize(begin + wanted);
    const std::size_t got = reader.read(array.values.data() + begin, wanted);
    if (got < wanted) {
      reader.fail(
          fmt::format("ends after {} of the {} values that its header promises; get it again", begin + got, count));
    }
  }
  if (std::uint8_t more = 0; reader.read(&more, 1) > 0) {
    reader.fail(fmt::format("goes on after the {} values that its header promises; get it again", count));
  }
  return array;
}

}  // namespace

IdxArray read_idx(const std::string& path, const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FormatError(fmt::format("{}: is a folder; name a file in it", source.empty() ? path : source));
  }
  return read_array(File(std::fopen(path.c_str(), "rb"), &std::fclose), source.empty() ? path : source);
}

IdxArray decode_idx(std::string_view bytes, const std::string& source) {
  // Only read, whatever the type says.
  return read_array(File(::fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb"), &std::fclose), source);
}

std::string encode_idx(const IdxArray& array) {
  std::string bytes = idx_header(array.shape);
  bytes.append(array.values.begin(), array.values.end());
  return bytes;
}

std::string idx_header(const std::vector<std::uint32_t>& shape) {
  std::string bytes = {0, 0, kUnsignedBytes, static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(size >> shift & 0xff);
    }
  }
  return bytes;
}

}  // namespace modlab::io

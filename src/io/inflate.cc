#include "io/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "core/errors.h"

namespace modlab::io {
namespace {

class Inflater {
 public:
  Inflater(std::string_view stream, Wrapping wrapping) : rest_(stream) {
    // A negative window asks zlib for bare bytes, 16 more for gzip's header and checksum.
    const int window = wrapping == Wrapping::kNone ? -MAX_WBITS : MAX_WBITS;
    if (inflateInit2(&stream_, wrapping == Wrapping::kGzip ? 16 + window : window) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends a block to `text` and gives zlib's code.
  int step(std::string& text) {
    // zlib counts in 32 bits.
    const std::size_t count = std::min<std::size_t>(rest_.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(count);
    stream_.next_out = block_.data();
    stream_.avail_out = static_cast<uInt>(block_.size());
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(count - stream_.avail_in);
    text.append(reinterpret_cast<const char*>(block_.data()), block_.size() - stream_.avail_out);
    return code;
  }

  bool is_at_end() const { return rest_.empty(); }
  void begin_next() { inflateReset(&stream_); }

 private:
  std::string_view rest_;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> block_;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string inflate_stream(std::string_view stream, Wrapping wrapping, std::size_t max_bytes,
                           const std::string& source) {
  const auto fail = [&](const std::string& reason) { throw FormatError(fmt::format("{}: {}", source, reason)); };
  Inflater inflater(stream, wrapping);
  std::string text;
  while (true) {
    const int code = inflater.step(text);
    if (text.size() > max_bytes) {
      fail(fmt::format("expands to more than {} bytes, the most that is possible here", max_bytes));
    }
    if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    if (code == Z_STREAM_END && inflater.is_at_end()) {
      return text;
    }
    if (code == Z_STREAM_END && wrapping == Wrapping::kGzip) {
      inflater.begin_next();
    } else if (code == Z_STREAM_END) {
      fail("its compressed stream goes on after its end; get it again");
    } else if (code == Z_BUF_ERROR) {
      fail("ends in the middle of its compressed stream; get it again");
    } else if (code != Z_OK) {
      fail("its compressed stream is damaged; get it again");
    }
  }
}

}  // namespace modlab::io

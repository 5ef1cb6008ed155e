#include "io/inflate.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "packed_bytes.h"

namespace modlab::io {
namespace {

using test::deflated;
using test::gzip;

constexpr std::size_t kMany = 1 << 30;

void expect_refused(const std::string& stream, Wrapping wrapping, std::size_t max_bytes, const std::string& part) {
  try {
    inflate_stream(stream, wrapping, max_bytes, "some file");
    ADD_FAILURE() << "was expanded; expected: " << part;
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("some file: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

// More than one block of output.
std::string long_text() {
  std::string text;
  for (int number = 0; number < 50'000; ++number) {
    text += std::to_string(number) + ",";
  }
  return text;
}

TEST(Inflate, ComesBackAsItWas) {
  for (const std::string& text : {std::string(), std::string("a"), long_text()}) {
    EXPECT_EQ(inflate_stream(gzip(text), Wrapping::kGzip, kMany, "x"), text);
    EXPECT_EQ(inflate_stream(deflated(text), Wrapping::kNone, kMany, "x"), text);
    EXPECT_TRUE(is_gzip(gzip(text)));
  }
  EXPECT_FALSE(is_gzip(""));
  EXPECT_FALSE(is_gzip("PK"));
}

TEST(Inflate, GzipStreamsMayFollowOneAnother) {
  EXPECT_EQ(inflate_stream(gzip("ab") + gzip("") + gzip("c"), Wrapping::kGzip, kMany, "x"), "abc");
  expect_refused(gzip("ab") + "c", Wrapping::kGzip, kMany, "");
  expect_refused(deflated("ab") + deflated("c"), Wrapping::kNone, kMany, "goes on after its end");
}

TEST(Inflate, TheLimitHolds) {
  EXPECT_EQ(inflate_stream(gzip("12345"), Wrapping::kGzip, 5, "x"), "12345");
  expect_refused(gzip("123456"), Wrapping::kGzip, 5, "more than 5 bytes");
  // A gigabyte of zeros in a megabyte ends after the first block that is too much.
  const std::string zeros = gzip(std::string(1 << 24, '\0'));
  std::string bomb;
  for (int part = 0; part < 64; ++part) {
    bomb += zeros;
  }
  expect_refused(bomb, Wrapping::kGzip, 100'000, "more than 100000 bytes");
}

TEST(Inflate, TruncatedAndDamagedStreamsAreRefused) {
  for (const Wrapping wrapping : {Wrapping::kGzip, Wrapping::kNone}) {
    const std::string packed = wrapping == Wrapping::kGzip ? gzip(long_text()) : deflated(long_text());
    for (std::size_t length = 0; length < packed.size(); length += length < 100 ? 1 : 997) {
      expect_refused(packed.substr(0, length), wrapping, kMany, "in the middle of its compressed stream");
    }
  }
  std::string damaged = gzip(long_text());
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
  expect_refused(damaged, Wrapping::kGzip, kMany, "damaged");
}

}  // namespace
}  // namespace modlab::io

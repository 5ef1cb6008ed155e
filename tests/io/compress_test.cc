#include "io/compress.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/errors.h"

namespace modlab::io {
namespace {

// Bytes without a pattern, the same every time.
std::string noise(std::size_t count) {
  std::string bytes;
  std::uint32_t state = 12345;
  for (std::size_t at = 0; at < count; ++at) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24);
  }
  return bytes;
}

void expect_damaged(const std::string& stream, std::size_t bytes) {
  try {
    expand(stream, bytes, "some/study.sqlite");
    ADD_FAILURE() << stream.size() << " bytes were taken for " << bytes;
  } catch (const FormatError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("some/study.sqlite: ")) << error.what();
    EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
  }
}

TEST(Compress, GivesBackWhatWentIn) {
  for (const std::string& text :
       {std::string("x"), std::string("abc\0def", 7), std::string(100'000, '\0'), noise(3), noise(70'000)}) {
    EXPECT_EQ(expand(compress(text), text.size(), ""), text) << text.size();
  }
}

TEST(Compress, NothingIsSomethingToo) { EXPECT_EQ(expand(compress(""), 0, ""), ""); }

TEST(Compress, AStreamIsZlibsOwn) {
  // RFC 1950: deflate with a window of 32 kB, and a header that is a multiple of 31. Python's zlib reads it.
  const std::string stream = compress("modlab");
  ASSERT_GE(stream.size(), 6U);
  const auto first = static_cast<unsigned char>(stream[0]);
  const auto second = static_cast<unsigned char>(stream[1]);
  EXPECT_EQ(first, 0x78);
  EXPECT_EQ((first * 256 + second) % 31, 0);
}

TEST(Compress, StillCurvesCostNextToNothing) { EXPECT_LT(compress(std::string(12'000, '\0')).size(), 100U); }

TEST(Compress, OtherSizesAreRefused) {
  const std::string stream = compress(std::string(1000, 'a'));
  expect_damaged(stream, 999);
  expect_damaged(stream, 1001);
  expect_damaged(stream, 0);
}

TEST(Compress, DamageIsRefused) {
  const std::string text = noise(500);
  const std::string stream = compress(text);
  expect_damaged("", text.size());
  expect_damaged("not a stream", text.size());
  for (const std::size_t length : {std::size_t{1}, stream.size() / 2, stream.size() - 1}) {
    expect_damaged(stream.substr(0, length), text.size());
  }
  for (std::size_t at = 0; at < stream.size(); at += 7) {
    std::string damaged = stream;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    expect_damaged(damaged, text.size());
  }
}

}  // namespace
}  // namespace modlab::io

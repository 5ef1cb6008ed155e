#include "io/idx.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/errors.h"
#include "temporary_folder.h"

namespace modlab::io {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string header(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) {
    text += static_cast<char>(byte);
  }
  return text;
}

class Idx : public testing::Test {
 protected:
  IdxArray read(const std::string& bytes) const {
    folder_.write("a.idx", bytes);
    return read_idx(folder_.file("a.idx"));
  }
  // One sentence that names the file and has the part.
  void expect_refused(const std::string& bytes, const std::string& part) const {
    try {
      read(bytes);
      ADD_FAILURE() << bytes.size() << " bytes were read; expected: " << part;
    } catch (const FormatError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(folder_.file("a.idx") + ": ")) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    }
  }

  test::TemporaryFolder folder_;
  // Two images of 2 x 3 pixels.
  const IdxArray small_ = {{2, 2, 3}, {0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255}};
};

TEST_F(Idx, TheBytesAreThoseOfTheFormat) {
  EXPECT_EQ(encode_idx({{2, 0x01020304}, {7, 9}}), header({0, 0, 8, 2, 0, 0, 0, 2, 1, 2, 3, 4, 7, 9}));
  EXPECT_EQ(idx_header({258}), header({0, 0, 8, 1, 0, 0, 1, 2}));
}

TEST_F(Idx, PlainAndCompressedFilesAreTheSame) {
  for (const std::string& bytes : {encode_idx(small_), gzip(encode_idx(small_))}) {
    const IdxArray array = read(bytes);
    EXPECT_EQ(array.shape, small_.shape);
    EXPECT_EQ(array.values, small_.values);
  }
}

// More than one block of reading, and more than is taken at once.
TEST_F(Idx, LargeFilesAreReadWhole) {
  IdxArray large = {{70, 1 << 20}, std::vector<std::uint8_t>(70 << 20)};
  std::uint32_t state = 1;
  for (std::uint8_t& value : large.values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::uint8_t>(state >> 24);
  }
  EXPECT_EQ(read(encode_idx(large)).values, large.values);
  large = {{3, 1 << 20}, std::vector<std::uint8_t>(3 << 20, 5)};
  EXPECT_EQ(read(gzip(encode_idx(large))).values, large.values);
}

TEST_F(Idx, AnArrayMayBeEmptyInOneDimension) {
  const IdxArray array = read(encode_idx({{0, 28, 28}, {}}));
  EXPECT_EQ(array.shape, (std::vector<std::uint32_t>{0, 28, 28}));
  EXPECT_TRUE(array.values.empty());
}

TEST_F(Idx, GzipFilesMayBeJoined) {
  const std::string bytes = encode_idx(small_);
  EXPECT_EQ(read(gzip(bytes.substr(0, 10)) + gzip(bytes.substr(10))).values, small_.values);
}

TEST_F(Idx, OtherFilesAreRefused) {
  expect_refused("", "not an IDX file");
  expect_refused("abc", "not an IDX file");
  expect_refused("<!DOCTYPE html><html>not here</html>", "not an IDX file");
  expect_refused(gzip("a text"), "not an IDX file");
  expect_refused(header({0, 1, 8, 1, 0, 0, 0, 1, 5}), "not an IDX file");
  expect_refused(header({1, 0, 8, 1, 0, 0, 0, 1, 5}), "not an IDX file");
  expect_refused(header({0, 0, 7, 1, 0, 0, 0, 1, 5}), "not an IDX file");
  expect_refused(header({0, 0, 8, 0}), "without dimensions");
}

TEST_F(Idx, OtherElementTypesAreNamed) {
  expect_refused(header({0, 0, 9, 1, 0, 0, 0, 1, 5}), "signed bytes");
  expect_refused(header({0, 0, 0x0b, 1, 0, 0, 0, 1, 5, 5}), "16-bit integers");
  expect_refused(header({0, 0, 0x0c, 1, 0, 0, 0, 0}), "32-bit integers");
  expect_refused(header({0, 0, 0x0d, 1, 0, 0, 0, 0}), "32-bit floats");
  expect_refused(header({0, 0, 0x0e, 1, 0, 0, 0, 0}), "64-bit floats");
}

TEST_F(Idx, EveryTruncationIsRefused) {
  const std::string bytes = encode_idx(small_);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    expect_refused(bytes.substr(0, length), length < 4    ? "not an IDX file"
                                            : length < 16 ? "in the middle of its header"
                                                          : "of the 12 values");
    if (length >= 16) {
      expect_refused(gzip(bytes.substr(0, length)), "of the 12 values");
    }
  }
  const std::string packed = gzip(bytes);
  for (std::size_t length = 2; length < packed.size(); ++length) {
    expect_refused(packed.substr(0, length), "in the middle of its gzip stream");
  }
}

TEST_F(Idx, WhatComesAfterTheValuesIsRefused) {
  const std::string bytes = encode_idx(small_);
  expect_refused(bytes + "x", "goes on after the 12 values");
  expect_refused(gzip(bytes + "x"), "goes on after the 12 values");
  expect_refused(gzip(bytes) + gzip("x"), "goes on after the 12 values");
  expect_refused(gzip(bytes) + "a text", "damaged");
}

TEST_F(Idx, DamagedStreamsAreRefused) {
  const std::string packed = gzip(encode_idx(small_));
  // The first ten bytes are a header with a date and a system, which nobody checks.
  for (std::size_t at = 10; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x04);
    EXPECT_THROW(read(damaged), FormatError) << at;
  }
}

TEST_F(Idx, SizesAreCheckedBeforeMemoryIsTaken) {
  const std::string huge = header({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255});
  expect_refused(huge, "promises more than 1073741824 values");
  expect_refused(gzip(huge), "promises more than");
  // Three factors whose product is 0 in 64 bits.
  expect_refused(header({0, 0, 8, 3, 128, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 4}), "promises more than");
  // Allowed, but not there.
  expect_refused(header({0, 0, 8, 1, 64, 0, 0, 0, 1, 2, 3}), "ends after 3 of the 1073741824 values");
}

// 200 MB of zeros in 200 kB: nothing beyond what the header promises is expanded.
TEST_F(Idx, ABombStopsWhereTheHeaderEnds) {
  const std::string bomb = gzip(encode_idx(small_) + std::string(200 << 20, '\0'));
  EXPECT_LT(bomb.size(), 1U << 20);
  expect_refused(bomb, "goes on after the 12 values");
}

TEST_F(Idx, MissingFilesAndFoldersAreRefused) {
  EXPECT_THROW(read_idx(folder_.file("missing")), FormatError);
  EXPECT_THROW(read_idx(folder_.path().string()), FormatError);
}

TEST_F(Idx, MessagesCanCallAFileByAnotherName) {
  try {
    read_idx(folder_.file("missing"), "the package");
    ADD_FAILURE();
  } catch (const FormatError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("the package: ")) << error.what();
  }
}

}  // namespace
}  // namespace modlab::io

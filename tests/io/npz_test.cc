#include "io/npz.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/errors.h"
#include "packed_bytes.h"
#include "temporary_folder.h"

namespace modlab::io {
namespace {

using test::bytes_of;
using test::npy;
using test::npy_with;
using test::zip;

using Values = std::vector<float>;
using Shape = std::vector<std::size_t>;

// One sentence that names the file and has the part.
void expect_refused(const std::string& bytes, const std::string& part) {
  try {
    decode_npz(bytes, "a.npz");
    ADD_FAILURE() << "was read; expected: " << part;
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("a.npz: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

NamedTensor only_array(const std::string& array) {
  const std::vector<NamedTensor> tensors = decode_npz(zip({{"x.npy", array}}), "a.npz");
  EXPECT_EQ(tensors.size(), 1U);
  return tensors.front();
}

void expect_array_refused(const std::string& array, const std::string& part) {
  expect_refused(zip({{"x.npy", array}}), part);
}

std::string floats(const Values& values) { return bytes_of(values); }

std::string example() {
  return zip({{"lin1.weight.npy", npy("<f4", "(2, 3)", floats({1, -2, 3.5F, 0, 1e-30F, -1e30F})), true},
              {"lin1.bias.npy", npy("<f4", "(2,)", floats({7, 8}))}});
}

TEST(Npz, StoredAndDeflatedArraysInTheirOrder) {
  const std::vector<NamedTensor> tensors = decode_npz(example(), "x");
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "lin1.weight");
  EXPECT_EQ(tensors[0].shape, (Shape{2, 3}));
  EXPECT_EQ(tensors[0].values, (Values{1, -2, 3.5F, 0, 1e-30F, -1e30F}));
  EXPECT_EQ(tensors[1].name, "lin1.bias");
  EXPECT_EQ(tensors[1].shape, (Shape{2}));
  EXPECT_EQ(tensors[1].values, (Values{7, 8}));
}

// The bytes that numpy.savez_compressed(file, W=numpy.float32([[1, -2.5]])) wrote.
TEST(Npz, WhatNumpyWrites) {
  const std::string hex =
      "504b03041400000008000000210033e179924e0000008800000005001400572e6e70790100100088000000000000004e"
      "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a"
      "12774bcc294e058a17672416a402f91a863a0a469a3a0ab50a64032e0686067b0606850300504b010214031400000008"
      "000000210033e179924e00000088000000050000000000000000000000800100000000572e6e7079504b050600000000"
      "0100010033000000850000000000";
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  const test::TemporaryFolder folder;
  folder.write("w.npz", bytes);
  const std::vector<NamedTensor> tensors = read_npz(folder.file("w.npz"));
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "W");
  EXPECT_EQ(tensors[0].shape, (Shape{1, 2}));
  EXPECT_EQ(tensors[0].values, (Values{1, -2.5F}));
}

TEST(Npz, WhatIsWrittenIsReadAgain) {
  const std::vector<NamedTensor> written = {
      {"inputs", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"one", {}, {-0.5F}}, {"line", {4}, {1, 0, 0, 1}}, {"none", {0, 2}, {}}};
  const std::string bytes = encode_npz(written);
  const std::vector<NamedTensor> found = decode_npz(bytes, "f");
  ASSERT_EQ(found.size(), written.size());
  for (std::size_t place = 0; place < found.size(); ++place) {
    EXPECT_EQ(found[place].name, written[place].name);
    EXPECT_EQ(found[place].shape, written[place].shape);
    EXPECT_EQ(found[place].values, written[place].values);
  }
  EXPECT_EQ(encode_npz(written), bytes);
}

TEST(Npz, EveryTypeOfNumber) {
  EXPECT_EQ(only_array(npy("<f8", "(2,)", bytes_of<double>({0.1, -3}))).values, (Values{0.1F, -3}));
  EXPECT_EQ(only_array(npy("|b1", "(3,)", std::string("\0\1\2", 3))).values, (Values{0, 1, 1}));
  EXPECT_EQ(only_array(npy("|i1", "(2,)", bytes_of<std::int8_t>({-128, 127}))).values, (Values{-128, 127}));
  EXPECT_EQ(only_array(npy("|u1", "(2,)", bytes_of<std::uint8_t>({0, 255}))).values, (Values{0, 255}));
  EXPECT_EQ(only_array(npy("<i2", "(1,)", bytes_of<std::int16_t>({-300}))).values, (Values{-300}));
  EXPECT_EQ(only_array(npy("<u2", "(1,)", bytes_of<std::uint16_t>({65535}))).values, (Values{65535}));
  EXPECT_EQ(only_array(npy("<i4", "(1,)", bytes_of<std::int32_t>({-70000}))).values, (Values{-70000}));
  EXPECT_EQ(only_array(npy("<u4", "(1,)", bytes_of<std::uint32_t>({1U << 31}))).values, (Values{2147483648.0F}));
  EXPECT_EQ(only_array(npy("<i8", "(1,)", bytes_of<std::int64_t>({-5}))).values, (Values{-5}));
  EXPECT_EQ(only_array(npy("<u8", "(1,)", bytes_of<std::uint64_t>({~0ULL}))).values, (Values{18446744073709551616.0F}));
}

TEST(Npz, HalfPrecision) {
  const NamedTensor found = only_array(
      npy("<f2", "(8,)", bytes_of<std::uint16_t>({0x3c00, 0xc100, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x8000, 0x3555})));
  EXPECT_EQ(found.values, (Values{1, -2.5F, std::ldexp(1.0F, -24), std::ldexp(1023.0F, -24), std::ldexp(1.0F, -14),
                                  65504, 0, 0.333251953125F}));
  EXPECT_TRUE(std::signbit(found.values[6]));
  const NamedTensor odd = only_array(npy("<f2", "(3,)", bytes_of<std::uint16_t>({0x7c00, 0xfc00, 0x7e00})));
  EXPECT_EQ(odd.values[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(odd.values[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(odd.values[2]));
}

TEST(Npz, FortranOrderIsTurned) {
  EXPECT_EQ(only_array(npy("<f4", "(2, 3)", floats({1, 4, 2, 5, 3, 6}), true)).values, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(only_array(npy("<f4", "(3,)", floats({1, 2, 3}), true)).values, (Values{1, 2, 3}));
  // Element (i, j, k) of 2 by 2 by 2 is 4 i + 2 j + k.
  EXPECT_EQ(only_array(npy("|u1", "(2, 2, 2)", bytes_of<std::uint8_t>({0, 4, 2, 6, 1, 5, 3, 7}), true)).values,
            (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Npz, ShapesOfAllKinds) {
  EXPECT_EQ(only_array(npy("<f4", "()", floats({7}))).shape, Shape{});
  EXPECT_EQ(only_array(npy("<f4", "()", floats({7}))).values, Values{7});
  EXPECT_EQ(only_array(npy("<f4", "(0, 5)", "")).shape, (Shape{0, 5}));
  EXPECT_EQ(only_array(npy("<f4", "(0, 5)", "", true)).values, Values{});
}

TEST(Npz, HeadersOfOtherVersionsAndOrders) {
  const std::string header = "{\"shape\":(1,),\"descr\":'<f4',\"fortran_order\":False}";
  EXPECT_EQ(only_array(npy_with(header, floats({3}))).values, Values{3});
  for (const char version : {'\2', '\3'}) {
    const std::string array = "\x93NUMPY" + std::string(1, version) + std::string(1, '\0') +
                              test::number_bytes(static_cast<std::uint32_t>(header.size())) + header + floats({3});
    EXPECT_EQ(only_array(array).values, Values{3});
  }
}

TEST(Npz, CommentsAndOtherMembersArePassedOver) {
  const std::string bytes = zip({{"readme.txt", "hello"}, {"w.npy", npy("<f4", "(1,)", floats({3}))}}, "PK\x05\x06 hm");
  const std::vector<NamedTensor> tensors = decode_npz(bytes, "x");
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "w");
}

TEST(Npz, BrokenHeadersAreRefused) {
  const std::string data = floats({1, 2});
  expect_array_refused("", "not an array");
  expect_array_refused("\x93NUMPY", "not an array");
  expect_array_refused("PK not numpy's", "not an array");
  expect_array_refused("\x93NUMPY\x04" + std::string("\0\0\0\0\0", 5), "not an array");
  expect_array_refused("\x93NUMPY\x01" + std::string("\0\xff\xff", 3), "header longer than itself");
  expect_array_refused("\x93NUMPY\x02" + std::string("\0\xff\xff\xff\xff", 5), "header longer than itself");
  for (const char* header :
       {"", "{", "{}", "[]", "nonsense", "{'descr': '<f4'", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4 , 'fortran_order': False, 'shape': (2,)}"}) {
    expect_array_refused(npy_with(header, data), "names no type, order and shape");
  }
  std::string many = "1";
  for (int dimension = 1; dimension < 33; ++dimension) {
    many += ", 1";
  }
  expect_array_refused(npy("<f4", "(" + many + ")", floats({1})), "names no type, order and shape");
}

TEST(Npz, OtherTypesAreNamed) {
  expect_array_refused(npy(">f4", "(1,)", floats({1})), "big-endian numbers (>f4)");
  expect_array_refused(npy("|O", "(1,)", "pickle"), "type |O");
  expect_array_refused(npy("<U5", "(1,)", std::string(20, '\0')), "type <U5");
  expect_array_refused(npy("<c8", "(1,)", std::string(8, '\0')), "type <c8");
}

TEST(Npz, ShapesMustFillTheDataExactly) {
  const std::string data = floats({1, 2});
  for (const char* shape : {"()", "(1,)", "(3,)", "(2, 2)", "(0,)", "(4611686018427387904, 4)",
                            "(1000000000, 1000000000)", "(9223372036854775807,)", "(2, 2147483648, 2147483648, 4)"}) {
    expect_array_refused(npy("<f4", shape, data), "which is not its shape");
  }
  expect_array_refused(npy("<f4", "(1,)", "123"), "which is not its shape");
}

TEST(Npz, ZipFilesOfOtherKindsAreRefused) {
  const std::string array = npy("<f4", "(1,)", floats({1}));
  expect_refused(zip({{"model/data.pkl", "\x80\x02"}}), "is a pickle");
  // As PyTorch writes it, with the sizes elsewhere.
  expect_refused(zip({{.name = "archive/data.pkl", .data = "x", .begin = 0xffffffff}}), "is a pickle");
  expect_refused(zip({}), "without numpy arrays");
  expect_refused(zip({{"x.npy", array}, {"x.npy", array}}), "two arrays 'x'");
  expect_refused(zip({{.name = "x.npy", .data = array, .flags = 1}}), "array 'x': it is encrypted");
  expect_refused(zip({{.name = "x.npy", .data = array, .method = 12}}), "method 12");
  expect_refused("", "only 0 bytes");
  expect_refused(std::string(100, 'x'), "no directory");
}

TEST(Npz, FilesBeyondFourGigabytesAreRefused) {
  const std::string array = npy("<f4", "(1,)", floats({1}));
  const std::int64_t elsewhere = 0xffffffff;
  expect_refused(zip({{.name = "x.npy", .data = array, .packed_bytes = elsewhere}}), "zip64");
  expect_refused(zip({{.name = "x.npy", .data = array, .expanded_bytes = elsewhere}}), "zip64");
  expect_refused(zip({{.name = "x.npy", .data = array, .begin = elsewhere}}), "zip64");
  std::string bytes = zip({{"x.npy", array}});
  const std::size_t end = bytes.rfind("PK\x05\x06");
  bytes.insert(end, "PK\x06\x07" + std::string(16, '\0'));
  expect_refused(bytes, "zip64");
}

TEST(Npz, SizesAreCheckedBeforeMemoryIsTaken) {
  const std::string array = npy("<f4", "(1,)", floats({1}));
  expect_refused(zip({{.name = "x.npy", .data = array, .packed_bytes = 4'000'000'000}}), "longer than itself");
  expect_refused(zip({{.name = "x.npy", .data = array, .is_deflated = true, .expanded_bytes = 4'000'000'000}}),
                 "expands to more than 1073741824 bytes");
  expect_refused(zip({{.name = "x.npy", .data = array, .expanded_bytes = 1'000'000'000}}), "promises 1000000000");
  expect_refused(zip({{.name = "x.npy", .data = array, .is_deflated = true, .expanded_bytes = 1'000'000'000}}),
                 "promises 1000000000");
  expect_refused(zip({{.name = "x.npy", .data = array, .is_deflated = true, .expanded_bytes = 10}}),
                 "expands to more than 10 bytes");
  expect_refused(zip({{.name = "x.npy", .data = array, .begin = 4'000'000'000}}), "not where the directory says");
  expect_refused(zip({{.name = "x.npy", .data = array, .begin = 5}}), "not where the directory says");
}

// Many entries that all mean the same large member.
TEST(Npz, MembersMayNotShareTheirBytes) {
  const std::string array = npy("|u1", "(100000,)", std::string(100000, '\1'));
  std::vector<test::ZipMember> members = {{.name = "x.npy", .data = array}};
  for (int copy = 0; copy < 3; ++copy) {
    members.push_back({.name = "y.npy",
                       .data = "",
                       .packed_bytes = static_cast<std::int64_t>(array.size()),
                       .expanded_bytes = static_cast<std::int64_t>(array.size()),
                       .begin = 0});
  }
  expect_refused(zip(members), "longer than itself");
}

TEST(Npz, EveryTruncationIsRefused) {
  const std::string bytes = example();
  ASSERT_NO_THROW(decode_npz(bytes, "x"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(decode_npz(bytes.substr(0, length), "x"), FormatError) << length;
  }
}

TEST(Npz, FlippedBitsAreRefusedOrReadButNeverWorse) {
  const std::string bytes = example();
  int refused = 0;
  const auto try_to_read = [&](const std::string& damaged) {
    try {
      for (const NamedTensor& tensor : decode_npz(damaged, "x")) {
        std::size_t count = 1;
        for (const std::size_t extent : tensor.shape) {
          count *= extent;
        }
        ASSERT_EQ(tensor.values.size(), count);
      }
    } catch (const FormatError&) {
      ++refused;
    }
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try_to_read(damaged);
    }
  }
  std::mt19937 random(1);
  for (int attempt = 0; attempt < 5000; ++attempt) {
    std::string damaged = bytes;
    for (int flip = 0; flip < 4; ++flip) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try_to_read(damaged);
  }
  // Checksums protect what is read; dates, versions and attributes nobody looks at.
  EXPECT_GT(refused, 5000);
}

TEST(Npz, ADamagedArrayIsNoticed) {
  std::string bytes = zip({{"x.npy", npy("<f4", "(2,)", floats({1, 2}))}});
  const std::size_t at = bytes.find("\x93NUMPY");
  bytes[at + 80] = static_cast<char>(bytes[at + 80] ^ 1);
  expect_refused(bytes, "checksum");
}

}  // namespace
}  // namespace modlab::io

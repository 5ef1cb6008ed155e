#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "core/errors.h"
#include "temporary_folder.h"

namespace modlab::io {
namespace {

TensorFile example() {
  TensorFile file;
  file.tensors = {
      {"best/a", {2, 3}, {1, -2, 3.5F, 0, 1e-30F, -1e30F}}, {"scalar", {}, {7}}, {"b \"quoted\"", {4}, {1, 2, 3, 4}}};
  file.metadata = {{"modlab.run", "{\"lr\":0.1,\"text\":\"\\\"\\n\"}"}, {"other", ""}};
  return file;
}

std::string with_header(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string entry(const std::string& name, const std::string& shape, std::uint64_t begin, std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[" + std::to_string(begin) +
         "," + std::to_string(end) + "]}";
}

void expect_refused(const std::string& header, const std::string& data) {
  EXPECT_THROW(decode_safetensors(with_header(header, data), "x"), FormatError) << header;
}

TEST(Safetensors, ComesBackAsItWas) {
  const TensorFile file = example();
  const TensorFile back = decode_safetensors(encode_safetensors(file), "x");
  EXPECT_EQ(back.metadata, file.metadata);
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (std::size_t index = 0; index < file.tensors.size(); ++index) {
    EXPECT_EQ(back.tensors[index].name, file.tensors[index].name);
    EXPECT_EQ(back.tensors[index].shape, file.tensors[index].shape);
    EXPECT_EQ(back.tensors[index].values, file.tensors[index].values);
  }
  ASSERT_NE(back.find("scalar"), nullptr);
  EXPECT_EQ(back.find("scalar")->values.front(), 7);
  EXPECT_EQ(back.find("missing"), nullptr);
}

TEST(Safetensors, EmptyTensorsAmongManyComeBack) {
  TensorFile file;
  for (int index = 0; index < 60; ++index) {
    const std::size_t count = index % 3 == 1 ? 2 : 0;
    file.tensors.push_back(
        {"t" + std::to_string(index), {count}, std::vector<float>(count, static_cast<float>(index))});
  }
  const TensorFile back = decode_safetensors(encode_safetensors(file), "x");
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (const NamedTensor& tensor : file.tensors) {
    ASSERT_NE(back.find(tensor.name), nullptr) << tensor.name;
    EXPECT_EQ(back.find(tensor.name)->values, tensor.values) << tensor.name;
  }
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  // Data in another order than the header's, blanks, no metadata: all of it is allowed.
  const std::string data("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 12);
  const TensorFile file = decode_safetensors(
      with_header("{ " + entry("b", "[1,2]", 4, 12) + " ,\n" + entry("a", "[1]", 0, 4) + "}   ", data), "x");
  EXPECT_EQ(file.find("a")->values, (std::vector<float>{1}));
  EXPECT_EQ(file.find("b")->values, (std::vector<float>{2, 3}));
  EXPECT_EQ(file.find("b")->shape, (std::vector<std::size_t>{1, 2}));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string bytes = encode_safetensors(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(decode_safetensors(bytes.substr(0, length), "x"), FormatError) << length << " of " << bytes.size();
  }
  EXPECT_THROW(decode_safetensors(bytes + "x", "x"), FormatError);
}

TEST(Safetensors, FlippedBytesAreRefusedOrReadButNeverWorse) {
  const std::string bytes = encode_safetensors(example());
  std::mt19937 random(1);
  int refused = 0;
  const auto try_to_read = [&](const std::string& damaged) {
    try {
      const TensorFile file = decode_safetensors(damaged, "x");
      for (const NamedTensor& tensor : file.tensors) {
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
  for (int attempt = 0; attempt < 5000; ++attempt) {
    std::string damaged = bytes;
    for (int flip = 0; flip < 4; ++flip) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try_to_read(damaged);
  }
  // Most of the file is header, where hardly any change can pass.
  EXPECT_GT(refused, 5000);
}

// What would take more memory than there is must be refused from the declaration alone.
TEST(Safetensors, HugeDeclaredSizesAreRefused) {
  const std::string huge = "18446744073709551615";
  std::string bytes = encode_safetensors(example());
  for (const std::uint64_t length :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 40, std::uint64_t{99'999'999}}) {
    std::memcpy(bytes.data(), &length, 8);
    EXPECT_THROW(decode_safetensors(bytes, "x"), FormatError) << length;
  }
  const std::string data(8, '\0');
  expect_refused("{" + entry("a", "[" + huge + "]", 0, 8) + "}", data);
  expect_refused("{" + entry("a", "[4611686018427387904,4]", 0, 0) + "}", "");
  expect_refused("{" + entry("a", "[4294967296,4294967296]", 0, 0) + "}", "");
  expect_refused("{" + entry("a", "[1000000000]", 0, 4'000'000'000) + "}", data);
  expect_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" + huge + ",7]}}", data);
  expect_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0," + huge + "]}}", data);
  expect_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[184467440737095516160],\"data_offsets\":[0,8]}}", data);
}

TEST(Safetensors, OffsetsMustTileTheData) {
  const std::string data(16, '\0');
  EXPECT_NO_THROW(
      decode_safetensors(with_header("{" + entry("a", "[2]", 0, 8) + "," + entry("b", "[2]", 8, 16) + "}", data), "x"));
  expect_refused("{" + entry("a", "[3]", 0, 12) + "," + entry("b", "[2]", 8, 16) + "}", data);  // overlap
  expect_refused("{" + entry("a", "[4]", 0, 16) + "," + entry("b", "[4]", 0, 16) + "}", data);  // twice the same
  expect_refused("{" + entry("a", "[1]", 0, 4) + "," + entry("b", "[2]", 8, 16) + "}", data);   // gap
  expect_refused("{" + entry("a", "[2]", 8, 16) + "}", data);                                   // gap at the beginning
  expect_refused("{" + entry("a", "[2]", 0, 8) + "}", data);                                    // rest without owner
  expect_refused("{" + entry("a", "[2]", 8, 0) + "," + entry("b", "[4]", 0, 16) + "}", data);   // backwards
  expect_refused("{" + entry("a", "[3]", 0, 8) + "," + entry("b", "[2]", 8, 16) + "}", data);   // shape of other size
}

TEST(Safetensors, OtherKindsAndBrokenEntriesAreRefused) {
  const std::string data(8, '\0');
  expect_refused(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":{"0":0,"1":8}}})", data);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2]}})", data);
  expect_refused(R"({"a":[]})", data);
  expect_refused(R"({"a":null})", data);
  expect_refused(R"({"__metadata__":{"key":1}})", "");
  expect_refused(R"({"__metadata__":"text"})", "");
  expect_refused("[]", "");
  expect_refused("not json", "");
  expect_refused("", "");
  // Deeply nested, to exhaust a recursive reader's stack.
  expect_refused("{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}", "");
}

TEST(Safetensors, MessagesNameTheFileOnOneLine) {
  const test::TemporaryFolder folder;
  folder.write("net.safetensors", with_header(R"({"a\nb":{"dtype":"F32","shape":[2]}})", "12345678"));
  try {
    read_safetensors(folder.file("net.safetensors"));
    FAIL();
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind(folder.file("net.safetensors") + ":", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace modlab::io

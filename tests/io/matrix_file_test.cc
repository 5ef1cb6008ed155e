#include "io/matrix_file.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "packed_bytes.h"

namespace modlab::io {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

std::string refusal(std::string_view bytes, const std::string& array = "") {
  try {
    decode_matrix(bytes, "m", array);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(MatrixFile, CsvWithAndWithoutNames) {
  const Matrix bare = decode_matrix("0.5,0.5\n1,0\n0,1\n", "m");
  EXPECT_EQ(bare.rows, 3U);
  EXPECT_EQ(bare.columns, 2U);
  EXPECT_EQ(bare.values, (Numbers{0.5, 0.5, 1, 0, 0, 1}));
  EXPECT_TRUE(bare.row_names.empty() && bare.column_names.empty());

  const Matrix named = decode_matrix("rule;a;b\nsum;1;2\nmax;3;4\n", "m");
  EXPECT_EQ(named.row_names, (Names{"sum", "max"}));
  EXPECT_EQ(named.column_names, (Names{"a", "b"}));
  EXPECT_EQ(named.values, (Numbers{1, 2, 3, 4}));

  const Matrix columns = decode_matrix("a,b\n1,2\n", "m");
  EXPECT_EQ(columns.column_names, (Names{"a", "b"}));
  EXPECT_TRUE(columns.row_names.empty());

  const Matrix rows = decode_matrix("sum,1,2\nmax,3,4\n", "m");
  EXPECT_EQ(rows.rows, 1U) << "a first line with a word in it names the columns";
}

// DataFrame.to_csv() and to_csv(index=False).
TEST(MatrixFile, AsPandasWritesIt) {
  const Matrix with_index = decode_matrix(",0,1\n0,5,6\n1,7,8\n", "m");
  EXPECT_EQ(with_index.values, (Numbers{5, 6, 7, 8}));
  EXPECT_EQ(with_index.row_names, (Names{"0", "1"}));
  const Matrix without = decode_matrix("0,1,2\n5,6,7\n", "m");
  EXPECT_EQ(without.values, (Numbers{5, 6, 7}));
  EXPECT_EQ(without.column_names, (Names{"0", "1", "2"}));
}

TEST(MatrixFile, ArraysOfNumpy) {
  const std::string array = test::npy("<f8", "(2, 3)", test::bytes_of<double>({1, 2, 3, 4, 5, 6}));
  const Matrix one = decode_matrix(array, "m");
  EXPECT_EQ(one.rows, 2U);
  EXPECT_EQ(one.values, (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(decode_matrix(test::zip({{"use.npy", array}}), "m").columns, 3U);
  const std::string two = test::zip({{"use.npy", array}, {"other.npy", array}});
  EXPECT_EQ(decode_matrix(two, "m", "other").columns, 3U);
  EXPECT_NE(refusal(two).find("use, other"), std::string::npos);
  EXPECT_NE(refusal(two, "user").find("did you mean 'use'"), std::string::npos);
}

TEST(MatrixFile, WhatIsNoMatrix) {
  EXPECT_NE(refusal("1,2\n3\n").find("m:2"), std::string::npos);
  EXPECT_NE(refusal("a,b\n1,x\n").find("'x' is no number"), std::string::npos);
  EXPECT_NE(refusal("").find("m"), std::string::npos);
  EXPECT_NE(refusal("a,b\n").find("without numbers"), std::string::npos);
  EXPECT_NE(refusal("1,2\n", "use").find("--array"), std::string::npos);
  EXPECT_NE(refusal(test::npy("<f4", "(3,)", test::bytes_of<float>({1, 2, 3}))).find("1 dimension"), std::string::npos);
  EXPECT_NE(refusal(test::npy("<f4", "(0, 3)", "")).find("without numbers"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x80\x04", 2)).find("pickle"), std::string::npos);
}

}  // namespace
}  // namespace modlab::io

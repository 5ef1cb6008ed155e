#include "io/csv_file.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace modlab::io {
namespace {

TEST(CsvFile, CellsCommentsAndLineNumbers) {
  const Csv csv = parse_csv("# comment\n a ,\"b\"\n\n1, 2 \r\n3,\"4\"", "some.csv", 10, 10);
  EXPECT_EQ(csv.header, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[0].line, 4);
  EXPECT_EQ(csv.rows[0].cells, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(csv.rows[1].cells, (std::vector<std::string>{"3", "4"}));
}

TEST(CsvFile, LimitsAndRaggedRows) {
  EXPECT_THROW(parse_csv("a,b\n1,2\n3,4\n", "some.csv", 1, 10), FormatError);
  EXPECT_THROW(parse_csv("a,b,c\n", "some.csv", 10, 2), FormatError);
  EXPECT_THROW(parse_csv("a,b\n1,2,3\n", "some.csv", 10, 10), FormatError);
  EXPECT_THROW(parse_csv("", "some.csv", 10, 10), FormatError);
}

TEST(CsvCell, IsQuotedWhereItHasToBeAndNeverAFormula) {
  for (const char* text : {"", "plain", "a b", "-0.5", "-1e-3", "3", "a=b", "'"}) {
    EXPECT_EQ(csv_cell(text), text);
  }
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  for (const char* text : {"=1+1", "+x", "-x", "@SUM(A1)", "\tx"}) {
    EXPECT_EQ(csv_cell(text), std::string("'") + text);
  }
  EXPECT_EQ(csv_cell("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
}

}  // namespace
}  // namespace modlab::io

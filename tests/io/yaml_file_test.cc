#include "io/yaml_file.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace modlab::io {
namespace {

TEST(YamlFile, ErrorsNameTheLine) {
  try {
    parse_yaml("a: 1\nb: [2\n", "some.yaml");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("some.yaml:", 0), 0U) << error.what();
    EXPECT_NE(std::string(error.what()).find("not valid YAML"), std::string::npos);
  }
}

TEST(YamlFile, PlaceOfANode) {
  const YAML::Node root = parse_yaml("a: 1\nb:\n  c: 2\n", "some.yaml");
  EXPECT_EQ(place_of(root["b"]["c"], "some.yaml"), "some.yaml:3");
}

TEST(YamlFile, QuotesAreShortAndOnOneLine) {
  EXPECT_EQ(quote_for_message("a\nb\x1b"), "'a b\xEF\xBF\xBD'");
  EXPECT_EQ(quote_for_message(std::string(39, 'x') + "ä"), "'" + std::string(39, 'x') + "...'");
  EXPECT_EQ(quote_for_message(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace modlab::io

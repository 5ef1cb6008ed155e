#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Words;
using test::words_of;

class Flops : public test::ProgramTest {
 protected:
  // The words of the line that begins with `name`, after it.
  static Words numbers_of(const std::string& text, const std::string& name) {
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with(name)) {
        return words_of(line.substr(name.size()));
      }
    }
    return {};
  }
};

TEST_F(Flops, JsonIsExactlyThis) {
  EXPECT_EQ(output(words_of("flops --task depth2 --model modular-shared --json")),
            "{\"forward\": 422, \"backward\": 242, \"update\": 108}\n");
  EXPECT_EQ(output(words_of("flops --task depth2 --model modular-shared --exact --json")),
            "{\"forward\": 490, \"backward\": 281, \"update\": 134}\n");
  EXPECT_EQ(output(words_of("flops --task depth3 --model dense --json")),
            "{\"forward\": 5472, \"backward\": 5472, \"update\": 5472}\n");
  // A count beyond seven digits is still written out.
  EXPECT_EQ(json_output("flops --model dense --hidden 2000,2000 --json")["forward"], 4016000);
}

TEST_F(Flops, TextHasPartsBothCountsAndTheTotal) {
  // The worked example of the specification, section 9.1.
  const std::string text =
      output(words_of("flops --task depth2 --model modular-shared --ratio 0.5 --batch-size 4 --epochs 100"));
  EXPECT_EQ(numbers_of(text, "  modules "), (Words{"360", "180", "72", "490", "245", "98"}));
  EXPECT_EQ(numbers_of(text, "  input selection "), (Words{"48", "48", "24", "0", "24", "24"}));
  EXPECT_EQ(numbers_of(text, "  output selection "), (Words{"4", "4", "2", "0", "2", "2"}));
  EXPECT_EQ(numbers_of(text, "  module selection "), (Words{"10", "10", "10", "0", "10", "10"}));
  EXPECT_EQ(numbers_of(text, "together "), (Words{"422", "242", "108", "490", "281", "134"}));
  EXPECT_EQ(numbers_of(text, "updates "), (Words{"900", "800"}));
  // Exact: 100 * (32 * (2 * 490 + 4 * 281) + 8 * 18 * 134).
  EXPECT_EQ(numbers_of(text, "training FLOPs "), (Words{"7548000", "8662400"}));
  const std::string dense = output(words_of("flops --model dense"));
  EXPECT_NE(dense.find("6-36-36-36-2"), std::string::npos) << dense;
  EXPECT_EQ(numbers_of(dense, "layers "), (Words{"2880", "2880", "2880", "2990", "2990", "2990"}));
}

TEST_F(Flops, TableOneMarksTheEntryThatDiffers) {
  const std::string table = output(words_of("flops --table"));
  EXPECT_EQ(std::ranges::count(table, '*'), 2) << "the entry and its note\n" << table;
  EXPECT_NE(table.find("220856*"), std::string::npos) << table;
  EXPECT_NE(table.find("the paper prints 220676, its formula gives 220856"), std::string::npos) << table;
  const json rows = json_output("flops --table --json")["table_one"];
  ASSERT_EQ(rows.size(), 20U);
  int differing = 0;
  for (const json& row : rows) {
    differing += row["agrees"].get<bool>() ? 0 : 1;
    EXPECT_EQ(row["computed"].size(), 3U);
  }
  EXPECT_EQ(differing, 1);
}

TEST_F(Flops, WhatItRefuses) {
  expect_refused("flops --model dense,modular", {"one network", "2"});
  expect_refused("flops --seed 0..9", {"10"});
  expect_refused("flops --task dpeth2", {"depth2"});
  expect_refused("flops --model modular-fc --task random62", {"graph"});
  expect_refused("flops depth2", {"depth2"});
  expect_refused("flops --batchsize 4", {"'--batch-size'"});
}

}  // namespace
}  // namespace modlab

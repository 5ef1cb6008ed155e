#include <gtest/gtest.h>

#include "cli/program.h"
#include "packed_bytes.h"

namespace modlab {
namespace {

// Figure 2 of "Is a Modular Architecture Enough?".
constexpr auto kIllustration = ".95,0,0,.05\n0,0,0,1\n.35,.10,0,.55\n0,1,0,0\n";

class CollapseVerb : public test::ProgramTest {};

TEST_F(CollapseVerb, JsonHasAllNumbers) {
  folder_.write("use.csv", kIllustration);
  const nlohmann::json found = json_output("collapse use.csv --json");
  EXPECT_EQ(found["rules"], 4);
  EXPECT_EQ(found["modules"], 4);
  EXPECT_NEAR(found["collapse_avg"].get<double>(), 1.0 / 3, 1e-5);
  EXPECT_NEAR(found["collapse_worst"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(found["alignment"].get<double>(), 0.2625, 1e-9);
  EXPECT_NEAR(found["imi"].get<double>(), 0.418912, 1e-6);
  EXPECT_NEAR(found["adaptation"].get<double>(), 0.132995, 1e-6);
  EXPECT_EQ(found["dead_modules"], 1);
  EXPECT_EQ(found["module_of_rule"], nlohmann::json({1, 4, 3, 2})) << "counted from 1";
  EXPECT_EQ(found["activation"][0], nlohmann::json({.95, 0.0, 0.0, .05}));
  for (const char* name : {"adaptation_matched", "entropy"}) {
    EXPECT_TRUE(found[name].is_number()) << name;
  }
}

TEST_F(CollapseVerb, TextNamesWhatItShows) {
  folder_.write("use.csv", "rule,left,middle,right\nsum,9,1,0\nmax,0,0,5\n");
  const std::string text = output({"collapse", "use.csv"});
  for (const char* part : {"2 rules", "3 modules", "left", "sum", "0.90", "uniform", "one for all", "alignment"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("dead"), std::string::npos) << text;
  folder_.write("dead.csv", "rule,left,middle,right\nsum,9,0,0\nmax,0,0,5\n");
  EXPECT_NE(output({"collapse", "dead.csv"}).find("1 dead module: middle"), std::string::npos);
}

TEST_F(CollapseVerb, ArraysAndPictures) {
  const std::string array = test::npy("<f4", "(2, 2)", test::bytes_of<float>({1, 0, 0, 1}));
  folder_.write("use.npy", array);
  folder_.write("all.npz", test::zip({{"a.npy", array}, {"b.npy", array}}));
  EXPECT_NEAR(json_output("collapse use.npy --json")["alignment"].get<double>(), 0, 1e-9);
  const nlohmann::json drawn = json_output("collapse all.npz --array b --svg use.svg --json");
  EXPECT_EQ(drawn["module_of_rule"], nlohmann::json({1, 2}));
  const std::string svg = folder_.read("use.svg");
  EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST_F(CollapseVerb, BadInput) {
  folder_.write("negative.csv", "1,0\n-1,2\n");
  folder_.write("nothing.csv", "1,0\n0,0\n");
  folder_.write("infinite.csv", "1,0\ninf,1\n");
  folder_.write("ragged.csv", "1,0\n1\n");
  folder_.write("words.csv", "a,b\n1,two\n");
  folder_.write("empty.csv", "");
  expect_refused("collapse negative.csv", {"negative.csv", "rule 2"});
  expect_refused("collapse nothing.csv --svg out.svg", {"rule 2", "no module"});
  expect_refused("collapse infinite.csv", {"infinite.csv"});
  folder_.write("number.csv", "1,0\nnan,1\n");
  folder_.write("longer.csv", "1,0\n0,1\n1,0,0\n");
  folder_.write("negative.npy", test::npy("<f4", "(2, 2)", test::bytes_of<float>({1, 0, 0, -1})));
  folder_.write("flat.npy", test::npy("<f4", "(4,)", test::bytes_of<float>({1, 0, 0, 1})));
  expect_refused("collapse number.csv", {"number.csv"});
  expect_refused("collapse longer.csv --svg out.svg", {"longer.csv:3"});
  expect_refused("collapse negative.npy", {"negative.npy", "rule 2"});
  expect_refused("collapse flat.npy", {"flat.npy"});
  expect_refused("collapse ragged.csv", {"ragged.csv:2"});
  expect_refused("collapse words.csv", {"'two'"});
  expect_refused("collapse empty.csv", {"empty.csv"});
  expect_refused("collapse missing.csv", {"missing.csv"});
  expect_refused("collapse", {"one file"});
  expect_refused("collapse negative.csv nothing.csv", {"one file"});
  std::string wide;
  for (int column = 0; column < 1025; ++column) {
    wide += column == 0 ? "3" : ",3";
  }
  folder_.write("wide.csv", wide + "\n");
  expect_refused("collapse wide.csv", {"1024"});
}

}  // namespace
}  // namespace modlab

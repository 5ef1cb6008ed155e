#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Words;
using test::words_of;

class Graph : public test::ProgramTest {};

TEST_F(Graph, ListsBuiltInTasksOnOnePage) {
  const std::string list = output({"graph"});
  EXPECT_LE(lines_of(list).size(), 50U);
  for (const char* part : {"  depth2 ", "  A+B+C ", "  mnist-three ", "  sculpt/4-2-4 ",
                           "  sculpt/4-1-2-{2,4,8,12,16} ", "  sculpt/8-2-1-2-{2,4,8,12,16} "}) {
    EXPECT_NE(list.find(part), std::string::npos) << part << "\n" << list;
  }
  // A script gets all of them.
  int sculpted = 0;
  for (const json& task : json_output("graph --json")) {
    const std::string name = task["name"];
    sculpted += name.starts_with("sculpt/") ? 1 : 0;
  }
  EXPECT_EQ(sculpted, 38);
}

TEST_F(Graph, ShowsModules) {
  const std::string shown = output({"graph", "sculpt/8-2-1-2-4", "--rows", "0"});
  for (const char* line : {"  outputs     the gates of level 4", "  A           x1 x2 x3 x4 a1 a2 a3",
                           "  MID         fa fb (reads A, B)", "  Z1          z1 y1 y3 (reads MID)"}) {
    EXPECT_NE(shown.find("\n" + std::string(line) + "\n"), std::string::npos) << line << "\n" << shown;
  }
  EXPECT_EQ(output({"graph", "depth2"}).find("\nModules\n"), std::string::npos);

  const json modules = json_output("graph sculpt/4-1-2-4 --json")["tasks"][0]["modules"];
  ASSERT_EQ(modules.size(), 3U);
  EXPECT_EQ(modules[0], json::parse(R"({"name": "G", "inputs": ["x1", "x2", "x3", "x4"], "gates": ["g1", "g2", "g3"],
                            "outputs": [], "reads": []})"));
  EXPECT_EQ(modules[2], json::parse(R"({"name": "F2", "inputs": [], "gates": ["f2", "y2", "y4"],
                                        "outputs": ["y2", "y4"], "reads": ["G"]})"));
}

TEST_F(Graph, DrawsModules) {
  output(words_of("graph sculpt/4-2-4 --svg picture.svg --dot picture.dot --csv table.csv"));
  EXPECT_NE(folder_.read("picture.svg").find(">S1</text>"), std::string::npos);
  EXPECT_NE(folder_.read("picture.dot").find("label=\"S1\""), std::string::npos);
  EXPECT_TRUE(folder_.read("table.csv").starts_with("x1,x2,x3,x4,y1,y2,y3,y4\n"));
}

}  // namespace
}  // namespace modlab

#include <gtest/gtest.h>

#include <cmath>

#include "cli/program.h"
#include "io/npz.h"
#include "io/safetensors.h"

namespace modlab {
namespace {

class OverlapVerb : public test::ProgramTest {
 protected:
  // A mask over two tensors, four weights and two.
  void write_mask(const std::string& name, std::vector<float> first, std::vector<float> second) {
    const io::TensorFile file{
        {{"layers.0.weight", {2, 2}, std::move(first)}, {"layers.1.weight", {1, 2}, std::move(second)}}, {}};
    folder_.write(name, name.ends_with(".npz") ? io::encode_npz(file.tensors) : io::encode_safetensors(file));
  }
};

TEST_F(OverlapVerb, OfTwoMasksEveryTensorIsShown) {
  write_mask("add.safetensors", {1, 1, 0, 0}, {1, 0});
  write_mask("mul.npz", {1, 0, 1, 0}, {1, 1});
  const nlohmann::json found = json_output("overlap add.safetensors mul.npz --json");
  EXPECT_EQ(found["weights"], 6);
  EXPECT_EQ(found["masks"],
            nlohmann::json::parse(R"([{"name": "add.safetensors", "kept": 3}, {"name": "mul.npz", "kept": 4}])"));
  const nlohmann::json& pair = found["pairs"][0];
  EXPECT_NEAR(pair["tensors"]["layers.0.weight"]["iou"].get<double>(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(pair["tensors"]["layers.0.weight"]["iomin"].get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(pair["tensors"]["layers.1.weight"]["iou_chance"].get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(pair["iou"].get<double>(), 2.0 / 5, 1e-12) << "of all tensors together";
  EXPECT_NEAR(pair["iou_chance"].get<double>(), 2.0 / 5, 1e-12);
  EXPECT_EQ(pair["empty"], false);
  const std::string text = output(test::words_of("overlap add.safetensors mul.npz"));
  for (const char* part :
       {"add.safetensors (1) and mul.npz (2)", "layers.1.weight", "0.333", "all of them", "chance"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(OverlapVerb, OfSeveralMasksThoseThatShareMostAreJoinedFirst) {
  write_mask("a.npz", {1, 1, 0, 0}, {1, 0});
  write_mask("b.npz", {0, 0, 1, 1}, {0, 1});
  write_mask("c.npz", {1, 1, 1, 0}, {1, 0});
  const nlohmann::json found = json_output("overlap a.npz b.npz c.npz --json");
  ASSERT_EQ(found["pairs"].size(), 3U);
  ASSERT_EQ(found["joins"].size(), 2U);
  EXPECT_EQ(found["joins"][0]["first"], nlohmann::json({"a.npz"}));
  EXPECT_EQ(found["joins"][0]["second"], nlohmann::json({"c.npz"}));
  EXPECT_NEAR(found["joins"][0]["iou"].get<double>(), 0.75, 1e-12);
  // b shares nothing with a and one of six with c.
  EXPECT_NEAR(found["joins"][1]["iou"].get<double>(), (0 + 1.0 / 6) / 2, 1e-12);
  const std::string text = output(test::words_of("overlap a.npz b.npz c.npz"));
  for (const char* part : {"3 masks over 6 weights in 2 tensors", "0.750/", "Joined by likeness", "IoU 0.750"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("layers.0.weight"), std::string::npos);
  EXPECT_NE(output(test::words_of("overlap a.npz b.npz c.npz --by-tensor")).find("layers.0.weight"), std::string::npos);
}

TEST_F(OverlapVerb, WeightsAndLogits) {
  write_mask("a.npz", {0.5, -1, 0, 0}, {2, 0});
  write_mask("b.npz", {0.5, -1, 0, 0}, {-2, 0});
  EXPECT_EQ(json_output("overlap --nonzero a.npz b.npz --json")["pairs"][0]["kept_by_both"], 3);
  const nlohmann::json logits = json_output("overlap --logits a.npz b.npz --json")["pairs"][0];
  EXPECT_EQ(logits["kept_by_both"], 1);
  EXPECT_EQ(logits["tensors"]["layers.1.weight"]["empty"], true);
  EXPECT_EQ(logits["tensors"]["layers.1.weight"]["iou"], 0);
  EXPECT_NE(output(test::words_of("overlap --logits a.npz b.npz")).find("nothing is kept"), std::string::npos);
}

// Weights that a network lacks are no chance to miss, where both masks are of that network.
TEST_F(OverlapVerb, FilesSayWhichNetworkTheyAreMasksOf) {
  const auto write = [&](const std::string& name, std::vector<float> kept, const std::string& network) {
    folder_.write(name, io::encode_safetensors({{{"w", {2, 4}, std::move(kept)}},
                                                {{"modlab.network", network}, {"modlab.absent", R"({"w": 4})"}}}));
  };
  write("a.safetensors", {1, 1, 0, 0, 0, 0, 0, 0}, "one");
  write("b.safetensors", {1, 0, 1, 0, 0, 0, 0, 0}, "one");
  write("c.safetensors", {1, 0, 1, 0, 0, 0, 0, 0}, "other");
  const nlohmann::json found = json_output("overlap a.safetensors b.safetensors c.safetensors --json");
  EXPECT_NEAR(found["pairs"][0]["iou_chance"].get<double>(), 1.0 / 3, 1e-12) << "two of four";
  EXPECT_NEAR(found["pairs"][1]["iou_chance"].get<double>(), 0.5 / 3.5, 1e-12) << "two of eight";
}

TEST_F(OverlapVerb, BadInput) {
  write_mask("a.npz", {1, 1, 0, 0}, {1, 0});
  write_mask("half.npz", {1, 0.5, 0, 0}, {1, 0});
  write_mask("none.npz", {1, std::nanf(""), 0, 0}, {1, 0});
  folder_.write("other.npz", io::encode_npz({{"layers.0.weight", {2, 2}, {1, 1, 0, 0}}}));
  folder_.write("shape.npz",
                io::encode_npz({{"layers.0.weight", {4, 1}, {1, 1, 0, 0}}, {"layers.1.weight", {1, 2}, {1, 0}}}));
  folder_.write("twice.npz", io::encode_npz({{"layers.0.weight", {1}, {1}}, {"layers.0.weight", {1}, {0}}}));
  folder_.write("empty.npz", io::encode_npz({{"layers.0.weight", {0, 2}, {}}}));
  folder_.write("text.txt", "1,0\n");
  folder_.write("cut.safetensors", "\x10");
  const auto write_absent = [&](const std::string& name, const std::string& absent) {
    const io::TensorFile file{{{"layers.0.weight", {2, 2}, {1, 1, 0, 0}}, {"layers.1.weight", {1, 2}, {1, 0}}},
                              {{"modlab.network", "n"}, {"modlab.absent", absent}}};
    folder_.write(name, io::encode_safetensors(file));
  };
  write_absent("many.safetensors", R"({"layers.0.weight": 3, "layers.1.weight": 0})");
  write_absent("fewer.safetensors", R"({"layers.0.weight": 1})");
  write_absent("odd.safetensors", R"({"layers.0.weight": -1, "layers.1.weight": []})");
  write_absent("junk.safetensors", "{");
  for (const char* name : {"many.safetensors", "fewer.safetensors", "odd.safetensors", "junk.safetensors"}) {
    expect_refused(std::string("overlap a.npz ") + name, {name, "modlab.absent"});
  }
  expect_refused("overlap", {"two files"});
  expect_refused("overlap a.npz", {"two files"});
  expect_refused("overlap a.npz half.npz", {"half.npz", "layers.0.weight", "0.5", "--nonzero", "--logits"});
  expect_refused("overlap a.npz none.npz --nonzero", {"none.npz", "not a number"});
  expect_refused("overlap a.npz other.npz", {"other.npz", "layers.1.weight", "a.npz"});
  expect_refused("overlap other.npz a.npz", {"other.npz", "layers.1.weight", "a.npz"});
  expect_refused("overlap a.npz shape.npz", {"shape.npz", "4 by 1", "2 by 2"});
  expect_refused("overlap twice.npz a.npz", {"twice.npz", "layers.0.weight"});
  expect_refused("overlap a.npz empty.npz", {"empty.npz", "no numbers"});
  expect_refused("overlap a.npz text.txt", {"text.txt", "safetensors and npz"});
  expect_refused("overlap a.npz cut.safetensors", {"cut.safetensors"});
  expect_refused("overlap a.npz missing.npz", {"missing.npz"});
  expect_refused("overlap a.npz a.npz --nonzero --logits", {"exclude each other"});
}

}  // namespace
}  // namespace modlab

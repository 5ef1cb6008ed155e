#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cli/program.h"
#include "io/safetensors.h"
#include "packed_bytes.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Words;

constexpr auto kNetworks = MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz";
constexpr auto kSeparable = "exemplar/4-2-4/4-24-4/seed0/pu70/pe2.5";

// Two inputs to each of two outputs, by way of one unit.
constexpr auto kTwoModules = "layer,from,to,weight\n0,0,0,1\n0,1,0,1\n0,2,1,1\n0,3,1,-1\n1,0,0,2\n1,1,1,2\n";
const json kTwoModulesFound = {{1, 1, 0, 0}, {1, 0}, {1, 0}};

class Detect : public test::ProgramTest {
 protected:
  json detected(const Words& words) const { return json_output(test::joined({"detect", "--json"}, words)); }
  std::string text_of(const Words& words) const { return output(test::joined({"detect"}, words)); }

  // Output that has all the parts.
  void expect_text(const Words& words, const Words& parts) const {
    const std::string text = text_of(words);
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << text << "lacks: " << part;
    }
    for (const char* never : {"nan", "inf ", "z -0.00)"}) {
      EXPECT_EQ(text.find(never), std::string::npos) << text;
    }
  }
};

// The groups of equal labels, whatever the labels.
std::set<std::set<std::pair<std::size_t, std::size_t>>> partition_of(const json& layers) {
  std::map<int, std::set<std::pair<std::size_t, std::size_t>>> groups;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t place = 0; place < layers[layer].size(); ++place) {
      groups[layers[layer][place]].emplace(layer, place);
    }
  }
  std::set<std::set<std::pair<std::size_t, std::size_t>>> partition;
  for (const auto& [label, group] : groups) {
    partition.insert(group);
  }
  return partition;
}

TEST_F(Detect, OneObjectALineWithTheKeysOfThePublishedRecords) {
  const Words lines = lines_of(output({"detect", kNetworks, "--json"}));
  ASSERT_EQ(lines.size(), 300U);
  for (const std::string& line : lines) {
    const nlohmann::ordered_json found = nlohmann::ordered_json::parse(line);
    Words keys;
    for (const auto& [key, value] : found.items()) {
      keys.push_back(key);
    }
    keys.resize(5);
    EXPECT_EQ(keys, (Words{"id", "live", "clusters", "modules", "layers"}));
    keys.clear();
    for (const auto& [key, value] : found["layers"][0].items()) {
      keys.push_back(key);
    }
    EXPECT_EQ(keys, (Words{"K", "K_metric", "M", "consulted", "verdict", "z_sep", "z_sin", "sep", "sin"}));
    EXPECT_EQ(found["layers"].size() + 1, found["live"].size());
    EXPECT_FALSE(found["task"].is_null());
  }
}

TEST_F(Detect, TheFormOfOneRecord) {
  const json found = detected({kNetworks, "--id", kSeparable});
  EXPECT_EQ(found["id"], kSeparable);
  EXPECT_EQ(found["live"], json({{0, 1, 2, 3}, {7, 12, 16, 21}, {0, 1, 2, 3}}));
  EXPECT_EQ(found["clusters"], json({{1, 1, 0, 0}, {1, 0, 0, 1}, {0, 1, 2, 3}}));
  EXPECT_EQ(found["modules"], json({{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 1, 0, 0}}));
  const json& layer = found["layers"][0];
  EXPECT_EQ(layer["K"], 2);
  EXPECT_EQ(layer["K_metric"], 2);
  EXPECT_EQ(layer["M"], json({{"2", -0.5}, {"3", -0.375}}));
  EXPECT_EQ(layer["consulted"], true);
  EXPECT_TRUE(layer["verdict"].is_null());
  EXPECT_NEAR(layer["z_sep"].get<double>(), -1.6329931618554523, 1e-12);
  EXPECT_EQ(layer["sin"], false);
  EXPECT_EQ(found["task"], "sculpt/4-2-4");
  EXPECT_EQ(found["accuracy"], 1);
  EXPECT_EQ(found["criteria"], json({{"exact", true}}));
  EXPECT_EQ(found["agreement"]["all"]["adjusted_rand"], 1);
  EXPECT_EQ(found["hierarchy"]["modules"].size(), 2U);
  EXPECT_EQ(found["hierarchy"]["modules"][0]["inputs"], json({0, 1}));
  EXPECT_EQ(found["hierarchy"]["modules"][0]["outputs"], json({0, 1}));
  EXPECT_EQ(found["hierarchy"]["modules"][0]["inside_edges"], 8);
  EXPECT_TRUE(found["hierarchy"]["edges"].empty());
  EXPECT_EQ(found["functions"][0]["computes"], json({"S1"}));
  EXPECT_EQ(found["functions"][0]["gives"][0]["formula"], "XOR(x1, x2)");
  EXPECT_FALSE(found.contains("lesions"));
}

TEST_F(Detect, TextSaysWhy) {
  expect_text({kNetworks, "--id", kSeparable},
              {"4-24-4, of which live: 4-4-4", "16 of 192 possible (8.33 %)", "100.00 % of the bits",
               "4 units in 2 clusters: {x1 x2} {x3 x4}", "M(2) -0.5000*  M(3) -0.3750",
               "the index is best at 2, the fewest it can judge", "two tests may", "not wired separately (z -1.63)",
               "not wired as one (z -1.63)", "no verdict, so the index holds",
               "joins m1 (100 % of its edges, 100 % of the module's)", "m1 = S1", "x1 x2 | h1.13 h1.17 | y1 y2",
               "Cross edges", "none", "computes S1", "XOR(x1, x2)",
               "the same, adjusted Rand 1.000, mutual information 1.000", "met       exact"});
}

TEST_F(Detect, TheFirstLineSaysWhatWasFound) {
  const auto first_line = [&](const std::vector<std::string>& words) { return lines_of(text_of(words)).front(); };
  EXPECT_EQ(first_line({kNetworks, "--id", kSeparable}),
            std::string(kSeparable) +
                ": 2 modules on 1 level: {x1 x2 | y1 y2} {x3 x4 | y3 y4}; these are the modules of sculpt/4-2-4");
  folder_.write("two.csv", kTwoModules);
  EXPECT_EQ(first_line({"two.csv"}), "two: 2 modules on 1 level: {in1 in2 | out1} {in3 in4 | out2}");
  folder_.write("dead.json", R"({"layers":[{"n_in":2,"n_out":2,"edges":[]}]})");
  EXPECT_NE(first_line({"dead.json"}).find("no modules, since no input reaches an output"), std::string::npos);
}

TEST_F(Detect, ManyNetworksAreALineEach) {
  const std::string text = text_of({kNetworks});
  EXPECT_GT(lines_of(text).size(), 300U);
  EXPECT_NE(text.find("300 networks"), std::string::npos) << text;
  EXPECT_NE(text.find("met by 91 of 118"), std::string::npos) << text;  // exact, as the published criteria have it
  // A part of the id chooses those that have it.
  const std::string some = text_of({kNetworks, "--id", "exemplar/4-2-4/"});
  EXPECT_NE(some.find("4 networks"), std::string::npos) << some;
  for (const char* option : {"--svg=a.svg", "--dot=a.dot", "--lesion", "--null=3", "--stability"}) {
    expect_refused({"detect", kNetworks, option}, {"300", "--id"});
  }
}

TEST_F(Detect, EverythingElseOnRequest) {
  const Words words = {kNetworks, "--id", kSeparable, "--lesion", "--null", "50", "--stability"};
  const json found = detected(words);
  EXPECT_EQ(found["lesions"]["modules"][0]["failing"], json({0, 1}));
  EXPECT_EQ(found["lesions"]["modules"][0]["cut"], "hidden units");
  EXPECT_NEAR(found["null_model"]["statistic"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(found["null_model"]["rewired"]["draws"], 50);
  EXPECT_LT(found["null_model"]["rewired"]["p"].get<double>(), 0.2);
  EXPECT_TRUE(found["null_model"]["reweighted"].is_null());
  EXPECT_TRUE(found["stability"]["all_same"].is_boolean());
  EXPECT_EQ(found["stability"]["variations"].size(), 14U);
  expect_text(words, {"without m1", "(hidden units): y1 y2 50 %", "this network: 0.500", "same degrees",
                      "shuffled weights cannot change", "unit order"});
  // The seed decides.
  EXPECT_EQ(detected(words)["null_model"], found["null_model"]);
  EXPECT_NE(detected(test::joined(words, {"--seed", "1"}))["null_model"], found["null_model"]);
}

TEST_F(Detect, Pictures) {
  const std::string text = text_of({kNetworks, "--id", kSeparable, "--svg", "a.svg", "--dot", "a.dot"});
  EXPECT_EQ(text, text_of({kNetworks, "--id", kSeparable}));
  const std::string svg = folder_.read("a.svg");
  const auto count = [](const std::string& whole, const std::string& part) {
    int found = 0;
    for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "class=\"area\""), 2);
  EXPECT_EQ(count(svg, "class=\"edge\" d"), 16 + 2);  // and two of the legend
  EXPECT_EQ(count(svg, "class=\"unit\""), 8);
  EXPECT_EQ(count(svg, "class=\"output\""), 4);
  EXPECT_NE(svg.find("density 8.33 %"), std::string::npos);
  EXPECT_NE(svg.find("p_u 70"), std::string::npos);
  EXPECT_NE(svg.find("m1 = S1"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  const std::string dot = folder_.read("a.dot");
  EXPECT_EQ(count(dot, "subgraph cluster_"), 2);
  EXPECT_EQ(count(dot, " -> "), 16);
}

TEST_F(Detect, CrossEdgesAreShown) {
  std::string edges = "layer,from,to\n";
  for (int unit = 0; unit < 24; ++unit) {
    for (const int step : {0, 1, 2}) {
      const int group = unit / 12 * 12;
      edges += "0," + std::to_string(unit) + "," + std::to_string(group + (unit + 5 * step) % 12) + "\n";
    }
    edges += "1," + std::to_string(unit) + "," + std::to_string(unit / 12) + "\n";
  }
  folder_.write("crossed.csv", edges + "0,3,20\n");
  const json found = detected({"crossed.csv", "--svg", "a.svg"});
  ASSERT_EQ(found["hierarchy"]["modules"].size(), 2U);
  ASSERT_EQ(found["hierarchy"]["cross_edges"].size(), 1U);
  EXPECT_EQ(found["hierarchy"]["cross_edges"][0]["edge"], json({3, 20, 1.0}));
  EXPECT_NE(folder_.read("a.svg").find("class=\"edge cross\""), std::string::npos);
  expect_text({"crossed.csv"}, {"in4    -> h1.21  weight 1 (m1 -> m2)"});
}

TEST_F(Detect, ListsOfEdges) {
  folder_.write("two.csv", kTwoModules);
  const json found = detected({"two.csv"});
  EXPECT_EQ(found["id"], "two");
  EXPECT_EQ(partition_of(found["modules"]), partition_of(kTwoModulesFound));
  EXPECT_TRUE(found["task"].is_null());
  expect_text({"two.csv"}, {"m1", "in1 in2 | h1.1 | out1"});
  // Units that only the sizes know are dead, but for outputs.
  const json larger = detected({"two.csv", "--sizes", "5,2,3"});
  EXPECT_EQ(larger["live"], json({{0, 1, 2, 3}, {0, 1}, {0, 1, 2}}));
  expect_text({"two.csv", "--sizes", "5,2,3"}, {"unread    in5", "unfed     out3", "without edges, on its own"});
}

TEST_F(Detect, MatricesOfOtherPrograms) {
  // [out][in], in the order of the layers.
  const std::vector<float> first = {1, 1, 0, 0, 0, 0, 1, -1};
  const std::vector<float> second = {2, 0, 0, 2};
  folder_.write("two.safetensors",
                io::encode_safetensors({{{"a.weight", {2, 4}, first}, {"b.weight", {2, 2}, second}}, {}}));
  EXPECT_EQ(partition_of(detected({"two.safetensors"})["modules"]), partition_of(kTwoModulesFound));
  EXPECT_EQ(partition_of(detected({"two.safetensors", "--tensors", "a.weight,b.weight"})["modules"]),
            partition_of(kTwoModulesFound));
  expect_refused("detect two.safetensors --tensors a.weight,c.weight", {"c.weight"});
  // Shapes that do not meet.
  expect_refused("detect two.safetensors --tensors b.weight,a.weight", {"two.safetensors", "order of the matrices"});
  const std::vector<float> turned = {1, 0, 1, 0, 0, 1, 0, -1};
  folder_.write("turned.npz", test::zip({{"w0.npy", test::npy("<f4", "(4, 2)", test::bytes_of(turned))},
                                         {"w1.npy", test::npy("<f4", "(2, 2)", test::bytes_of(second))}}));
  expect_refused("detect turned.npz", {"turned.npz"});
  EXPECT_EQ(partition_of(detected({"turned.npz", "--inputs-first"})["modules"]), partition_of(kTwoModulesFound));
}

TEST_F(Detect, TrainedNetworks) {
  const json run = json_output("train --json --save nets --task depth2 --model sparse --epochs 20")["runs"][0];
  const std::string file = "nets/" + run["id"].get<std::string>() + ".safetensors";
  const json found = detected({file, "--lesion"});
  EXPECT_EQ(found["id"], run["id"]);
  EXPECT_EQ(found["task"], "depth2");
  EXPECT_EQ(found["live"].front().size(), 6U);
  // That task names no modules.
  EXPECT_TRUE(found["criteria"].empty());
  EXPECT_FALSE(found.contains("agreement"));
  expect_text({file}, {"task      depth2", "names no modules"});
  EXPECT_EQ(detected({file, "--snapshot", "last"})["live"].back().size(), 2U);
  const json modular = json_output("train --json --save nets --task depth2 --model modular --epochs 2");
  expect_refused({"detect", "nets/" + modular["runs"][0]["id"].get<std::string>() + ".safetensors"},
                 {"no stack of layers"});
}

TEST_F(Detect, SettingsOfTheDetectorByBothNames) {
  const std::string id = "/8-2-1-2-4/";
  const auto modules = [&](const Words& words) {
    return output(test::joined({"detect", kNetworks, "--json", "--id", id}, words));
  };
  const std::string plain = modules({});
  EXPECT_EQ(modules({"--threshold", "0.2", "--merging", "0.9", "--features", "outgoing", "--linkage", "average",
                     "--distance", "cosine", "--index", "modularity-metric", "--hops", "0"}),
            plain);
  EXPECT_EQ(modules({"--mm_threshold", "0.2", "--cluster_merging_threshold", "0.9", "--feature_direction", "outgoing",
                     "--clustering_linkage", "average", "--clustering_distance_measure", "cosine",
                     "--stopping_criteria", "modularity-metric", "--feature_step_size", "9"}),
            plain);
  // Each of them changes something.
  for (const Words& other : std::vector<Words>{{"--index", "ch-index"},
                                               {"--features", "incoming"},
                                               {"--hops", "1"},
                                               {"--weighted"},
                                               {"--distance", "jaccard", "--index", "silhouette"},
                                               {"--merging", "0"}}) {
    EXPECT_TRUE(modules(other) != plain) << other.front();
  }
}

TEST_F(Detect, TasksOnRequest) {
  folder_.write("two.csv", kTwoModules);
  folder_.write("own.yaml",
                "inputs: [a, b, c, d]\nlevels:\n  - {p: OR a b, q: AND c !d}\noutputs: [p, q]\n"
                "modules:\n  P: [a, b, p]\n  Q: [c, d, q]\n");
  const json found = detected({"two.csv", "--task", "own.yaml"});
  EXPECT_EQ(found["task"], "own");
  EXPECT_EQ(found["accuracy"], 1);
  EXPECT_EQ(found["criteria"], json({{"exact", true}}));
  EXPECT_EQ(found["functions"][1]["computes"], json({"Q"}));
  expect_text({"two.csv", "--task", "own.yaml"}, {"m1 = P", "OR(a, b)", "AND(c, !d)"});
  expect_refused("detect two.csv --task depth2", {"two", "depth2", "6 inputs"});
  expect_refused("detect two.csv --task A+B", {"A+B"});
  expect_refused("detect two.csv --task mnist-xor-and", {"images"});
  expect_refused("detect two.csv --task nowhere", {"nowhere"});
  expect_refused("detect two.csv --lesion", {"--task"});
  // A file cannot send the program to other files, nor can it name what does not fit; neither is a reason to stop.
  const std::string network = R"("W":[[[1,1]]]})";
  folder_.write("path.json", R"({"task":"own.yaml",)" + network);
  EXPECT_TRUE(detected({"path.json"})["task"].is_null());
  expect_text({"path.json"}, {"task      none: the file names task own.yaml, which is not built in"});
  folder_.write("unfit.json", R"({"task":"exemplar/4-2-4",)" + network);
  expect_text({"unfit.json"}, {"task      none: task sculpt/4-2-4 has 4 inputs and 4 outputs"});
}

TEST_F(Detect, OddNetworksHaveClearResults) {
  // A layer with one unit, and nothing but single units.
  folder_.write("chain.csv", "layer,from,to\n0,0,0\n1,0,0\n");
  json found = detected({"chain.csv"});
  EXPECT_EQ(found["modules"], json({{0}, {0}, {0}}));
  EXPECT_EQ(found["layers"][0]["verdict"], "one");
  EXPECT_TRUE(found["layers"][0]["consulted"].is_null());
  expect_text({"chain.csv", "--null", "5", "--stability"}, {"1 unit in 1 cluster", "a single module", "no evidence"});

  // No input reaches an output.
  folder_.write("dead.json",
                R"({"layers":[{"n_in":2,"n_out":2,"edges":[[0,0,1]]},{"n_in":2,"n_out":2,"edges":[[1,1,1]]}]})");
  found = detected({"dead.json"});
  EXPECT_EQ(found["live"], json({json::array(), json::array(), {0, 1}}));
  EXPECT_EQ(found["layers"][0]["K"], 0);
  expect_text({"dead.json", "--null", "5", "--stability", "--svg", "dead.svg"},
              {"no live units", "unread    in1 in2", "unfed     out1 out2"});
  EXPECT_NE(folder_.read("dead.svg").find("inputs (0)"), std::string::npos);

  // An output without edges, an input that reaches nothing, and a unit that a bias alone keeps active.
  folder_.write(
      "some.json",
      R"({"layers":[{"n_in":2,"n_out":2,"edges":[[0,0,1]],"bias":[[1,1]]},{"n_in":2,"n_out":2,"edges":[[0,0,1],[1,0,1]]}]})");
  found = detected({"some.json"});
  EXPECT_EQ(found["live"], json({{0}, {0}, {0, 1}}));
  EXPECT_EQ(found["constants"], json({{1, 1}}));
  expect_text({"some.json"}, {"unread    in2: it reaches no output", "unfed     out2: no input reaches it",
                              "constant  h1.2: no input reaches it", "1 of them at dead units"});

  // No hidden layer.
  folder_.write("flat.csv", "layer,from,to\n0,0,0\n0,1,1\n");
  EXPECT_EQ(detected({"flat.csv"})["hierarchy"]["modules"].size(), 2U);
}

TEST_F(Detect, WhatItRefuses) {
  expect_refused("detect", {"name a file"});
  expect_refused("detect missing.csv", {"missing.csv"});
  folder_.write("rubbish.bin", "not a network");
  expect_refused("detect rubbish.bin", {"rubbish.bin"});
  folder_.write("two.csv", kTwoModules);
  expect_refused("detect two.csv --id three", {"three", "'two'"});
  expect_refused("detect two.csv --threshold much", {"--threshold", "much"});
  expect_refused("detect two.csv --threshold nan", {"finite"});
  expect_refused("detect two.csv --merging 1.5", {"0 to 1"});
  expect_refused("detect two.csv --hops -1", {"--hops"});
  expect_refused("detect two.csv --null 0", {"--null"});
  expect_refused("detect two.csv --linkage averag", {"averag", "average"});
  expect_refused("detect two.csv --linkage ward", {"euclidean"});
  expect_refused("detect two.csv --index dunn", {"silhouette"});
  expect_refused("detect two.csv --sizes 2,2,2", {"two.csv"});
  expect_refused("detect two.csv --sizes 4,x", {"--sizes", "'x'"});
  expect_refused("detect two.csv --tensors a", {"tensors"});
  expect_refused("detect two.csv --svg missing/a.svg", {"missing/a.svg"});
  folder_.write("nan.csv", "layer,from,to,weight\n0,0,0,nan\n");
  expect_refused("detect nan.csv", {"nan.csv:2"});
  folder_.write("nan.jsonl", "{\"W\":[[[1]]]}\n{\"W\":[[[NaN]]]}\n");
  expect_refused("detect nan.jsonl", {"nan.jsonl:2"});
  folder_.write("empty.json", R"({"layers":[{"n_in":2,"n_out":0,"edges":[]},{"n_in":0,"n_out":2,"edges":[]}]})");
  expect_refused("detect empty.json", {"layer 1 has no units"});
  folder_.write("apart.json", R"({"layers":[{"n_in":2,"n_out":3,"edges":[]},{"n_in":2,"n_out":2,"edges":[]}]})");
  expect_refused("detect apart.json", {"reads 2 units", "gives 3"});
  std::string wide = "layer,from,to\n";
  for (int input = 0; input < 5000; ++input) {
    wide += "0," + std::to_string(input) + ",0\n";
  }
  folder_.write("wide.csv", wide);
  expect_refused("detect wide.csv --svg a.svg", {"too many to draw"});
}

}  // namespace
}  // namespace modlab

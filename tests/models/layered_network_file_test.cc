#include "models/layered_network_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/errors.h"
#include "io/safetensors.h"
#include "packed_bytes.h"
#include "temporary_folder.h"

namespace modlab::models {
namespace {

using nlohmann::ordered_json;
using Edges = std::vector<Edge>;

std::string data_file(const std::string& name) { return MODLAB_TEST_DIR "/data/sculpt/" + name; }

void expect_same(const LayeredNetwork& found, const LayeredNetwork& expected) {
  EXPECT_EQ(found.widths, expected.widths);
  ASSERT_EQ(found.connections.size(), expected.connections.size());
  for (std::size_t layer = 0; layer < expected.connections.size(); ++layer) {
    EXPECT_EQ(found.connections[layer].edges, expected.connections[layer].edges);
    EXPECT_EQ(found.connections[layer].bias, expected.connections[layer].bias);
  }
}

// Two inputs, three hidden units, one output: what every format below says in its own way.
LayeredNetwork small() {
  LayeredNetwork network;
  network.widths = {2, 3, 1};
  network.connections = {{{{0, 0, 1.5F}, {1, 2, -2}}, {0, 0.25F, 0}}, {{{0, 0, 3}, {2, 0, 0.1F}}, {-1}}};
  return network;
}
constexpr auto kSmallLine =
    R"({"id":"a","task":"t","layers":[{"n_in":2,"n_out":3,"edges":[[1,2,-2],[0,0,1.5]],"bias":[[1,0.25]]},)"
    R"({"n_in":3,"n_out":1,"edges":[[0,0,3],[2,0,0.1]],"bias":[[0,-1]]}]})";
constexpr auto kSmallMatrices =
    R"({"arch":[2,3,1],"seed":4,"W":[[[1.5,0],[0,0],[0,-2]],[[3,0,0.1]]],"b":[[0,0.25,0],[-1]]})";

NamedNetwork only(const std::string& bytes, const std::string& name, const NetworkFileOptions& options = {}) {
  std::vector<NamedNetwork> networks = parse_layered_networks(bytes, name, options);
  EXPECT_EQ(networks.size(), 1U);
  return networks.front();
}

// One sentence that names the file and has the part.
template <typename Error = FormatError>
void expect_refused(const std::string& bytes, const std::string& part, const NetworkFileOptions& options = {},
                    const std::string& name = "some.file") {
  try {
    parse_layered_networks(bytes, name, options);
    ADD_FAILURE() << "was read; expected: " << part << "\n" << bytes.substr(0, 300);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(name)) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

TEST(NetworkLines, AreReadOneByOne) {
  const std::string text = std::string(kSmallLine) + "\n\n  " + kSmallMatrices + "\r\n";
  const std::vector<NamedNetwork> networks = parse_layered_networks(text, "x.jsonl");
  ASSERT_EQ(networks.size(), 2U);
  EXPECT_EQ(networks[0].id, "a");
  EXPECT_EQ(networks[0].about, ordered_json({{"task", "t"}}));
  expect_same(networks[0].network, small());
  EXPECT_EQ(networks[1].id, "2");
  EXPECT_EQ(networks[1].about["seed"], 4);
  EXPECT_FALSE(networks[1].about.contains("W"));
  expect_same(networks[1].network, small());
}

TEST(NetworkLines, MayBeCompressed) { expect_same(only(test::gzip(kSmallLine), "x.jsonl.gz").network, small()); }

TEST(NetworkLines, AnObjectMayAlsoStandAloneOverManyLines) {
  const std::string text = ordered_json::parse(kSmallLine).dump(2);
  expect_same(only(text, "x.json").network, small());
  expect_same(only("[" + text + "]", "x.json").network, small());
}

TEST(NetworkLines, AnEdgeWithoutAWeightWeighsOne) {
  const NamedNetwork found = only(R"({"layers":[{"n_in":2,"n_out":1,"edges":[[1,0]]}]})", "x");
  EXPECT_EQ(found.network.connections[0].edges, (Edges{{1, 0, 1}}));
  EXPECT_EQ(found.network.connections[0].bias, (std::vector<float>{0}));
}

// The 300 pruned networks that came with the specification.
TEST(NetworkLines, PublishedNetworksComeBackAsTheyWere) {
  const std::vector<NamedNetwork> networks = read_layered_networks(data_file("nets.jsonl.gz"));
  ASSERT_EQ(networks.size(), 300U);
  EXPECT_EQ(networks[0].id, "exemplar/4-2-4/4-24-4/seed0/pu70/pe2.5");
  EXPECT_EQ(networks[0].network.connections[0].edges[0], (Edge{2, 7, 3.08636284F}));
  EXPECT_EQ(networks[0].network.connections[0].bias[12], -2.72693181F);
  for (const NamedNetwork& named : networks) {
    EXPECT_EQ(named.network.edge_count(), named.about["edges"]) << named.id;
    EXPECT_EQ(named.network.full_edge_count(), named.about["total_edges"]) << named.id;
    const NamedNetwork back = only(to_json_line(named), "x");
    EXPECT_EQ(back.id, named.id);
    EXPECT_EQ(back.about, named.about) << named.id;
    expect_same(back.network, named.network);
  }
}

TEST(NetworkLines, PublishedDenseNetworks) {
  const std::vector<NamedNetwork> networks = read_layered_networks(data_file("dense64.json.gz"));
  ASSERT_EQ(networks.size(), 64U);
  EXPECT_EQ(networks[0].id, "1");
  EXPECT_EQ(networks[63].id, "64");
  EXPECT_EQ(networks[0].network.widths, (std::vector<int>{4, 24, 24, 24, 4}));
  EXPECT_EQ(networks[0].network.connections[0].edges[3], (Edge{3, 0, -0.8432281017303467F}));
  EXPECT_EQ(networks[0].about["modularity"], ordered_json({4, 2, 4}));
}

TEST(ToJsonLine, SaysWhatTheNetworkIsNow) {
  NamedNetwork named{"a \"b\"", small(), {{"edges", 99}, {"lr", 0.1}, {"arch", nullptr}, {"W", 5}}};
  const ordered_json line = ordered_json::parse(to_json_line(named));
  EXPECT_EQ(line["id"], "a \"b\"");
  EXPECT_EQ(line["edges"], 4);
  EXPECT_EQ(line["total_edges"], 9);
  EXPECT_EQ(line["hidden_layers"], 1);
  EXPECT_EQ(line["arch"], ordered_json({2, 3, 1}));
  EXPECT_EQ(line["lr"], 0.1);
  EXPECT_FALSE(line.contains("W"));
  EXPECT_EQ(line["layers"][0].dump(), R"({"n_in":2,"n_out":3,"edges":[[0,0,1.5],[1,2,-2]],"bias":[[1,0.25]]})");
}

TEST(ToJsonLine, EveryFloatComesBack) {
  std::mt19937 random(1);
  LayeredNetwork network;
  network.widths = {1000, 10};
  network.connections.resize(1);
  for (int from = 0; from < 1000; ++from) {
    const float weight = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(weight)) {
      network.connections[0].edges.push_back({from, from % 10, weight});
    }
  }
  network.connections[0].edges.push_back({0, 1, std::numeric_limits<float>::denorm_min()});
  network.connections[0].edges.push_back({0, 2, std::numeric_limits<float>::max()});
  network = checked(network, "x");
  expect_same(only(to_json_line({"a", network, {}}), "x").network, network);
}

TEST(ToJsonLine, IdsOfAnyBytesBecomeJson) { EXPECT_TRUE(ordered_json::accept(to_json_line({"caf\xe9", small(), {}}))); }

TEST(NetworkLines, WhatIsNoNetworkIsRefused) {
  expect_refused("{\"layers\":", "not JSON");
  expect_refused("[1, NaN]", "NaN and Infinity");
  expect_refused("[]", "empty list");
  expect_refused("[5]", "network 1: it is not a JSON object");
  expect_refused("{}", "it has no network");
  expect_refused(R"({"layers":[],"W":[]})", "it has no network");
  expect_refused(R"({"layers":[]})", "without a layer of edges");
  expect_refused(R"({"W":[]})", "without a layer of edges");
  expect_refused(std::string(kSmallLine) + "\nnonsense", "some.file:2: it is not a JSON object");
  expect_refused(std::string(kSmallLine) + "\n" + std::string(kSmallLine).substr(0, 50), "some.file:2: ");
  expect_refused("{\"layers\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "");
}

TEST(NetworkLines, LayersMustMakeSense) {
  const auto refused = [](const std::string& layers, const std::string& part) {
    expect_refused("{\"layers\":[" + layers + "]}", part);
  };
  refused("5", "layer 0: it is not an object");
  refused(R"({"n_out":3,"edges":[]})", "it has no 'n_in'");
  refused(R"({"n_in":2,"n_out":3})", "it has no list 'edges'");
  refused(R"({"n_in":2,"n_out":3,"edges":5})", "it has no list 'edges'");
  refused(R"({"n_in":2.0,"n_out":3,"edges":[]})", "n_in is 2.0, not a whole number");
  refused(R"({"n_in":-2,"n_out":3,"edges":[]})", "n_in is -2");
  refused(R"({"n_in":"2","n_out":3,"edges":[]})", "n_in is \"2\"");
  refused(R"({"n_in":0,"n_out":3,"edges":[]})", "layer 0 has no units");
  refused(R"({"n_in":2,"n_out":3,"edges":[]},{"n_in":4,"n_out":1,"edges":[]})",
          "reads 4 units, but the layer before gives 3");
  refused(R"({"n_in":2,"n_out":3,"edges":[5]})", "an edge is not a list");
  refused(R"({"n_in":2,"n_out":3,"edges":[[1]]})", "an edge is not a list");
  refused(R"({"n_in":2,"n_out":3,"edges":[[1,2,3,4]]})", "an edge is not a list");
  refused(R"({"n_in":2,"n_out":3,"edges":[[2,0,1]]})", "goes from unit 2 to unit 0, but there are 2 and 3 units");
  refused(R"({"n_in":2,"n_out":3,"edges":[[-1,0,1]]})", "comes from is -1");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,1e3,1]]})", "goes to is 1000.0");
  refused(R"({"n_in":2,"n_out":3,"edges":[[18446744073709551615,0,1]]})", "comes from is 18446744073709551615");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,0,1],[0,0,2]]})", "two edges from unit 0 to unit 0");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,0,"1"]]})", "a weight is \"1\"");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,0,null]]})", "a weight is null");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,0,1e39]]})", "a weight is 1e+39");
  refused(R"({"n_in":2,"n_out":3,"edges":[[0,0,1e999]]})", "not JSON");
  refused(R"({"n_in":2,"n_out":3,"edges":[],"bias":5})", "it has no list 'bias'");
  refused(R"({"n_in":2,"n_out":3,"edges":[],"bias":[5]})", "a bias is not a pair");
  refused(R"({"n_in":2,"n_out":3,"edges":[],"bias":[[3,1]]})", "unit 3 has a bias, but there are 3");
  refused(R"({"n_in":2,"n_out":3,"edges":[],"bias":[[1,1],[1,1]]})", "unit 1 has two biases");
  refused(R"({"n_in":2,"n_out":3,"edges":[],"bias":[[1,1e300]]})", "a bias is 1e+300");
}

TEST(NetworkLines, SizesAreCheckedBeforeMemoryIsTaken) {
  expect_refused(R"({"layers":[{"n_in":1,"n_out":2147483647,"edges":[],"bias":[]}]})", "at most 1000000");
  expect_refused(R"({"layers":[{"n_in":1,"n_out":99999999999,"edges":[]}]})", "n_out is 99999999999");
  expect_refused(R"({"layers":[{"n_in":1000000,"n_out":1000000,"edges":[]}]})", "too many pairs");
}

TEST(NetworkLines, AnArchMustFit) {
  expect_refused(R"({"arch":[2,4,1],"W":[[[1,2],[3,4]],[[5,6]]]})",
                 "arch is [2,4,1], but its layers have 2, 2, 1 units");
  expect_refused(R"({"arch":"2,2,1","W":[[[1,2],[3,4]],[[5,6]]]})", "but its layers have 2, 2, 1 units");
}

TEST(NetworkMatrices, MustMakeSense) {
  expect_refused(R"({"W":5})", "no list 'W'");
  expect_refused(R"({"W":[5]})", "layer 0: its matrix is not a list of rows");
  expect_refused(R"({"W":[[]]})", "its matrix is not a list of rows");
  expect_refused(R"({"W":[[[]]]})", "no matrix of 1 by 0");
  expect_refused(R"({"W":[[[1,2],[3]]]})", "differ in length");
  expect_refused(R"({"W":[[[1,2],3]]})", "differ in length");
  expect_refused(R"({"W":[[[1,"2"]]]})", "a weight is \"2\"");
  expect_refused(R"({"W":[[[1,2]],[[1,2]]]})", "gives 1 units, but the matrix of layer 1 reads 2");
  expect_refused(R"({"W":[[[1,2]]],"b":5})", "no list 'b'");
  expect_refused(R"({"W":[[[1,2]]],"b":[5]})", "its biases are not a list");
  expect_refused(R"({"W":[[[1,2]]],"b":[[1],[2]]})", "1 matrices and 2 lists of biases");
  expect_refused(R"({"W":[[[1,2]]],"b":[[1,2]]})", "2 biases for 1 units");
}

TEST(NetworkMatrices, MayHaveInputsFirst) {
  const std::string text = R"({"W":[[[1.5,0,0],[0,0,-2]],[[3],[0],[0.1]]],"b":[[0,0.25,0],[-1]]})";
  expect_same(only(text, "x", {.inputs_first = true}).network, small());
  expect_refused(text, "gives 2 units, but the matrix of layer 1 reads 1");
}

io::TensorFile small_tensors(const std::string& prefix = "lin") {
  io::TensorFile file;
  file.tensors = {{prefix + "0.weight", {3, 2}, {1.5F, 0, 0, 0, 0, -2}},
                  {prefix + "0.bias", {3}, {0, 0.25F, 0}},
                  {prefix + "1.weight", {1, 3}, {3, 0, 0.1F}},
                  {prefix + "1.bias", {1}, {-1}}};
  return file;
}

TEST(TensorFiles, AllMatricesInFileOrder) {
  const NamedNetwork found = only(encode_safetensors(small_tensors()), "folder/net.1.safetensors");
  EXPECT_EQ(found.id, "net.1");
  expect_same(found.network, small());
  // Also under any other name, and compressed.
  expect_same(only(test::gzip(encode_safetensors(small_tensors())), "x.gz").network, small());
}

TEST(TensorFiles, NamesChooseMatricesAndTheirOrder) {
  io::TensorFile file = small_tensors();
  std::swap(file.tensors[0], file.tensors[2]);
  file.tensors.push_back({"more", {2, 2}, {1, 2, 3, 4}});
  const std::string bytes = encode_safetensors(file);
  expect_same(only(bytes, "x", {.tensors = {"lin0.weight", "lin1.weight"}}).network, small());
  EXPECT_EQ(only(bytes, "x", {.tensors = {"more"}}).network.widths, (std::vector<int>{2, 2}));
  EXPECT_EQ(only(bytes, "x").network.widths, (std::vector<int>{2, 2, 3, 1})) << "all of them, in the order that fits";
  expect_refused(bytes, "gives 1 units, but the matrix of layer 1 reads 2",
                 {.tensors = {"lin1.weight", "lin0.weight"}});
  expect_refused(bytes, "no tensor 'lin0.wieght'; did you mean 'lin0.weight'?", {.tensors = {"lin0.wieght"}});
  expect_refused(bytes, "no tensor 'zzzzzzzzz'; it has lin1.weight, lin0.bias", {.tensors = {"zzzzzzzzz"}});
  expect_refused(bytes, "'lin0.bias' has 1 dimensions", {.tensors = {"lin0.bias"}});
}

TEST(TensorFiles, InputsMayComeFirst) {
  io::TensorFile file;
  file.tensors = {{"a", {2, 3}, {1.5F, 0, 0, 0, 0, -2}}, {"b", {3, 1}, {3, 0, 0.1F}}};
  LayeredNetwork expected = small();
  expected.connections[0].bias = {0, 0, 0};
  expected.connections[1].bias = {0};
  expect_same(only(encode_safetensors(file), "x", {.inputs_first = true}).network, expected);
}

TEST(TensorFiles, ABiasOfAnotherShapeBelongsToSomethingElse) {
  io::TensorFile file = small_tensors();
  file.tensors[1] = {"lin0.bias", {1, 3}, {1, 2, 3}};
  // A matrix now, and so in the way of the others.
  expect_refused(encode_safetensors(file), "in one order only: lin0.weight (2 to 3), lin0.bias (3 to 1)");
  file.tensors[1] = {"lin0.bias", {2}, {1, 2}};
  EXPECT_EQ(only(encode_safetensors(file), "x").network.connections[0].bias, (std::vector<float>{0, 0, 0}));
}

TEST(TensorFiles, WhatIsNoNetworkIsRefused) {
  io::TensorFile file;
  file.tensors = {{"a", {3}, {1, 2, 3}}};
  expect_refused(encode_safetensors(file), "no matrix");
  file.tensors = {{"a", {1, 2}, {1, std::numeric_limits<float>::quiet_NaN()}}};
  expect_refused(encode_safetensors(file), "no finite number");
  file.tensors = {{"a", {0, 2}, {}}};
  expect_refused(encode_safetensors(file), "no matrix of 0 by 2");
  file.tensors = {{"a", {0, 1UL << 40}, {}}};
  expect_refused(encode_safetensors(file), "more than 2147483647 rows or columns");
  const std::string bytes = encode_safetensors(small_tensors());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(parse_layered_networks(bytes.substr(0, length), "x.safetensors"), FormatError) << length;
    EXPECT_THROW(parse_layered_networks(bytes.substr(0, length), "x"), FormatError) << length;
  }
}

TEST(TensorFiles, NetworksThatTrainSaved) {
  io::TensorFile file = small_tensors("best/layer");
  for (const io::NamedTensor& tensor : small_tensors("last/layer").tensors) {
    file.tensors.push_back(tensor);
  }
  file.tensors[4].values[0] = 99;
  file.metadata["modlab.run"] = R"({"task":"depth2","model":"dense","id":"depth2-dense"})";
  const std::string bytes = encode_safetensors(file);
  const NamedNetwork best = only(bytes, "x.safetensors");
  EXPECT_EQ(best.id, "depth2-dense");
  EXPECT_EQ(best.about, ordered_json({{"task", "depth2"}, {"model", "dense"}}));
  expect_same(best.network, small());
  const NamedNetwork last = only(bytes, "x.safetensors", {.last_snapshot = true});
  EXPECT_EQ(last.network.connections[0].edges[0].weight, 99);
  expect_refused<ConfigError>(bytes, "a list of tensors can be chosen only for", {.tensors = {"best/layer0.weight"}});
  expect_refused<ConfigError>(bytes, "the order of inputs and outputs", {.inputs_first = true});
  file.metadata["modlab.run"] = "nonsense";
  expect_refused(encode_safetensors(file), "settings are not JSON");
  // A network with something between its layers.
  file.metadata["modlab.run"] = R"({"model":"cnn"})";
  file.tensors.push_back({"best/conv0.weight", {1, 1}, {1}});
  expect_refused<ConfigError>(encode_safetensors(file), "a network of model 'cnn', which is no stack of layers");
  file.metadata["modlab.run"] = R"({"model":5})";
  file.tensors = {{"best/modules", {1, 1}, {1}}};
  expect_refused<ConfigError>(encode_safetensors(file), "a network of model ''");
}

TEST(NpzFiles, AreReadLikeOtherTensors) {
  const std::string bytes =
      test::zip({{"a.weight.npy", test::npy("<f4", "(3, 2)", test::bytes_of<float>({1.5F, 0, 0, 0, 0, -2})), true},
                 {"a.bias.npy", test::npy("<f8", "(3,)", test::bytes_of<double>({0, 0.25, 0}))},
                 {"b.weight.npy", test::npy("<f4", "(1, 3)", test::bytes_of<float>({3, 0, 0.1F}), true)},
                 {"b.bias.npy", test::npy("|i1", "(1,)", test::bytes_of<std::int8_t>({-1}))}});
  const NamedNetwork found = only(bytes, "nets/sparse.npz");
  EXPECT_EQ(found.id, "sparse");
  expect_same(found.network, small());
  EXPECT_EQ(only(bytes, "x", {.tensors = {"b.weight"}}).network.widths, (std::vector<int>{3, 1}));
  expect_refused(test::zip({{"model/data.pkl", "x"}}), "is a pickle");
  expect_refused("\x80\x02}q", "is a pickle");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(parse_layered_networks(bytes.substr(0, length), "x"), FormatError) << length;
  }
}

TEST(EdgeLists, SizesAreTheLargestIndexAndOne) {
  const NamedNetwork found = only("layer,from,to,weight\n1,2,0,0.5\n0,1,2,-2\n0,0,0,1.5\n", "folder/my.csv");
  EXPECT_EQ(found.id, "my");
  EXPECT_EQ(found.network.widths, (std::vector<int>{2, 3, 1}));
  EXPECT_EQ(found.network.connections[0].edges, (Edges{{0, 0, 1.5F}, {1, 2, -2}}));
  EXPECT_EQ(found.network.connections[1].edges, (Edges{{2, 0, 0.5F}}));
  EXPECT_EQ(found.network.connections[1].bias, (std::vector<float>{0}));
}

TEST(EdgeLists, WeightsAndTheOrderOfColumnsAreFree) {
  const NamedNetwork found = only("# from a paper\nto;layer;from\n2;0;1\n", "x");
  EXPECT_EQ(found.network.widths, (std::vector<int>{2, 3}));
  EXPECT_EQ(found.network.connections[0].edges, (Edges{{1, 2, 1}}));
}

TEST(EdgeLists, ALayerOfUnitsNeedsNoEdges) {
  const NamedNetwork found = only("layer,from,to\n0,1,2\n2,0,0\n", "x");
  EXPECT_EQ(found.network.widths, (std::vector<int>{2, 3, 1, 1}));
  EXPECT_TRUE(found.network.connections[1].edges.empty());
}

TEST(EdgeLists, SizesMayBeGiven) {
  const std::string text = "layer,from,to\n0,1,2\n";
  EXPECT_EQ(only(text, "x", {.sizes = {5, 6, 7}}).network.widths, (std::vector<int>{5, 6, 7}));
  expect_refused(text, "goes from unit 1 to unit 2, but there are 5 and 2 units", {.sizes = {5, 2}});
  expect_refused(text, "layer is 0, which is beyond the layers", {.sizes = {5}});
  expect_refused(text, "layer 1 has no units", {.sizes = {5, 0}});
}

TEST(EdgeLists, WhatMakesNoSenseIsRefused) {
  expect_refused("layer,from,to\n", "without a layer of edges");
  expect_refused("layer,from\n0,1\n", "has the columns layer, from, but a list of edges has");
  expect_refused("layer,from,to,mass\n0,1,2,3\n", "has the columns layer, from, to, mass");
  expect_refused("layer,from,to\n0,1\n", "some.file:2: 2 cells");
  expect_refused("layer,from,to\n0,1,x\n", "some.file:2: to is 'x', not a whole number");
  expect_refused("layer,from,to\n0,1,\n", "to is ''");
  expect_refused("layer,from,to\n0,-1,2\n", "from is '-1'");
  expect_refused("layer,from,to\n0,1.5,2\n", "from is '1.5'");
  expect_refused("layer,from,to\n0,99999999999999999999,2\n", "from is '99999999999999999999'");
  expect_refused("layer,from,to\n0,2147483647,2\n", "from is '2147483647'");
  expect_refused("layer,from,to\n0,2147483646,2\n", "layer 0 has 2147483647 units; at most 1000000");
  expect_refused("layer,from,to\n2000000000,1,2\n", "layer is 2000000000, which is beyond the layers");
  expect_refused("layer,from,to\n0,1,2\n4,0,0\n", "layer is 4, which is beyond the layers");
  expect_refused("layer,from,to\n0,1,2\n3,0,0\n", "layer 2 has no units");
  expect_refused("layer,from,to,weight\n0,1,2,nan\n", "weight is 'nan'");
  expect_refused("layer,from,to,weight\n0,1,2,1e39\n", "weight is '1e39'");
  expect_refused("layer,from,to,weight\n0,1,2,\n", "weight is ''");
  expect_refused("layer,from,to\n0,1,2\n0,1,2\n", "two edges from unit 1 to unit 2");
}

TEST(NetworkFile, OtherFilesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("\n\n"), std::string("a,b,c\n1,2,3\n"),
                                   std::string(1000, '\0'), std::string("<!DOCTYPE html>")}) {
    expect_refused(bytes, "is no file of networks");
  }
  expect_refused(test::gzip("hello"), "is no file of networks");
  expect_refused(test::gzip(test::gzip(kSmallLine)), "compressed twice");
  expect_refused(test::gzip(kSmallLine).substr(0, 60), "in the middle of its compressed stream");
  EXPECT_THROW(read_layered_networks("missing.jsonl"), FormatError);
}

TEST(NetworkFile, OptionsThatMeanNothingToItAreRefused) {
  expect_refused<ConfigError>(kSmallLine, "a list of tensors", {.tensors = {"a"}});
  expect_refused<ConfigError>(kSmallLine, "the order of inputs", {.inputs_first = true});
  expect_refused<ConfigError>(kSmallMatrices, "the size of layers", {.sizes = {2, 3, 1}});
  expect_refused<ConfigError>(kSmallMatrices, "a snapshot", {.last_snapshot = true});
  expect_refused<ConfigError>("layer,from,to\n0,1,2\n", "the order of inputs", {.inputs_first = true});
  expect_refused<ConfigError>("layer,from,to\n0,1,2\n", "a snapshot", {.last_snapshot = true});
  const std::string tensors = encode_safetensors(small_tensors());
  expect_refused<ConfigError>(tensors, "the size of layers", {.sizes = {2, 3, 1}});
  expect_refused<ConfigError>(tensors, "a snapshot", {.last_snapshot = true});
}

TEST(NetworkFile, DamageIsRefusedOrReadButNeverWorse) {
  std::mt19937 random(1);
  int refused = 0;
  const std::string files[] = {kSmallLine, kSmallMatrices, "layer,from,to,weight\n1,2,0,0.5\n0,1,2,-2\n0,0,0,1.5\n",
                               encode_safetensors(small_tensors())};
  for (int attempt = 0; attempt < 8000; ++attempt) {
    std::string damaged = files[attempt % 4];
    for (int flip = 0; flip < 2; ++flip) {
      damaged[random() % damaged.size()] = static_cast<char>(random() % 128);
    }
    try {
      for (const NamedNetwork& named : parse_layered_networks(damaged, "x")) {
        expect_same(checked(named.network, "x"), named.network);
      }
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 4000);
}

}  // namespace
}  // namespace modlab::models

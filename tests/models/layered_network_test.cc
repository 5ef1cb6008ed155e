#include "models/layered_network.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/errors.h"

namespace modlab::models {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Two inputs, three hidden units of which the last is a constant, one output.
LayeredNetwork small() {
  LayeredNetwork network;
  network.widths = {2, 3, 1};
  network.connections = {{{{0, 0, 1}, {1, 0, 2}, {0, 1, -1}}, {0.5F, 0, 4}}, {{{0, 0, 2}, {1, 0, 3}, {2, 0, -1}}, {1}}};
  return network;
}

void expect_refused(const LayeredNetwork& network, const std::string& part) {
  try {
    checked(network, "some file");
    ADD_FAILURE() << "was accepted; expected: " << part;
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("some file: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

TEST(LayeredNetwork, EdgesAreSortedAndZerosLeaveThem) {
  LayeredNetwork network;
  network.widths = {3, 2};
  network.connections = {{{{2, 1, 5}, {1, 0, 0}, {2, 0, 4}, {0, 1, -0.0F}, {0, 0, 3}}, {}}};
  const LayeredNetwork found = checked(network, "x");
  EXPECT_EQ(found.connections[0].edges, (std::vector<Edge>{{0, 0, 3}, {2, 0, 4}, {2, 1, 5}}));
  EXPECT_EQ(found.connections[0].bias, (std::vector<float>{0, 0}));
}

TEST(LayeredNetwork, Counts) {
  const LayeredNetwork network = checked(small(), "x");
  EXPECT_EQ(network.layers(), 3);
  EXPECT_EQ(network.edge_count(), 6);
  EXPECT_EQ(network.full_edge_count(), 9);
}

TEST(LayeredNetwork, ANetworkMayHaveNoEdgeAtAll) {
  LayeredNetwork network;
  network.widths = {2, 2};
  network.connections.resize(1);
  EXPECT_EQ(checked(network, "x").edge_count(), 0);
}

TEST(LayeredNetwork, ShapesThatDoNotMeetAreRefused) {
  expect_refused({}, "without a layer of edges");
  expect_refused({{4}, {}}, "without a layer of edges");
  expect_refused({{2, 3, 1}, {{}}}, "3 layers of units and 1 of edges");
  expect_refused({{2, 3}, {{}, {}}}, "2 layers of units and 2 of edges");
  expect_refused({{2, 0, 1}, {{}, {}}}, "layer 1 has no units");
  expect_refused({{-5, 1}, {{}}}, "layer 0 has no units");
  LayeredNetwork network = small();
  network.connections[1].bias = {1, 2};
  expect_refused(network, "layer 1 has 2 biases for 1 units");
}

TEST(LayeredNetwork, SizesHaveLimits) {
  EXPECT_NO_THROW(checked({{1'000'000, 2}, {{}}}, "x"));
  expect_refused({{1'000'001, 2}, {{}}}, "layer 0 has 1000001 units; at most 1000000");
  // Their product would not fit an int.
  expect_refused({{1, 65536, 32768}, {{}, {}}}, "at most 2147483647 are possible");
  EXPECT_EQ((LayeredNetwork{{46340, 46340}, {{}}}.full_edge_count()), 2147395600);
}

TEST(LayeredNetwork, IndicesOutsideAreRefused) {
  for (const Edge& edge : {Edge{2, 0, 1}, Edge{-1, 0, 1}, Edge{0, 3, 1}, Edge{0, -1, 1}, Edge{0, 2147483647, 1}}) {
    LayeredNetwork network = small();
    network.connections[0].edges.push_back(edge);
    expect_refused(network, "but there are 2 and 3 units");
  }
}

TEST(LayeredNetwork, APairWithTwoEdgesIsRefusedEvenIfOneIsZero) {
  for (const float weight : {1.0F, 0.0F}) {
    LayeredNetwork network = small();
    network.connections[0].edges.push_back({1, 0, weight});
    expect_refused(network, "two edges from unit 1 to unit 0");
  }
}

TEST(LayeredNetwork, NumbersThatAreNotFiniteAreRefused) {
  for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    LayeredNetwork network = small();
    network.connections[1].edges[2].weight = value;
    expect_refused(network, "layer 1 from unit 2 to unit 0 has a weight that is no finite number");
    network = small();
    network.connections[0].bias[1] = value;
    expect_refused(network, "bias of unit 1 after layer 0");
  }
}

TEST(LayeredNetwork, MatricesAreReadRowAfterRow) {
  const std::vector<DenseLayer> layers = {{2, 3, {1, 2, -1, 0, 0, 0}, {0.5F, 0, 4}}, {3, 1, {2, 3, -1}, {}}};
  const LayeredNetwork network = from_matrices(layers, "x");
  EXPECT_EQ(network.widths, (std::vector<int>{2, 3, 1}));
  EXPECT_EQ(network.connections[0].edges, (std::vector<Edge>{{0, 0, 1}, {1, 0, 2}, {0, 1, -1}}));
  EXPECT_EQ(network.connections[0].bias, (std::vector<float>{0.5F, 0, 4}));
  EXPECT_EQ(network.connections[1].edges, (std::vector<Edge>{{0, 0, 2}, {1, 0, 3}, {2, 0, -1}}));
  EXPECT_EQ(network.connections[1].bias, (std::vector<float>{0}));
}

TEST(LayeredNetwork, MatricesThatDoNotMeetAreRefused) {
  const auto refused = [](const std::vector<DenseLayer>& layers) {
    EXPECT_THROW(from_matrices(layers, "x"), FormatError);
  };
  refused({});
  refused({{2, 3, {1, 2, 3, 4, 5}, {}}});
  refused({{-2, -3, {1, 2, 3, 4, 5, 6}, {}}});
  refused({{0, 3, {}, {}}});
  refused({{2, 1, {1, 2}, {1, 2}}});
  refused({{2, 1, {1, kInfinity}, {}}});
  refused({{1, 2, {1, 2}, {}}, {1, 2, {1, 2}, {}}});
}

TEST(LayeredNetwork, ValuesOfEveryUnit) {
  const LayeredNetwork network = checked(small(), "x");
  const std::vector<std::vector<double>> up = unit_values(network, std::vector<double>{1, 0.25});
  // The second hidden unit would be -1 and is cut off; the output, a logit, is not.
  EXPECT_EQ(up, (std::vector<std::vector<double>>{{1, 0.25}, {2, 0, 4}, {1}}));
  const std::vector<std::vector<double>> down = unit_values(network, std::vector<double>{-1, 0});
  EXPECT_EQ(down, (std::vector<std::vector<double>>{{-1, 0}, {0, 1, 4}, {0}}));
  const std::vector<std::vector<double>> zero = unit_values(network, std::vector<double>{0, 0});
  EXPECT_EQ(zero.back(), (std::vector<double>{-2}));
}

TEST(LayeredNetwork, ValuesAreSummedInDoublePrecision) {
  LayeredNetwork network;
  network.widths = {2, 1};
  network.connections = {{{{0, 0, 1}, {1, 0, 1}}, {}}};
  const auto values = unit_values(checked(network, "x"), std::vector<double>{1, 1e-12});
  EXPECT_EQ(values[1][0], 1 + 1e-12);
}

}  // namespace
}  // namespace modlab::models

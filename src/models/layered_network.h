#pragma once

#include <span>
#include <string>
#include <vector>

namespace modlab::models {

// An edge between neighbouring layers of units.
struct Edge {
  int from = 0;
  int to = 0;
  float weight = 1;

  friend bool operator==(const Edge&, const Edge&) = default;
};

// What lies between two layers of units.
struct Connections {
  std::vector<Edge> edges;  // by `to`, then by `from`; no pair twice, no weight of zero
  std::vector<float> bias;  // of the upper layer's units
};

// A feed-forward network of any origin as a graph: layers of units from the inputs (0) to the outputs, edges between
// neighbouring layers, hidden units with ReLU, outputs as logits.
struct LayeredNetwork {
  std::vector<int> widths;
  std::vector<Connections> connections;  // one fewer than widths

  int layers() const { return static_cast<int>(widths.size()); }
  int edge_count() const;
  // Edges of a network in which every pair of neighbouring units is wired.
  int full_edge_count() const;
};

// Sorts the edges, leaves out those with weight zero, and fills in missing biases. Throws FormatError, `source` first,
// where there is no layer of edges, an empty layer of units or one of more than a million, sizes do not meet, an index
// is outside of its layer, a pair of units has two edges, or a number is not finite.
LayeredNetwork checked(LayeredNetwork network, const std::string& source);

// The network of dense matrices [out][in], row after row; zeros are no edges. As above.
struct DenseLayer {
  int in = 0;
  int out = 0;
  std::vector<float> weights;
  std::vector<float> bias;  // or empty
};
LayeredNetwork from_matrices(std::span<const DenseLayer> layers, const std::string& source);

// The values of all units, layer by layer, for one row of inputs, in double precision; outputs are logits.
std::vector<std::vector<double>> unit_values(const LayeredNetwork& network, std::span<const double> inputs);

}  // namespace modlab::models

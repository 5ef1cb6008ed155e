#pragma once

#include <cstdint>
#include <vector>

#include "models/layered_network.h"
#include "models/mlp.h"
#include "models/run_spec.h"

namespace modlab::methods {

// An MLP of which parts are gone. Units keep the numbers that they had before pruning.
struct PrunedMlp {
  models::MlpShape shape;          // before pruning
  std::vector<float> parameters;   // in the order of models::mlp_layout; zero where pruned
  std::vector<std::uint8_t> kept;  // for each parameter

  int layers() const { return static_cast<int>(shape.widths.size()); }
  int hidden_units() const;  // before pruning
  int weight_count() const;  // before pruning, without biases
  int edge_count() const;
};

// What is left of such a network's parameters: histories hold hundreds of networks of which most is gone.
struct KeptParameters {
  std::vector<std::uint32_t> places;
  std::vector<float> values;
};
KeptParameters kept_parameters(const PrunedMlp& network);
PrunedMlp with_parameters(const models::MlpShape& shape, const KeptParameters& kept);

// Where a layer's weights [out][in] and biases [out] begin among the parameters.
struct LayerPlace {
  int in = 0;
  int out = 0;
  std::size_t weights = 0;
  std::size_t bias = 0;
};
std::vector<LayerPlace> layer_places(const models::MlpShape& shape);

PrunedMlp unpruned_mlp(const models::MlpShape& shape, models::Init init, std::uint64_t seed);

// What each layer of units still computes with: all inputs and outputs, and hidden units that have any edge. One whose
// edges lead nowhere counts: weight decay goes on to shrink them.
std::vector<std::vector<int>> used_units(const PrunedMlp& network);

// Sets pruned parameters to zero, after a unit's last incoming edge its bias too.
void clear_pruned(PrunedMlp& network);

// The used units side by side in a network of `widths`, which has room for them: parameters and a mask in its layout.
struct PackedMlp {
  std::vector<float> parameters;
  std::vector<float> mask;
};
PackedMlp pack(const PrunedMlp& network, const std::vector<std::vector<int>>& units, const models::MlpShape& room);
// Takes over parameters that were trained in the packed form.
void unpack(const std::vector<float>& packed, const std::vector<std::vector<int>>& units, const models::MlpShape& room,
            PrunedMlp& network);

models::LayeredNetwork to_layered(const PrunedMlp& network);
PrunedMlp from_layered(const models::LayeredNetwork& network);

}  // namespace modlab::methods

#pragma once

#include <optional>
#include <vector>

#include "methods/detect/detect_settings.h"
#include "models/layered_network.h"

// Modules of a sparse layered network (Neural Sculpting, section 5 of its behaviour): in every layer, units that can
// reach the same later units form clusters; clusters of neighbouring layers that are wired to each other alone form
// modules.
namespace modlab::methods {

enum class Verdict { kOne, kAll };  // all units are one cluster; every unit is one of its own

// Why a layer has as many clusters as it has.
struct LayerDecision {
  int units = 0;
  int clusters = 0;
  int clusters_by_index = 0;
  std::vector<double> index;  // for 2, 3, .. units - 1 clusters; the lower the better, whatever the index
  bool consulted = false;     // the tests decide if they have a verdict
  std::optional<Verdict> verdict;
  bool separate = false;  // even the two most similar units: what each test says, and by how much
  bool single = false;    // even the two most different halves
  double z_separate = 0;
  double z_single = 0;
};

// How near a cluster came to joining a module of the layer below.
struct Join {
  int layer = 0;  // of the cluster
  int cluster = 0;
  int module = 0;            // the one that it joined or came nearest to joining; -1 if it has no edges
  int edges = 0;             // between the two
  double module_share = 0;   // of the module's edges to this layer
  double cluster_share = 0;  // of the cluster's edges from the layer below
  bool joined = false;
};

// Vectors for each layer speak of its live units, in their order.
struct Detection {
  std::vector<std::vector<int>> live;
  std::vector<std::vector<int>> clusters;
  std::vector<std::vector<int>> modules;
  std::vector<LayerDecision> decisions;  // of all layers but the outputs, each of which is its own cluster
  std::vector<Join> joins;               // of all clusters but the inputs'
  int module_count = 0;                  // ids are 0 to module_count - 1
};

// Layers may be of any size, without live units too; time and memory grow with the square of the largest. Throws
// ConfigError where settings do not fit each other or the network is too large.
Detection detect(const models::LayeredNetwork& network, const DetectSettings& settings);

// Units that lie on a path from an input to an output, and all outputs; ascending, for each layer.
std::vector<std::vector<int>> live_units(const models::LayeredNetwork& network);

// The modules as nodes of a graph.
struct Module {
  int id = 0;
  int first_layer = 0;
  int last_layer = 0;
  int level = 0;                        // the longest chain of modules below it; where some feed each other, as one
  std::vector<std::vector<int>> units;  // [layer]: units of the network, ascending; empty outside of its layers
};
struct ModuleEdge {
  int from = 0;
  int to = 0;
  int edges = 0;  // live edges of the network from one to the other
};
struct Hierarchy {
  std::vector<Module> modules;    // by first layer, then by smallest unit there
  std::vector<ModuleEdge> edges;  // by from, then by to; indices into modules
  std::vector<int> inside_edges;  // of each module
};

Hierarchy hierarchy(const models::LayeredNetwork& network, const Detection& detection);

}  // namespace modlab::methods

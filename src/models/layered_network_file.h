#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/layered_network.h"

namespace modlab::models {

struct NamedNetwork {
  std::string id;
  LayeredNetwork network;
  nlohmann::ordered_json about = nlohmann::ordered_json::object();  // what else the file says of it, by name
};

// What a file does not say by itself.
struct NetworkFileOptions {
  std::vector<std::string> tensors =
      {};  // of safetensors and npz: the matrices from the inputs up; empty: all, in the order that fits
  bool inputs_first = false;    // matrices are [in][out] instead of PyTorch's [out][in]
  std::vector<int> sizes = {};  // of a list of edges: units of each layer; empty: the largest index + 1
  bool last_snapshot = false;   // of what `modlab train --save` wrote: the last epoch instead of the best
};

// The networks of a file, which may be compressed with gzip. What it is follows from its bytes:
// - JSON: one object a line, an array of them, or one alone. An object has "layers", each with n_in, n_out, edges
//   [[from, to, weight]] and bias [[unit, value]], or "W", a list of matrices, and "b", a list of biases. Without an
//   "id" it is called by its number, from 1. An "arch" must fit.
// - A network that `modlab train --save` wrote; one that is no stack of layers is a ConfigError.
// - Any other safetensors or npz file: its matrices in the order that makes them one network (matrix_chain.h). A matrix
//   X.weight has the bias X.bias, if that fits.
// - CSV with the columns layer, from, to and perhaps weight (1 where there is none): edges out of the layer, which is 0
//   for the inputs. Units count from 0; biases are 0.
// Whatever is wrong with a file is a FormatError, and an option that means nothing to it a ConfigError.
std::vector<NamedNetwork> read_layered_networks(const std::string& path, const NetworkFileOptions& options = {});
// The same for bytes; `name` stands for the path.
std::vector<NamedNetwork> parse_layered_networks(const std::string& bytes, const std::string& name,
                                                 const NetworkFileOptions& options = {});

// One line of JSON that reads back as the same network: the id, what is known about it, its arch, hidden_layers, edges
// and total_edges as they are now, and its layers. Without the end of the line.
std::string to_json_line(const NamedNetwork& named);

}  // namespace modlab::models

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/text.h"
#include "io/json_text.h"
#include "models/network_file/network_file_parts.h"

namespace modlab::models {
namespace network_file {
namespace {

using nlohmann::ordered_json;

const ordered_json& array_at(const ordered_json& object, const char* key, const std::string& source) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) {
    fail(source, fmt::format("it has no list '{}'", key));
  }
  return *found;
}

// What is said of a network is all but the network itself.
bool is_network_key(const std::string& key) { return key == "id" || key == "layers" || key == "W" || key == "b"; }

// A size or an index.
int whole_number(const ordered_json& value, const char* what, const std::string& source) {
  constexpr int kMost = std::numeric_limits<int>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
    fail(source, fmt::format("{} is {}, not a whole number from 0 to {}", what, value.dump().substr(0, 40), kMost));
  }
  return value.get<int>();
}

int whole_number_at(const ordered_json& object, const char* key, const std::string& source) {
  const auto found = object.find(key);
  if (found == object.end()) {
    fail(source, fmt::format("it has no '{}'", key));
  }
  return whole_number(*found, key, source);
}

float real_number(const ordered_json& value, const char* what, const std::string& source) {
  const float number = value.is_number() ? value.get<float>() : std::numeric_limits<float>::quiet_NaN();
  if (!std::isfinite(number)) {
    fail(source,
         fmt::format("{} is {}, not a number that single precision can hold", what, value.dump().substr(0, 40)));
  }
  return number;
}

Edge edge_of(const ordered_json& value, const std::string& source) {
  if (!value.is_array() || value.size() < 2 || value.size() > 3) {
    fail(source, "an edge is not a list of from, to and weight");
  }
  return {whole_number(value[0], "where an edge comes from", source),
          whole_number(value[1], "where an edge goes to", source),
          value.size() < 3 ? 1.0F : real_number(value[2], "a weight", source)};
}

// The pairs of unit and value of one layer, into zeros.
void set_biases(const ordered_json& layer, std::vector<float>& bias, const std::string& source) {
  if (!layer.contains("bias")) {
    return;
  }
  std::vector<bool> is_set(bias.size());
  for (const ordered_json& pair : array_at(layer, "bias", source)) {
    if (!pair.is_array() || pair.size() != 2) {
      fail(source, "a bias is not a pair of unit and value");
    }
    const int unit = whole_number(pair[0], "the unit of a bias", source);
    if (static_cast<std::size_t>(unit) >= bias.size()) {
      fail(source, fmt::format("unit {} has a bias, but there are {} units, counted from 0", unit, bias.size()));
    }
    if (is_set[unit]) {
      fail(source, fmt::format("unit {} has two biases; remove one", unit));
    }
    is_set[unit] = true;
    bias[unit] = real_number(pair[1], "a bias", source);
  }
}

std::string layer_source(const std::string& source, std::size_t layer) {
  return fmt::format("{}: layer {}", source, layer);
}

LayeredNetwork network_of_layers(const ordered_json& object, const std::string& source) {
  const ordered_json& layers = array_at(object, "layers", source);
  LayeredNetwork network;
  for (std::size_t index = 0; index < layers.size(); ++index) {
    const std::string here = layer_source(source, index);
    const ordered_json& layer = layers[index];
    if (!layer.is_object()) {
      fail(here, "it is not an object with n_in, n_out and edges");
    }
    const int in = whole_number_at(layer, "n_in", here);
    if (index == 0) {
      network.widths.push_back(in);
    } else if (network.widths.back() != in) {
      fail(here, fmt::format("it reads {} units, but the layer before gives {}", in, network.widths.back()));
    }
    network.widths.push_back(whole_number_at(layer, "n_out", here));
    std::vector<Edge>& edges = network.connections.emplace_back().edges;
    for (const ordered_json& edge : array_at(layer, "edges", here)) {
      edges.push_back(edge_of(edge, here));
    }
  }
  // Sizes are checked here, before there is a bias for each unit.
  network = checked(std::move(network), source);
  for (std::size_t index = 0; index < layers.size(); ++index) {
    set_biases(layers[index], network.connections[index].bias, layer_source(source, index));
  }
  return network;
}

DenseLayer matrix_of(const ordered_json& rows, const std::string& source) {
  if (!rows.is_array() || rows.empty() || !rows.front().is_array()) {
    fail(source, "its matrix is not a list of rows");
  }
  DenseLayer layer;
  layer.out = static_cast<int>(rows.size());
  layer.in = static_cast<int>(rows.front().size());
  for (const ordered_json& row : rows) {
    if (!row.is_array() || row.size() != rows.front().size()) {
      fail(source, "the rows of its matrix differ in length");
    }
    for (const ordered_json& weight : row) {
      layer.weights.push_back(real_number(weight, "a weight", source));
    }
  }
  return layer;
}

LayeredNetwork network_of_matrices(const ordered_json& object, const NetworkFileOptions& options,
                                   const std::string& source) {
  const ordered_json& matrices = array_at(object, "W", source);
  const ordered_json biases = object.contains("b") ? array_at(object, "b", source) : ordered_json::array();
  if (!biases.empty() && biases.size() != matrices.size()) {
    fail(source, fmt::format("it has {} matrices and {} lists of biases", matrices.size(), biases.size()));
  }
  std::vector<DenseLayer> layers;
  for (std::size_t index = 0; index < matrices.size(); ++index) {
    const std::string here = layer_source(source, index);
    DenseLayer layer = matrix_of(matrices[index], here);
    if (!biases.empty() && !biases[index].is_array()) {
      fail(here, "its biases are not a list");
    }
    for (std::size_t unit = 0; !biases.empty() && unit < biases[index].size(); ++unit) {
      layer.bias.push_back(real_number(biases[index][unit], "a bias", here));
    }
    layers.push_back(options.inputs_first ? turned(layer) : std::move(layer));
  }
  return from_matrices(layers, source);
}

void check_arch(const ordered_json& object, const LayeredNetwork& network, const std::string& source) {
  const auto arch = object.find("arch");
  if (arch != object.end() && *arch != ordered_json(network.widths)) {
    fail(source, fmt::format("its arch is {}, but its layers have {} units", arch->dump().substr(0, 80),
                             fmt::join(network.widths, ", ")));
  }
}

NamedNetwork network_of_json(const ordered_json& object, std::size_t number, const NetworkFileOptions& options,
                             const std::string& source) {
  if (!object.is_object()) {
    fail(source, "it is not a JSON object; NaN and Infinity are no JSON");
  }
  const bool has_matrices = object.contains("W");
  if (has_matrices == object.contains("layers")) {
    fail(source, "it has no network; give one 'layers' with edges, or 'W' with matrices");
  }
  refuse_others(options, {.order = has_matrices}, source);
  NamedNetwork named;
  named.network = has_matrices ? network_of_matrices(object, options, source) : network_of_layers(object, source);
  check_arch(object, named.network, source);
  for (const auto& [key, value] : object.items()) {
    if (!is_network_key(key)) {
      named.about[key] = value;
    }
  }
  const auto id = object.find("id");
  named.id = on_one_line(id == object.end() ? std::to_string(number)
                         : id->is_string()  ? id->get<std::string>()
                                            : id->dump());
  return named;
}

std::vector<NamedNetwork> networks_of_list(const ordered_json& list, const std::string& name,
                                           const NetworkFileOptions& options) {
  std::vector<NamedNetwork> networks;
  for (const ordered_json& object : list) {
    const std::size_t number = networks.size() + 1;
    networks.push_back(network_of_json(object, number, options, fmt::format("{}: network {}", name, number)));
  }
  return networks;
}

std::vector<NamedNetwork> networks_of_lines(std::string_view text, const std::string& name,
                                            const NetworkFileOptions& options) {
  std::vector<NamedNetwork> networks;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty()) {
      networks.push_back(
          network_of_json(io::parse_json(line), networks.size() + 1, options, fmt::format("{}:{}", name, line_number)));
    }
  }
  return networks;
}

}  // namespace

std::vector<NamedNetwork> networks_of_json(const std::string& text, const std::string& name,
                                           const NetworkFileOptions& options) {
  if (text.size() > kMaxTextBytes) {
    fail(name, fmt::format("has more than {} bytes of JSON; save large networks as safetensors", kMaxTextBytes));
  }
  const std::string_view first_line = trim(trim(text).substr(0, trim(text).find('\n')));
  if (first_line.starts_with('{') && io::parse_json(first_line).is_object()) {
    return networks_of_lines(text, name, options);
  }
  const ordered_json whole = io::parse_json(text);
  if (whole.is_discarded()) {
    fail(name, "is not JSON, neither as a whole nor line by line; NaN and Infinity are no JSON");
  }
  if (whole.is_array() && whole.empty()) {
    fail(name, "is an empty list; give it a network");
  }
  if (whole.is_array()) {
    return networks_of_list(whole, name, options);
  }
  return {network_of_json(whole, 1, options, name)};
}

}  // namespace network_file

std::string to_json_line(const NamedNetwork& named) {
  const LayeredNetwork& network = named.network;
  nlohmann::ordered_json head = {{"id", named.id}};
  for (const auto& [key, value] : named.about.items()) {
    if (!network_file::is_network_key(key)) {
      head[key] = value;
    }
  }
  head["arch"] = network.widths;
  head["hidden_layers"] = network.layers() - 2;
  head["edges"] = network.edge_count();
  head["total_edges"] = network.full_edge_count();
  // Nine digits name a float, and are half of what its value as a double would take.
  std::string layers;
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    const Connections& connections = network.connections[layer];
    std::vector<std::string> edges;
    for (const Edge& edge : connections.edges) {
      edges.push_back(fmt::format("[{},{},{:.9g}]", edge.from, edge.to, edge.weight));
    }
    std::vector<std::string> biases;
    for (std::size_t unit = 0; unit < connections.bias.size(); ++unit) {
      if (connections.bias[unit] != 0) {
        biases.push_back(fmt::format("[{},{:.9g}]", unit, connections.bias[unit]));
      }
    }
    layers +=
        fmt::format(R"({}{{"n_in":{},"n_out":{},"edges":[{}],"bias":[{}]}})", layer == 0 ? "" : ",",
                    network.widths[layer], network.widths[layer + 1], fmt::join(edges, ","), fmt::join(biases, ","));
  }
  // A file's name, which may have become the id, may be in any encoding.
  std::string line = head.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  line.pop_back();
  return fmt::format(R"({},"layers":[{}]}})", line, layers);
}

}  // namespace modlab::models

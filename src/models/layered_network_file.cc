#include "models/layered_network_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"
#include "io/csv_file.h"
#include "io/file.h"
#include "io/inflate.h"
#include "io/json_text.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "models/matrix_chain.h"

namespace modlab::models {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxFileBytes = 4'000'000'000;
constexpr std::size_t kMaxTextBytes = 500'000'000;  // numbers of JSON take several times their text
constexpr std::size_t kMaxEdgeRows = 5'000'000;

[[noreturn]] void fail(const std::string& source, const std::string& reason) {
  throw FormatError(fmt::format("{}: {}", source, reason));
}

// Which options mean something to a network.
struct Meaning {
  bool tensors = false;
  bool order = false;
  bool sizes = false;
  bool snapshot = false;
};

void refuse_others(const NetworkFileOptions& options, const Meaning& meaning, const std::string& source) {
  const auto refuse = [&](bool is_given, bool has_meaning, const char* what, const char* where) {
    if (is_given && !has_meaning) {
      throw ConfigError(fmt::format("{}: {} can be chosen only for {}; leave it out", source, what, where));
    }
  };
  refuse(!options.tensors.empty(), meaning.tensors, "a list of tensors", "other safetensors and npz files");
  refuse(options.inputs_first, meaning.order, "the order of inputs and outputs", "matrices of other programs");
  refuse(!options.sizes.empty(), meaning.sizes, "the size of layers", "lists of edges");
  refuse(options.last_snapshot, meaning.snapshot, "a snapshot", "what `modlab train --save` wrote");
}

// "nets/a.b.npz.gz" is called a.b.
std::string id_of_file(const std::string& name) {
  std::filesystem::path path(name);
  if (path.extension() == ".gz") {
    path = path.stem();
  }
  return on_one_line(path.stem().string());
}

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

// Matrices are [out][in] from here on.
DenseLayer turned(const DenseLayer& layer) {
  DenseLayer result{layer.out, layer.in, std::vector<float>(layer.weights.size()), layer.bias};
  for (int row = 0; row < layer.out; ++row) {
    for (int column = 0; column < layer.in; ++column) {
      result.weights[static_cast<std::size_t>(column) * layer.out + row] =
          layer.weights[static_cast<std::size_t>(row) * layer.in + column];
    }
  }
  return result;
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

constexpr auto kWeight = ".weight";
constexpr auto kBias = ".bias";

std::string bias_name(const std::string& weight) {
  return weight.ends_with(kWeight) ? weight.substr(0, weight.size() - std::strlen(kWeight)) + kBias : "";
}

const io::NamedTensor* find_tensor(const std::vector<io::NamedTensor>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &io::NamedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

const io::NamedTensor& chosen_tensor(const std::vector<io::NamedTensor>& tensors, const std::string& name,
                                     const std::string& source) {
  const io::NamedTensor* found = find_tensor(tensors, name);
  if (found == nullptr) {
    std::vector<std::string> names;
    std::ranges::transform(tensors, std::back_inserter(names), &io::NamedTensor::name);
    const std::string nearest = did_you_mean(name, names);
    fail(source,
         fmt::format("has no tensor '{}'{}", name,
                     nearest.empty() ? fmt::format("; it has {}", join_text(names, ", ").substr(0, 400)) : nearest));
  }
  if (found->shape.size() != 2) {
    fail(source,
         fmt::format("tensor '{}' has {} dimensions; a layer is a matrix, which has 2", name, found->shape.size()));
  }
  return *found;
}

// Every matrix of the file, from the inputs up.
std::vector<std::string> matrix_names(const std::vector<io::NamedTensor>& tensors, bool inputs_first,
                                      const std::string& source) {
  std::vector<NamedMatrix> matrices;
  for (const io::NamedTensor& tensor : tensors) {
    if (tensor.shape.size() == 2) {
      matrices.push_back({tensor.name, tensor.shape[inputs_first ? 0 : 1], tensor.shape[inputs_first ? 1 : 0]});
    }
  }
  if (matrices.empty()) {
    fail(source, "has no matrix; a network has one for each layer");
  }
  const auto listed = [](const NamedMatrix& matrix) {
    return fmt::format("{} ({} to {})", matrix.name, matrix.in, matrix.out);
  };
  const std::optional<std::vector<std::size_t>> order = matrix_chain(matrices);
  std::vector<std::string> names;
  if (!order) {
    std::ranges::transform(matrices, std::back_inserter(names), listed);
    fail(source,
         fmt::format("its matrices are not the layers of one network in one order only: {}; name those that are, "
                     "from the inputs up, with --tensors A,B",
                     join_text(names, ", ").substr(0, 400)));
  }
  for (const std::size_t index : *order) {
    names.push_back(matrices[index].name);
  }
  if (!std::ranges::is_sorted(*order)) {
    give_notice(fmt::format("{}: layers in the order {}", source, join_text(names, ", ")));
  }
  return names;
}

DenseLayer layer_of_tensor(const std::vector<io::NamedTensor>& tensors, const io::NamedTensor& matrix,
                           bool inputs_first, const std::string& source) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (matrix.shape[0] > kMost || matrix.shape[1] > kMost) {
    fail(source, fmt::format("tensor '{}' has more than {} rows or columns", matrix.name, kMost));
  }
  DenseLayer layer{static_cast<int>(matrix.shape[1]), static_cast<int>(matrix.shape[0]), matrix.values, {}};
  if (inputs_first) {
    layer = turned(layer);
  }
  const io::NamedTensor* bias = find_tensor(tensors, bias_name(matrix.name));
  if (bias != nullptr && bias->shape == std::vector<std::size_t>{static_cast<std::size_t>(layer.out)}) {
    layer.bias = bias->values;
  }
  return layer;
}

LayeredNetwork network_of_tensors(const std::vector<io::NamedTensor>& tensors, const std::vector<std::string>& names,
                                  bool inputs_first, const std::string& source) {
  std::vector<DenseLayer> layers;
  for (const std::string& name : names) {
    layers.push_back(layer_of_tensor(tensors, chosen_tensor(tensors, name, source), inputs_first, source));
  }
  return from_matrices(layers, source);
}

NamedNetwork network_of_any_tensors(const std::vector<io::NamedTensor>& tensors, const std::string& name,
                                    const NetworkFileOptions& options) {
  refuse_others(options, {.tensors = true, .order = true}, name);
  const std::vector<std::string> names =
      options.tensors.empty() ? matrix_names(tensors, options.inputs_first, name) : options.tensors;
  NamedNetwork named;
  named.id = id_of_file(name);
  named.network = network_of_tensors(tensors, names, options.inputs_first, name);
  return named;
}

// What `modlab train --save` wrote; see saved_network.h.
constexpr auto kRunKey = "modlab.run";

NamedNetwork network_of_run(const io::TensorFile& file, const std::string& name, const NetworkFileOptions& options) {
  refuse_others(options, {.snapshot = true}, name);
  NamedNetwork named;
  named.about = io::parse_json(file.metadata.at(kRunKey));
  if (!named.about.is_object()) {
    fail(name, "its settings are not JSON; the file is damaged");
  }
  const auto text_at = [&](const char* key) {
    const auto found = named.about.find(key);
    return found != named.about.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string snapshot = options.last_snapshot ? "last/" : "best/";
  const auto layer_name = [&](std::size_t layer) { return fmt::format("{}layer{}{}", snapshot, layer, kWeight); };
  std::vector<std::string> names;
  while (find_tensor(file.tensors, layer_name(names.size())) != nullptr) {
    names.push_back(layer_name(names.size()));
  }
  // Modules, convolutions and selections bring tensors of their own.
  const auto tensors = std::ranges::count_if(
      file.tensors, [&](const io::NamedTensor& tensor) { return tensor.name.starts_with(snapshot); });
  if (names.empty() || static_cast<std::size_t>(tensors) != 2 * names.size()) {
    throw ConfigError(
        fmt::format("{}: holds a network of model '{}', which is no stack of layers; name a dense one, or "
                    "a sparse or pruned one",
                    name, text_at("model")));
  }
  named.network = network_of_tensors(file.tensors, names, false, name);
  named.id = text_at("id");
  named.id = named.id.empty() ? id_of_file(name) : named.id;
  named.about.erase("id");
  return named;
}

NamedNetwork network_of_safetensors(const std::string& bytes, const std::string& name,
                                    const NetworkFileOptions& options) {
  const io::TensorFile file = io::decode_safetensors(bytes, name);
  if (!file.metadata.contains(kRunKey)) {
    return network_of_any_tensors(file.tensors, name, options);
  }
  return network_of_run(file, name, options);
}

struct EdgeColumns {
  std::size_t layer;
  std::size_t from;
  std::size_t to;
  std::optional<std::size_t> weight;
};

EdgeColumns edge_columns(const std::vector<std::string>& header, const std::string& name) {
  const auto column = [&](const char* wanted) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(header, wanted);
    return found == header.end() ? std::nullopt : std::optional<std::size_t>(found - header.begin());
  };
  const auto layer = column("layer");
  const auto from = column("from");
  const auto to = column("to");
  const auto weight = column("weight");
  if (!layer || !from || !to || header.size() != (weight ? 4U : 3U)) {
    fail(name, fmt::format("has the columns {}, but a list of edges has layer, from, to and perhaps weight",
                           join_text(header, ", ").substr(0, 200)));
  }
  return {*layer, *from, *to, weight};
}

int cell_index(const std::string& cell, const char* what, const std::string& source) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::optional<long long> number = parse_integer(cell);
  if (!number || *number < 0 || *number >= kMost) {
    fail(source, fmt::format("{} is '{}', not a whole number from 0 to {}", what, cell, kMost - 1));
  }
  return static_cast<int>(*number);
}

float cell_weight(const std::string& cell, const std::string& source) {
  const std::optional<double> number = parse_real(cell);
  const float weight = static_cast<float>(number.value_or(std::numeric_limits<double>::quiet_NaN()));
  if (!std::isfinite(weight)) {
    fail(source, fmt::format("weight is '{}', not a number that single precision can hold", cell));
  }
  return weight;
}

LayeredNetwork network_of_rows(const io::Csv& csv, const std::string& name, const NetworkFileOptions& options) {
  const EdgeColumns columns = edge_columns(csv.header, name);
  LayeredNetwork network;
  network.widths = options.sizes;
  network.connections.resize(std::max<std::size_t>(options.sizes.size(), 1) - 1);
  for (const io::CsvRow& row : csv.rows) {
    const std::string source = fmt::format("{}:{}", name, row.line);
    const int layer = cell_index(row.cells[columns.layer], "layer", source);
    const Edge edge{cell_index(row.cells[columns.from], "from", source),
                    cell_index(row.cells[columns.to], "to", source),
                    columns.weight ? cell_weight(row.cells[*columns.weight], source) : 1.0F};
    const auto place = static_cast<std::size_t>(layer);
    // An edge touches two layers: more than twice as many cannot all have units, and are not believed.
    if (place >= (options.sizes.empty() ? 2 * csv.rows.size() : network.connections.size())) {
      fail(source, fmt::format("layer is {}, which is beyond the layers of this network; they count from 0", layer));
    }
    if (options.sizes.empty()) {
      network.connections.resize(std::max(network.connections.size(), place + 1));
      network.widths.resize(network.connections.size() + 1);
      network.widths[place] = std::max(network.widths[place], edge.from + 1);
      network.widths[place + 1] = std::max(network.widths[place + 1], edge.to + 1);
    }
    network.connections[place].edges.push_back(edge);
  }
  return checked(std::move(network), name);
}

NamedNetwork network_of_csv(const std::string& text, const std::string& name, const NetworkFileOptions& options) {
  refuse_others(options, {.sizes = true}, name);
  NamedNetwork named;
  named.id = id_of_file(name);
  named.network = network_of_rows(io::parse_csv(text, name, kMaxEdgeRows, 4), name, options);
  return named;
}

bool is_edge_list(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim(text.substr(0, text.find('\n')));
    if (!line.empty() && line.front() != '#') {
      return line.find("layer") != std::string_view::npos && line.find("from") != std::string_view::npos;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return false;
}

}  // namespace

std::vector<NamedNetwork> parse_layered_networks(const std::string& bytes, const std::string& name,
                                                 const NetworkFileOptions& options) {
  if (io::is_gzip(bytes)) {
    const std::string expanded = io::inflate_stream(bytes, io::Wrapping::kGzip, kMaxTextBytes, name);
    if (io::is_gzip(expanded)) {
      fail(name, "is compressed twice; expand it once");
    }
    return parse_layered_networks(expanded, name, options);
  }
  if (io::is_zip(bytes)) {
    return {network_of_any_tensors(io::decode_npz(bytes, name), name, options)};
  }
  if (io::is_safetensors(bytes, name)) {
    return {network_of_safetensors(bytes, name, options)};
  }
  if (const std::string_view text = trim(bytes); text.starts_with('{') || text.starts_with('[')) {
    return networks_of_json(bytes, name, options);
  }
  if (is_edge_list(bytes)) {
    return {network_of_csv(bytes, name, options)};
  }
  io::refuse_pickle(bytes, name);
  fail(name, "is no file of networks; JSON, safetensors, npz, and CSV with layer, from and to are read");
}

std::vector<NamedNetwork> read_layered_networks(const std::string& path, const NetworkFileOptions& options) {
  return parse_layered_networks(io::read_file(path, kMaxFileBytes), path, options);
}

std::string to_json_line(const NamedNetwork& named) {
  const LayeredNetwork& network = named.network;
  ordered_json head = {{"id", named.id}};
  for (const auto& [key, value] : named.about.items()) {
    if (!is_network_key(key)) {
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
  std::string line = head.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  line.pop_back();
  return fmt::format(R"({},"layers":[{}]}})", line, layers);
}

}  // namespace modlab::models

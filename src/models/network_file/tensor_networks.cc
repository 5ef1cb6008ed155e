#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"
#include "io/json_text.h"
#include "models/matrix_chain.h"
#include "models/network_file/network_file_parts.h"
#include "models/torch/torch_network.h"

namespace modlab::models::network_file {
namespace {

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

}  // namespace

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

NamedNetwork network_of_safetensors(const std::string& bytes, const std::string& name,
                                    const NetworkFileOptions& options) {
  const io::TensorFile file = io::decode_safetensors(bytes, name);
  if (!file.metadata.contains(kRunKey)) {
    return network_of_any_tensors(file.tensors, name, options);
  }
  return network_of_run(file, name, options);
}

NamedNetwork network_of_script(const std::string& bytes, const std::string& name, const NetworkFileOptions& options) {
  const ScriptContents contents = torch_library().read_script(script_from(bytes, name));
  std::vector<io::NamedTensor> tensors;
  for (const engine::Tensor& tensor : contents.layout.tensors) {
    const auto begin = contents.parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
    tensors.push_back({tensor.name,
                       {tensor.shape.begin(), tensor.shape.end()},
                       {begin, begin + static_cast<std::ptrdiff_t>(tensor.count)}});
  }
  return network_of_any_tensors(tensors, name, options);
}

}  // namespace modlab::models::network_file

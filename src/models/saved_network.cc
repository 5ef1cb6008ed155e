#include "models/saved_network.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/npz.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

constexpr auto kMetadataKey = "modlab.run";
constexpr std::size_t kMaxFileBytes = 4'000'000'000;

std::vector<float> read_snapshot(const io::TensorFile& file, const engine::Layout& layout, const std::string& prefix,
                                 const std::string& path) {
  std::vector<float> parameters;
  for (const engine::Tensor& tensor : layout.tensors) {
    const io::NamedTensor* stored = file.find(prefix + "/" + tensor.name);
    const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    if (stored == nullptr || stored->shape != shape) {
      throw FormatError(
          fmt::format("{}: tensor '{}/{}' is missing or of another shape than its settings say; save the "
                      "network again",
                      path, prefix, tensor.name));
    }
    parameters.insert(parameters.end(), stored->values.begin(), stored->values.end());
  }
  return parameters;
}

template <typename Spec>
SavedNetworkOf<Spec> read_network(const io::TensorFile& file, const nlohmann::ordered_json& run,
                                  const settings::SpecTable<Spec>& table, const std::string& path) {
  SavedNetworkOf<Spec> network;
  network.run = run;
  try {
    table.apply(settings::given_from_json(run, table.settings()), network.spec);
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}; the file is damaged", path, error.what()));
  }
  network.suite = tasks::load_task(network.spec.task);
  if (network.suite.images().has_value() != std::is_same_v<Spec, ImageSpec>) {
    throw FormatError(
        fmt::format("{}: its settings are not those of its task '{}'; the file is damaged", path, network.spec.task));
  }
  network.spec = resolve(network.spec, network.suite);
  network.blueprint = make_blueprint(network.spec, network.suite);
  network.best = read_snapshot(file, network.blueprint.layout, "best", path);
  network.last = read_snapshot(file, network.blueprint.layout, "last", path);
  return network;
}

AnySavedNetwork network_of(const io::TensorFile& file, const std::string& path) {
  const auto metadata = file.metadata.find(kMetadataKey);
  if (metadata == file.metadata.end()) {
    throw FormatError(
        fmt::format("{}: is not a network that `modlab train --save` wrote; `modlab detect` looks at others", path));
  }
  const nlohmann::ordered_json run = io::parse_json(metadata->second);
  if (!run.is_object()) {
    throw FormatError(fmt::format("{}: its settings are not JSON; the file is damaged", path));
  }
  // What a network on images has and others have not.
  if (run.contains("samples")) {
    return read_network<ImageSpec>(file, run, image_settings(), path);
  }
  return read_network<RunSpec>(file, run, bit_settings(), path);
}

}  // namespace

io::TensorFile to_tensor_file(const engine::Layout& layout, const engine::LaneResult& result,
                              const nlohmann::ordered_json& run) {
  io::TensorFile file;
  file.metadata[kMetadataKey] = run.dump();
  for (const auto& [prefix, snapshot] : {std::pair{"best", &result.best}, std::pair{"last", &result.last}}) {
    for (const engine::Tensor& tensor : layout.tensors) {
      const auto begin = snapshot->parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      file.tensors.push_back({fmt::format("{}/{}", prefix, tensor.name),
                              {tensor.shape.begin(), tensor.shape.end()},
                              {begin, begin + static_cast<std::ptrdiff_t>(tensor.count)}});
    }
  }
  return file;
}

AnySavedNetwork load_network(const std::string& path) { return parse_network(io::read_file(path, kMaxFileBytes), path); }

AnySavedNetwork parse_network(const std::string& bytes, const std::string& path) {
  if (!io::is_safetensors(bytes, path)) {
    io::refuse_pickle(bytes, path);
    throw FormatError(fmt::format(
        "{}: is not a network that `modlab train --save` wrote; `modlab detect` and `modlab structure` look at networks "
        "of layers in other files, such as networks.jsonl of `modlab sculpt`",
        path));
  }
  return network_of(io::decode_safetensors(bytes, path), path);
}

}  // namespace modlab::models

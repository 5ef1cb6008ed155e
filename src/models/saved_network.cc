#include "models/saved_network.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "io/json_text.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

constexpr auto kMetadataKey = "modlab.run";

nlohmann::ordered_json scores_json(const engine::Scores& scores, const PartRows& rows, int tasks) {
  nlohmann::ordered_json object;
  const auto each_part = [&](const char* quantity, const auto& value) {
    for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
      if (rows[part] > 0) {
        object[fmt::format("{}_{}", part_name(part, rows), quantity)] = value(scores.parts[part], rows[part] / tasks);
      }
    }
  };
  using engine::PartScore;
  each_part("accuracy",
            [&](const PartScore& score, int count) { return 100.0 * score.right_bits / (count * rows.outputs); });
  each_part("row_accuracy", [](const PartScore& score, int count) { return 100.0 * score.right_rows / count; });
  each_part("loss", [](const PartScore& score, int) { return score.loss; });
  return object;
}

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

SavedNetwork network_of(const io::TensorFile& file, const std::string& path) {
  const auto metadata = file.metadata.find(kMetadataKey);
  if (metadata == file.metadata.end()) {
    throw FormatError(fmt::format("{}: is not a network that `modlab train --save` wrote", path));
  }
  SavedNetwork network;
  network.run = io::parse_json(metadata->second);
  if (!network.run.is_object()) {
    throw FormatError(fmt::format("{}: its settings are not JSON; the file is damaged", path));
  }
  network.spec = spec_from_json(network.run, path);
  network.suite = tasks::load_task(network.spec.task);
  network.spec = resolve(network.spec, network.suite);
  network.blueprint = make_blueprint(network.spec, network.suite);
  network.best = read_snapshot(file, network.blueprint.layout, "best", path);
  network.last = read_snapshot(file, network.blueprint.layout, "last", path);
  return network;
}

}  // namespace

nlohmann::ordered_json snapshot_json(const engine::Snapshot& snapshot, const PartRows& rows, int tasks) {
  nlohmann::ordered_json object = scores_json(snapshot.scores, rows, 1);
  for (const engine::Scores& scores : snapshot.per_task) {
    object["per_task"].push_back(scores_json(scores, rows, tasks));
  }
  return object;
}

nlohmann::ordered_json run_json(const RunSpec& spec, const engine::LaneResult& result, const PartRows& rows,
                                int tasks) {
  nlohmann::ordered_json run = settings_json(spec);
  run["id"] = run_id(spec);
  run["best_epoch"] = result.best.epoch;
  run["best"] = snapshot_json(result.best, rows, tasks);
  run["last"] = snapshot_json(result.last, rows, tasks);
  run["diverged"] = result.diverged;
  return run;
}

RunSpec spec_from_json(const nlohmann::ordered_json& run, const std::string& source) {
  RunSpec spec;
  spec.on_images = run.contains("samples");
  for (const Setting& setting : settings()) {
    const auto found = run.find(setting.name);
    if (found == run.end() || (found->is_null() && setting.name != "tau")) {
      continue;
    }
    const std::string text = setting_text(*found);
    try {
      // Lists and sizes that play no part for the model are empty or zero.
      const bool plays_no_part = text.empty() || (text == "0" && setting.is_size);
      if (!plays_no_part) {
        setting.set(spec, text);
      }
    } catch (const ConfigError& error) {
      throw FormatError(fmt::format("{}: {}; the file is damaged", source, error.what()));
    }
  }
  return spec;
}

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

SavedNetwork load_network(const std::string& path) { return network_of(io::read_safetensors(path), path); }

SavedNetwork parse_network(const std::string& bytes, const std::string& path) {
  return network_of(io::decode_safetensors(bytes, path), path);
}

}  // namespace modlab::models

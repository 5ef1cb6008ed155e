#include "models/saved_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/npz.h"
#include "models/saved_tensors.h"
#include "models/training_settings.h"
#include "tasks/image_samples.h"
#include "tasks/split.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

constexpr auto kSavedTaskKey = "modlab.task";
constexpr auto kSavedRowsKey = "modlab.rows";

// The text, and for those who do not want to read it what it comes to. A comment in another encoding than UTF-8 is not
// worth failing for.
std::string task_json(const tasks::TaskSuite& suite) {
  nlohmann::ordered_json json = {{"text", suite.text.text}, {"members", nlohmann::json(suite.text.members)}};
  json["tasks"] = nlohmann::ordered_json::array();
  for (const tasks::Task& task : suite.tasks) {
    std::vector<std::string> words;
    for (int output = 0; output < task.table.outputs; ++output) {
      words.push_back(tasks::hex_word(task.table, output));
    }
    json["tasks"].push_back(
        {{"name", task.name}, {"inputs", task.input_names}, {"outputs", task.output_names}, {"table", words}});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Of each task, the rows of its truth table in each part.
nlohmann::ordered_json rows_json(const RunSpec& spec, const tasks::TaskSuite& suite) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto rows = static_cast<int>(suite.tasks.front().table.rows.size());
  const auto tasks = static_cast<int>(suite.tasks.size());
  for (const tasks::Split& split : tasks::published_splits(spec.ratio, spec.split_seed, rows, tasks)) {
    list.push_back({{"train", split.train}, {"validation", split.validation}, {"test", split.test}});
  }
  return list;
}

// Here a row is a combination of digits, which many images show.
nlohmann::ordered_json rows_json(const ImageSpec& spec, const tasks::TaskSuite& suite) {
  const tasks::CombinationSplit split = tasks::split_combinations(*suite.images(), spec.ratio, spec.split_seed);
  return nlohmann::ordered_json::array(
      {{{"train", split.train}, {"validation", split.validation}, {"unseen", split.unseen}}});
}

// As the file has it; files of earlier versions name their task alone.
tasks::TaskSuite suite_of(const io::TensorFile& file, const std::string& name, const std::string& path) {
  const auto found = file.metadata.find(kSavedTaskKey);
  if (found == file.metadata.end()) {
    return tasks::load_task(name);
  }
  const auto is_text = [](const nlohmann::ordered_json& value) { return value.is_string(); };
  const nlohmann::ordered_json json = io::parse_json(found->second);
  if (!json.is_object() || !json.contains("text") || !is_text(json["text"]) || !json.contains("members") ||
      !json["members"].is_object() || !std::ranges::all_of(json["members"], is_text)) {
    throw FormatError(fmt::format("{}: the text of its task is no text; the file is damaged", path));
  }
  try {
    return tasks::parse_task({json["text"], json["members"].get<std::map<std::string, std::string>>()}, name);
  } catch (const UserError& error) {
    throw FormatError(fmt::format("{}: its task is no task: {}", path, error.what()));
  }
}

constexpr std::size_t kMaxFileBytes = 4'000'000'000;

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
  network.suite = suite_of(file, network.spec.task, path);
  network.tasks = tasks::TasksAtHand({{network.spec.task, std::make_shared<const tasks::TaskSuite>(network.suite)}});
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
  const auto metadata = file.metadata.find(kSavedRunKey);
  if (metadata == file.metadata.end()) {
    throw FormatError(
        fmt::format("{}: is not a network that `modlab train --save` wrote; `modlab detect` looks at others", path));
  }
  const nlohmann::ordered_json run = io::parse_json(metadata->second);
  if (!run.is_object()) {
    throw FormatError(fmt::format("{}: its settings are not JSON; the file is damaged", path));
  }
  if (is_on_rules(run)) {
    return read_rules(file, run, path);
  }
  // What a network on images has and others have not.
  if (run.contains("samples")) {
    return read_network<ImageSpec>(file, run, image_settings(), path);
  }
  return read_network<RunSpec>(file, run, bit_settings(), path);
}

}  // namespace

template <typename Spec>
io::TensorFile to_tensor_file(const Spec& spec, const tasks::TaskSuite& suite, const engine::Layout& layout,
                              const engine::LaneResult& result, const nlohmann::ordered_json& run) {
  io::TensorFile file;
  file.metadata[kSavedRunKey] = run.dump();
  file.metadata[kSavedTaskKey] = task_json(suite);
  file.metadata[kSavedRowsKey] = rows_json(spec, suite).dump();
  add_snapshots(layout, result.best.parameters, result.last.parameters, file);
  return file;
}

template io::TensorFile to_tensor_file(const RunSpec&, const tasks::TaskSuite&, const engine::Layout&,
                                       const engine::LaneResult&, const nlohmann::ordered_json&);
template io::TensorFile to_tensor_file(const ImageSpec&, const tasks::TaskSuite&, const engine::Layout&,
                                       const engine::LaneResult&, const nlohmann::ordered_json&);

AnySavedNetwork load_network(const std::string& path) {
  return parse_network(io::read_file(path, kMaxFileBytes), path);
}

AnySavedNetwork parse_network(const std::string& bytes, const std::string& path) {
  if (!io::is_safetensors(bytes, path)) {
    io::refuse_pickle(bytes, path);
    throw FormatError(
        fmt::format("{}: is not a network that `modlab train --save` wrote; `modlab detect` and `modlab structure` "
                    "look at networks "
                    "of layers in other files, such as networks.jsonl of `modlab sculpt`",
                    path));
  }
  return network_of(io::decode_safetensors(bytes, path), path);
}

}  // namespace modlab::models

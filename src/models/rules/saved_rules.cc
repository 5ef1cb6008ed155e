#include "models/rules/saved_rules.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "models/rules/rule_settings.h"
#include "models/saved_tensors.h"

namespace modlab::models {

io::TensorFile to_tensor_file(const RuleShape& shape, const std::vector<float>& best, const std::vector<float>& last,
                              const nlohmann::ordered_json& run) {
  io::TensorFile file;
  file.metadata[kSavedRunKey] = run.dump();
  add_snapshots(rule_layout(shape), best, last, file);
  return file;
}

bool is_on_rules(const nlohmann::ordered_json& run) { return run.contains("task_type"); }

SavedRules read_rules(const io::TensorFile& file, const nlohmann::ordered_json& run, const std::string& path) {
  SavedRules network;
  network.run = run;
  try {
    rule_settings().apply(settings::given_from_json(run, rule_settings().settings()), network.spec);
    network.spec = resolve(network.spec);
    network.shape = rule_shape(network.spec);
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}; the file is damaged", path, error.what()));
  }
  const engine::Layout layout = rule_layout(network.shape);
  network.best = read_snapshot(file, layout, "best", path);
  network.last = read_snapshot(file, layout, "last", path);
  return network;
}

}  // namespace modlab::models

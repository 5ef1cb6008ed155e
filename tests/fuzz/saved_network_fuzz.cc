#include "models/saved_network.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "models/grid.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace {

using modlab::models::RunSpec;
using modlab::models::SavedNetwork;

// What `modlab train --save` writes, untrained.
std::string saved(const std::string& task, modlab::models::ModelKind model, std::vector<int> hidden) {
  const modlab::tasks::TaskSuite suite = modlab::tasks::load_task(task);
  RunSpec spec = modlab::models::starting_spec(task, model);
  spec.hidden = std::move(hidden);
  spec.module_widths = {1};
  spec = modlab::models::resolve(spec, suite);
  const modlab::models::Blueprint blueprint = modlab::models::make_blueprint(spec, suite);
  modlab::engine::LaneResult result;
  result.best.parameters.assign(blueprint.layout.count, 0.5F);
  result.last.parameters.assign(blueprint.layout.count, -0.25F);
  return modlab::io::encode_safetensors(
      modlab::models::to_tensor_file(blueprint.layout, result, modlab::models::settings_json(spec)));
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  using models::ModelKind;
  return {saved("depth1", ModelKind::kDense, {2}), saved("A+B", ModelKind::kDense, {2, 2}),
          saved("sculpt/4-1-4", ModelKind::kSparse, {2}), saved("depth1", ModelKind::kModular, {}),
          saved("depth1", ModelKind::kSharedFcms, {})};
}

// Any bytes are a network with as many parameters as its settings say, which can be made, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  SavedNetwork network;
  try {
    network = modlab::models::parse_network(bytes, "fuzz");
  } catch (const modlab::UserError&) {
    return 0;
  }
  const std::size_t count = network.blueprint.layout.count;
  if (network.best.size() != count || network.last.size() != count || network.suite.tasks.empty()) {
    std::abort();
  }
  return 0;
}

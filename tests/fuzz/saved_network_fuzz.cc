#include "models/saved_network.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace {

using modlab::models::ModelKind;

// What `modlab train --save` writes, untrained.
template <typename Spec>
std::string saved(const modlab::settings::SpecTable<Spec>& table, Spec spec) {
  const modlab::tasks::TaskSuite suite = modlab::tasks::load_task(spec.task);
  spec = modlab::models::resolve(spec, suite);
  const auto blueprint = modlab::models::make_blueprint(spec, suite);
  modlab::engine::LaneResult result;
  result.best.parameters.assign(blueprint.layout.count, 0.5F);
  result.last.parameters.assign(blueprint.layout.count, -0.25F);
  return modlab::io::encode_safetensors(
      modlab::models::to_tensor_file(spec, suite, blueprint.layout, result, table.values(spec).to_json()));
}

std::string saved(const std::string& task, ModelKind model, std::vector<int> hidden) {
  modlab::models::RunSpec spec;
  spec.task = task;
  spec.model = model;
  spec.hidden = std::move(hidden);
  spec.module_widths = {1};
  return saved(modlab::models::bit_settings(), spec);
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  return {saved("depth1", ModelKind::kDense, {2}), saved("A+B", ModelKind::kDense, {2, 2}),
          saved("sculpt/4-1-4", ModelKind::kSparse, {2}), saved("depth1", ModelKind::kModular, {}),
          saved("depth1", ModelKind::kSharedFcms, {})};
}

// Any bytes are a network with as many parameters as its settings say, which can be made, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    std::visit(
        [](const auto& network) {
          const std::size_t count = network.blueprint.layout.count;
          if (network.best.size() != count || network.last.size() != count || network.suite.tasks.empty()) {
            std::abort();
          }
        },
        modlab::models::parse_network(bytes, "fuzz"));
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

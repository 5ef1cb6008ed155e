#include "models/saved_network.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "models/rules/rule_settings.h"
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

std::string saved(modlab::models::RuleModel model, modlab::tasks::RuleFamily family) {
  modlab::models::RuleSpec spec;
  spec.model = model;
  spec.task.family = family;
  spec.width = 2;
  spec.task.dimension = 2;
  spec = modlab::models::resolve(spec);
  const modlab::models::RuleShape shape = modlab::models::rule_shape(spec);
  const std::size_t count = modlab::models::rule_layout(shape).count;
  return modlab::io::encode_safetensors(
      modlab::models::to_tensor_file(shape, std::vector<float>(count, 0.5F), std::vector<float>(count, -0.25F),
                                     modlab::models::rule_settings().values(spec).to_json()));
}

template <typename Spec>
std::size_t parameters_of(const modlab::models::SavedNetworkOf<Spec>& network) {
  return network.suite.tasks.empty() ? 0 : network.blueprint.layout.count;
}
std::size_t parameters_of(const modlab::models::SavedRules& network) {
  return modlab::models::rule_layout(network.shape).count;
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  using modlab::models::RuleModel;
  using modlab::tasks::RuleFamily;
  return {saved("depth1", ModelKind::kDense, {2}),        saved("A+B", ModelKind::kDense, {2, 2}),
          saved("sculpt/4-1-4", ModelKind::kSparse, {2}), saved("depth1", ModelKind::kModular, {}),
          saved("depth1", ModelKind::kSharedFcms, {}),    saved(RuleModel::kModular, RuleFamily::kMlp),
          saved(RuleModel::kModularOp, RuleFamily::kMha), saved(RuleModel::kMonolithic, RuleFamily::kRnn)};
}

// Any bytes are a network with as many parameters as its settings say, which can be made, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    std::visit(
        [](const auto& network) {
          const std::size_t count = parameters_of(network);
          if (count == 0 || network.best.size() != count || network.last.size() != count) {
            std::abort();
          }
        },
        modlab::models::parse_network(bytes, "fuzz"));
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

#include "bench/work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuple>

#include "models/blueprint.h"
#include "tasks/task_file.h"

namespace modlab::bench {
namespace {

constexpr int kFullBatch = 64;
constexpr int kTrainRows = 32;
constexpr int kTableRows = 64;

// Weights that one row meets in the forward pass of training, in its backward pass, and in evaluation.
struct WeightCounts {
  double forward = 0;
  double backward = 0;
  double evaluation = 0;
};

WeightCounts weight_counts(const models::RunSpec& given) {
  const tasks::TaskSuite suite = tasks::load_task(given.task);
  const models::Blueprint blueprint = models::make_blueprint(models::resolve(given, suite), suite);
  WeightCounts counts;
  if (const auto* mlp = std::get_if<models::MlpShape>(&blueprint.shape)) {
    for (std::size_t layer = 0; layer + 1 < mlp->widths.size(); ++layer) {
      counts.forward += static_cast<double>(mlp->widths[layer]) * mlp->widths[layer + 1];
    }
    counts.backward = counts.evaluation = counts.forward;
    return counts;
  }
  const auto& shape = std::get<models::ModularShape>(blueprint.shape);
  double module_weights = 0;
  for (std::size_t layer = 0; layer + 1 < shape.module_widths.size(); ++layer) {
    module_weights += static_cast<double>(shape.module_widths[layer]) * shape.module_widths[layer + 1];
  }
  double selections = shape.outputs * shape.output_candidates();
  int below = shape.inputs;
  for (const int slots : shape.levels) {
    selections += static_cast<double>(shape.fan_in) * below * slots;
    below = slots;
  }
  const double slots = shape.slots();
  const double pool = shape.pool > 0 ? shape.pool : 1;
  const double member_choices = shape.pool > 0 ? slots * pool : 0;
  counts.forward = module_weights * slots * pool + selections + member_choices;
  counts.backward = module_weights * slots + selections + member_choices;
  counts.evaluation = module_weights * slots;
  return counts;
}

Work make_work(models::ModelKind model, const std::string& model_name, const std::string& task, int rows,
               bool step_only) {
  Work work;
  work.network = model_name + "-" + task;
  work.name = work.network + (step_only            ? ", step alone, batch " + std::to_string(rows)
                              : rows == kFullBatch ? std::string(", full batch")
                                                   : ", batch " + std::to_string(rows));
  work.spec.task = task;
  work.spec.model = model;
  work.spec.batch_size = rows;
  work.rows = rows;
  work.step_only = step_only;
  if (step_only) {
    work.spec.noise = 0;
  }
  return work;
}

}  // namespace

std::vector<Work> standard_work() {
  using models::ModelKind;
  std::vector<Work> list;
  for (const int rows : {kFullBatch, 4}) {
    list.push_back(make_work(ModelKind::kShared, "modular-shared", "depth2", rows, false));
    list.push_back(make_work(ModelKind::kShared, "modular-shared", "depth3", rows, false));
    list.push_back(make_work(ModelKind::kModular, "modular", "depth2", rows, false));
    list.push_back(make_work(ModelKind::kDense, "dense", "depth2", rows, false));
    list.push_back(make_work(ModelKind::kDense, "dense", "depth3", rows, false));
  }
  for (const int rows : {64, 32}) {
    list.push_back(make_work(ModelKind::kDense, "dense", "depth2", rows, true));
  }
  return list;
}

std::vector<ImageWork> mnist_work() {
  using models::ModelKind;
  models::ImageSpec published = models::published_image_spec();
  published.task = "mnist-xor-and";
  std::vector<ImageWork> list;
  const auto add = [&](ModelKind model, const std::string& name) -> models::ImageSpec& {
    list.push_back({name, name, published, published.batch_size, false});
    list.back().spec.model = model;
    return list.back().spec;
  };
  add(ModelKind::kModular, "modular");
  add(ModelKind::kShared, "modular-shared");
  models::ImageSpec& dense = add(ModelKind::kDense, "dense");
  dense.lr = 0.001;
  dense.weight_decay = 0.001;
  add(ModelKind::kModularFc, "modular-fc");
  add(ModelKind::kSharedFcms, "modular-shared-fcms");
  return list;
}

std::vector<SculptWork> sculpt_work() {
  std::vector<SculptWork> list;
  const auto add = [&](const std::string& task, const std::vector<int>& hidden, int epochs) {
    methods::SculptRun spec = methods::published_sculpt_run();
    spec.task = task;
    spec.hidden = hidden;
    spec.epochs = epochs;
    spec = methods::resolve(spec, tasks::load_task(task));
    list.push_back({fmt::format("{} {}", task, fmt::join(hidden, ",")), "", spec, spec.batch_size, false});
  };
  add("sculpt/4-2-4", {24, 24}, 20);
  add("sculpt/4-1-2-16", {24, 24}, 40);
  add("sculpt/6-3-3-3", {24, 24, 24}, 20);
  return list;
}

std::vector<RuleWork> rule_work() {
  using models::RuleModel;
  using tasks::RuleFamily;
  constexpr std::tuple<RuleFamily, const char*, int> kFamilies[] = {
      {RuleFamily::kMlp, "mlp", 200}, {RuleFamily::kMha, "mha", 16}, {RuleFamily::kRnn, "rnn", 16}};
  constexpr std::pair<RuleModel, const char*> kModels[] = {{RuleModel::kMonolithic, "monolithic"},
                                                           {RuleModel::kModular, "modular"},
                                                           {RuleModel::kModularOp, "modular-op"},
                                                           {RuleModel::kGtModular, "gt-modular"}};
  std::vector<RuleWork> list;
  for (const auto& [family, family_name, steps] : kFamilies) {
    for (const auto& [model, model_name] : kModels) {
      for (const int rules : {2, 8, 32}) {
        models::RuleSpec spec;
        spec.task.family = family;
        spec.task.rules = rules;
        spec.model = model;
        spec.iterations = steps;
        spec.lr = 0.001;
        spec = models::resolve(spec);
        list.push_back(
            {fmt::format("{}/{}/{}", family_name, model_name, rules), model_name, spec, spec.batch_size, true});
      }
    }
  }
  return list;
}

std::vector<DetectWork> detect_work() {
  std::vector<DetectWork> list;
  for (const double times : {0.25, 0.5, 1.0, 2.0}) {
    std::vector<int> widths;
    for (const int width : {1568, 1000, 500, 100}) {
      widths.push_back(static_cast<int>(times * width));
    }
    list.push_back({fmt::format("{}", fmt::join(widths, "-")), widths});
  }
  return list;
}

int steps_per_epoch(const Work& work) {
  return work.step_only || work.rows >= kTrainRows ? 1 : (kTrainRows + work.rows - 1) / work.rows;
}

double flops_per_epoch(const Work& work) {
  const WeightCounts counts = weight_counts(work.spec);
  const double per_row = 2 * counts.forward + 4 * counts.backward;
  return work.step_only ? work.rows * per_row : kTrainRows * per_row + kTableRows * 2 * counts.evaluation;
}

}  // namespace modlab::bench

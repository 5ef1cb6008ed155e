#include "measures/flops.h"
#include "models/blueprint.h"
#include "models/images/image_blueprint.h"
#include "tasks/task_file.h"

namespace modlab::measures {
namespace {

using models::ModelKind;

struct PrintedRow {
  ModelKind model;
  FlopCount depth1, depth2, depth3, images;
};

// Table 1 of the paper as printed.
constexpr PrintedRow kPrinted[] = {
    {ModelKind::kDense, {288, 288, 288}, {2880, 2880, 2880}, {5472, 5472, 5472}, {442744, 442744, 442744}},
    {ModelKind::kModular, {100, 100, 86}, {232, 232, 206}, {358, 358, 323}, {220840, 220840, 217682}},
    {ModelKind::kShared, {102, 102, 52}, {422, 242, 108}, {958, 382, 167}, {221036, 220676, 108850}},
    {ModelKind::kModularFc, {72, 72, 72}, {180, 180, 180}, {288, 288, 288}, {217652, 217652, 217652}},
    {ModelKind::kSharedFcms, {72, 72, 36}, {180, 180, 72}, {288, 288, 108}, {217652, 217652, 108808}},
};

template <typename Spec>
FlopCount counted(Spec& spec, const char* task, ModelKind model) {
  const tasks::TaskSuite suite = tasks::load_task(task);
  spec.task = task;
  spec.model = model;
  return count_flops(models::resolve(spec, suite), suite);
}

}  // namespace

std::vector<TableOneRow> table_one() {
  std::vector<TableOneRow> rows;
  for (const PrintedRow& printed : kPrinted) {
    const auto add_task = [&](const char* task, const FlopCount& as_printed) {
      models::RunSpec spec;
      rows.push_back({printed.model, task, counted(spec, task, printed.model), as_printed});
    };
    add_task("depth1", printed.depth1);
    add_task("depth2", printed.depth2);
    add_task("depth3", printed.depth3);
    models::ImageSpec images = models::published_image_spec();
    rows.push_back({printed.model, "MNIST", counted(images, "mnist-xor-and", printed.model), printed.images});
  }
  return rows;
}

}  // namespace modlab::measures

#include "measures/flops.h"

#include <gtest/gtest.h>

#include <map>

#include "models/blueprint.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab::measures {

static bool operator==(const FlopCount& a, const FlopCount& b) {
  return a.forward == b.forward && a.backward == b.backward && a.update == b.update;
}
static void PrintTo(const FlopCount& count, std::ostream* stream) {
  *stream << count.forward << ", " << count.backward << ", " << count.update;
}

namespace {

using models::ModelKind;
using Settings = std::vector<std::pair<const char*, const char*>>;

FlopCount count(const Settings& values, Counting counting = Counting::kPaper) {
  models::RunSpec spec;
  for (const auto& [name, value] : values) {
    models::bit_settings().set(spec, name, value);
  }
  const tasks::TaskSuite suite = tasks::load_task(spec.task);
  return count_flops(models::resolve(spec, suite), suite, counting);
}

TEST(Flops, TableOneAsPrintedButForOneEntry) {
  const std::map<std::pair<ModelKind, std::string>, FlopCount> printed = {
      {{ModelKind::kDense, "depth1"}, {288, 288, 288}},
      {{ModelKind::kDense, "depth2"}, {2880, 2880, 2880}},
      {{ModelKind::kDense, "depth3"}, {5472, 5472, 5472}},
      {{ModelKind::kDense, "MNIST"}, {442744, 442744, 442744}},
      {{ModelKind::kModular, "depth1"}, {100, 100, 86}},
      {{ModelKind::kModular, "depth2"}, {232, 232, 206}},
      {{ModelKind::kModular, "depth3"}, {358, 358, 323}},
      {{ModelKind::kModular, "MNIST"}, {220840, 220840, 217682}},
      {{ModelKind::kShared, "depth1"}, {102, 102, 52}},
      {{ModelKind::kShared, "depth2"}, {422, 242, 108}},
      {{ModelKind::kShared, "depth3"}, {958, 382, 167}},
      {{ModelKind::kShared, "MNIST"}, {221036, 220676, 108850}},
      {{ModelKind::kModularFc, "depth1"}, {72, 72, 72}},
      {{ModelKind::kModularFc, "depth2"}, {180, 180, 180}},
      {{ModelKind::kModularFc, "depth3"}, {288, 288, 288}},
      {{ModelKind::kModularFc, "MNIST"}, {217652, 217652, 217652}},
      {{ModelKind::kSharedFcms, "depth1"}, {72, 72, 36}},
      {{ModelKind::kSharedFcms, "depth2"}, {180, 180, 72}},
      {{ModelKind::kSharedFcms, "depth3"}, {288, 288, 108}},
      {{ModelKind::kSharedFcms, "MNIST"}, {217652, 217652, 108808}},
  };
  const std::vector<TableOneRow> rows = table_one();
  ASSERT_EQ(rows.size(), printed.size());
  for (const TableOneRow& row : rows) {
    SCOPED_TRACE(models::model_name(row.model) + " " + row.task);
    FlopCount expected = printed.at({row.model, row.task});
    EXPECT_EQ(row.printed, expected);
    if (row.model == ModelKind::kShared && row.task == "MNIST") {
      // The paper forgets the five 36-weight modules: 220676 + 180.
      expected.backward = 220856;
    }
    EXPECT_EQ(row.computed, expected);
  }
}

TEST(Flops, TheWorkedExample) {
  // By the formula of the paper, with floor(D / b) + 1 updates an epoch.
  const FlopCount shared = count({{"task", "depth2"}, {"model", "modular-shared"}});
  EXPECT_EQ(training_flops(shared, 1, 32, 4, Counting::kPaper), 75480);
  EXPECT_EQ(training_flops(shared, 100, 32, 4, Counting::kPaper), 7548000);
  EXPECT_EQ(training_flops(shared, 100, 32, 4, Counting::kExact), 7353600);
  EXPECT_EQ(training_flops(count({{"model", "dense"}}), 1, 32, 4, Counting::kPaper), 1019520);
}

TEST(Flops, Updates) {
  EXPECT_EQ(updates_per_epoch(32, 4, Counting::kPaper), 9);
  EXPECT_EQ(updates_per_epoch(32, 4, Counting::kExact), 8);
  EXPECT_EQ(updates_per_epoch(33, 4, Counting::kPaper), 9);
  EXPECT_EQ(updates_per_epoch(33, 4, Counting::kExact), 9);
  EXPECT_EQ(updates_per_epoch(6, 64, Counting::kPaper), 1);
  EXPECT_EQ(updates_per_epoch(6, 64, Counting::kExact), 1);
  EXPECT_EQ(updates_per_epoch(64, 64, Counting::kPaper), 2);
  EXPECT_EQ(updates_per_epoch(64, 64, Counting::kExact), 1);
  EXPECT_EQ(updates_to_epoch(50, 32, 4, Counting::kPaper), 450);
  EXPECT_EQ(updates_to_epoch(50, 32, 4, Counting::kExact), 400);
}

TEST(Flops, SparseNetworksHaveWhatTheMaskKeeps) {
  // The published pruning percentages 70.14, 92.85 and 94.10 leave as many weights as the modular networks have.
  EXPECT_EQ(count({{"task", "depth1"}, {"model", "sparse"}, {"density", "0.2986"}}), (FlopCount{86, 86, 86}));
  EXPECT_EQ(count({{"task", "depth2"}, {"model", "sparse"}, {"density", "0.0715"}}), (FlopCount{206, 206, 206}));
  EXPECT_EQ(count({{"task", "depth3"}, {"model", "sparse"}, {"density", "0.059"}}), (FlopCount{323, 323, 323}));
  EXPECT_EQ(count({{"model", "sparse"}, {"density", "1"}}), (FlopCount{2880, 2880, 2880}));
  // The kernels multiply by the zeros: 2880 weights and 110 biases.
  EXPECT_EQ(count({{"model", "sparse"}, {"density", "0.1"}}, Counting::kExact), (FlopCount{2990, 2990, 2990}));
}

TEST(Flops, KnownSelectionsCostNothing) {
  // Modular, depth 2: 180 weights, 18 + 6 input logits, 2 output logits.
  EXPECT_EQ(count({{"model", "modular"}, {"known_outputs", "true"}}), (FlopCount{180 + 48, 180 + 48, 180 + 24}));
  // Shared: 10 module logits; all of 2 members run unless they are known.
  EXPECT_EQ(count({{"model", "modular-shared"}, {"known_inputs", "true"}}), (FlopCount{360 + 10, 180 + 10, 72 + 10}));
  EXPECT_EQ(count({{"model", "modular-shared"}, {"known_modules", "true"}}), (FlopCount{180 + 52, 180 + 52, 72 + 26}));
}

TEST(Flops, OtherFanInsAndOutputs) {
  // Modules 3-12-1 have 48 weights; levels of 4 and 3: 24 + 12 input logits read three times, 3 output logits twice.
  EXPECT_EQ(count({{"model", "modular"}, {"fan_in", "3"}, {"modules", "4,3"}}),
            (FlopCount{48 * 7 + 3 * 36 + 2 * 3, 48 * 7 + 3 * 36 + 2 * 3, 48 * 7 + 36 + 3}));
  // Outputs choose among all 5 modules.
  EXPECT_EQ(count({{"model", "modular"}, {"outputs_from", "all"}}),
            (FlopCount{180 + 2 * 24 + 2 * 5, 180 + 2 * 24 + 2 * 5, 180 + 24 + 5}));
}

TEST(Flops, ASampleCostsOneTaskAndAnUpdateAllOfThem) {
  // Modules 6,4: 36 + 24 input logits and 4 output logits, for each of two tasks.
  EXPECT_EQ(count({{"task", "A+B"}, {"model", "modular"}}), (FlopCount{360 + 2 * 64, 360 + 2 * 64, 360 + 2 * 64}));
  // Slots 3,2, pool 3: 26 logits and 15 module logits for each task.
  EXPECT_EQ(count({{"task", "A+B"}, {"model", "modular-shared"}}),
            (FlopCount{540 + 52 + 15, 180 + 52 + 15, 108 + 2 * 41}));
  // Two more inputs say which task it is.
  EXPECT_EQ(count({{"task", "A+B"}, {"model", "dense"}}).forward, 2880 + 72);
  EXPECT_EQ(count({{"task", "A+B"}, {"model", "dense"}, {"task_input", "scalar"}}).forward, 2880 + 36);
}

TEST(Flops, ExactCountsHaveBiasesAndNoProductsForGathers) {
  // A module has 49 parameters. 26 selection logits, 10 module logits.
  EXPECT_EQ(count({{"model", "dense"}}, Counting::kExact), (FlopCount{2990, 2990, 2990}));
  EXPECT_EQ(count({{"model", "modular"}}, Counting::kExact), (FlopCount{245, 245 + 26, 271}));
  EXPECT_EQ(count({{"model", "modular-fc"}}, Counting::kExact), (FlopCount{245, 245, 245}));
  EXPECT_EQ(count({{"model", "modular-shared"}}, Counting::kExact), (FlopCount{490, 245 + 36, 134}));
  EXPECT_EQ(count({{"model", "modular-shared-fcms"}}, Counting::kExact), (FlopCount{245, 245, 98}));
  // Rows that choose for themselves run every member backward too.
  EXPECT_EQ(count({{"model", "modular-shared"}, {"gumbel", "sample"}}, Counting::kExact),
            (FlopCount{490, 490 + 36, 134}));
  EXPECT_EQ(count({{"task", "A+B"}, {"model", "modular-shared"}}, Counting::kExact),
            (FlopCount{735, 735 + 41, 147 + 2 * 41}));
}

}  // namespace
}  // namespace modlab::measures

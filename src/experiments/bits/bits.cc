#include "experiments/bits/bits.h"

#include "core/thread_seconds.h"
#include "experiments/training/training_kind.h"
#include "experiments/training/truth_tables.h"
#include "experiments/use_measures.h"
#include "measures/network_measures.h"

namespace modlab::experiments {
namespace {

double test_base(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  return base_of_tests(spec.ratio, spec.split_seed, suite);
}

class Bits : public TrainingKind<models::RunSpec> {
 public:
  std::string_view name() const override { return "bits"; }
  std::string_view title() const override { return "Networks on truth tables"; }

  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = training_measures({"train", "validation", "test"});
      list.push_back(base_of_tests_measure());
      list.push_back(share_measure("specialisation", "|correlation| with the first level's gate"));
      list.push_back(share_measure("specialisation_max", "largest |correlation| with the first level's gate"));
      list.push_back(share_measure("in_situ", "mean |correlation| with the matched gates"));
      list.push_back(percent_measure("module_reuse", "modules that several tasks use"));
      std::ranges::copy(use_measures(), std::back_inserter(list));
      const std::vector<Measure> of_tasks = task_measures();
      list.insert(list.end(), of_tasks.begin(), of_tasks.end());
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return table_parts(); }
  std::vector<Column> columns() const override { return table_columns(); }
  std::string footnote(std::span<const Run> runs) const override {
    return table_footnote(runs, [&](const Run& run) {
      const models::RunSpec spec = spec_of(run.values);
      return test_base(spec, *tasks::cached_task(spec.task));
    });
  }
  std::string table_title() const override { return kTableTitle; }
  bool takes(const std::string& task) const override { return !tasks::cached_task(task)->images(); }
  int side_by_side() const override { return kMostLanes; }

  const settings::SpecTable<models::RunSpec>& table() const override { return models::bit_settings(); }
  models::RunSpec start() const override { return {}; }
  std::string test_part() const override { return "test"; }
  std::size_t part_count() const override { return engine::kParts; }
  void check_data(const models::RunSpec& /*spec*/, const tasks::TaskSuite& /*suite*/) const override {}

  void look(const models::RunSpec& /*spec*/, const Group& group, const std::string& snapshot,
            const std::vector<float>& parameters, const engine::Kernels<float>& /*kernels*/,
            Result& result) const override {
    add_structure(measures::measure_network(group.blueprint, *group.suite, parameters), result.snapshots[snapshot]);
  }

  void add_chance(const models::RunSpec& spec, const tasks::TaskSuite& suite, Numbers& numbers) const override {
    numbers["base_rate"] = constant_accuracy(suite);
    numbers["test_base_rate"] = test_base(spec, suite);
  }

  // A few epochs of one block, and what becomes of its first network.
  double estimate(std::span<const Run> runs, const Group& group, const Wanted& wanted,
                  const engine::Kernels<float>& kernels,
                  std::map<std::string, std::vector<double>>& /*known*/) const override {
    constexpr int kWarmEpochs = 1;
    constexpr int kTimedEpochs = 5;
    const auto lane_count = std::min<std::size_t>(static_cast<std::size_t>(kernels.lanes), group.runs.size());
    std::vector<models::RunSpec> specs;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      specs.push_back(spec_of(runs[group.runs[lane]].values));
    }
    models::Blueprint blueprint = group.blueprint;
    const int epochs = blueprint.block.epochs;
    std::vector<engine::LaneResult> results;
    const auto time_epochs = [&](int count) {
      blueprint.block.epochs = count;
      engine::Progress progress;
      const double begin = thread_seconds();
      results = models::train_one_block(specs, blueprint, *group.suite, kernels, progress);
      return thread_seconds() - begin;
    };
    // The difference leaves out what a block costs once.
    const double warm = time_epochs(kWarmEpochs);
    const double epoch = std::max(0.0, time_epochs(kWarmEpochs + kTimedEpochs) - warm) / kTimedEpochs;
    // A curve as long as it will be.
    results.front().curve.resize(engine::curve_epochs(epochs).size(), results.front().curve.back());
    const double begin = thread_seconds();
    finish(runs[group.runs.front()], specs.front(), group, std::move(results.front()), wanted, kernels);
    const double finishing = thread_seconds() - begin;
    const std::size_t blocks = (group.runs.size() + lane_count - 1) / lane_count;
    return static_cast<double>(blocks) * (warm + epoch * epochs) + finishing * static_cast<double>(group.runs.size());
  }

  void upgrade(const Values& values, Result& result) const override {
    const models::RunSpec spec = spec_of(values);
    const auto suite = tasks::cached_task(spec.task);
    for (auto& [snapshot, numbers] : result.snapshots) {
      add_chance(spec, *suite, numbers);
      add_derived(measures::count_flops(spec, *suite), spec.batch_size, test_part(), numbers);
    }
  }
};

const Bits& the_kind() {
  static const Bits kKind;
  return kKind;
}

}  // namespace

const Experiment& bits() { return the_kind(); }

models::RunSpec bit_spec(const Values& values) { return the_kind().spec_of(values); }

}  // namespace modlab::experiments

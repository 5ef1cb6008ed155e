#include "experiments/torch/trained_script.h"

#include <algorithm>
#include <map>

#include "core/thread_seconds.h"
#include "experiments/side_by_side.h"
#include "experiments/task_facts.h"
#include "experiments/torch/script_kind.h"
#include "experiments/torch/script_results.h"
#include "experiments/training/training_measures.h"
#include "experiments/training/training_text.h"
#include "experiments/training/truth_tables.h"
#include "methods/torch/table_training.h"
#include "models/table_data.h"
#include "models/training_settings.h"
#include "tasks/split.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using modlab::models::GivenSamples;
using modlab::models::RunSpec;
using TableScript = ScriptSpec<RunSpec>;

constexpr auto kTestPart = "test";

// The truth tables of a task as samples; networks on several tasks are told which by one input for each.
GivenSamples table_samples(const tasks::TaskSuite& suite) {
  const engine::Data data =
      modlab::models::table_data(suite.tasks, modlab::models::TaskInput::kOneHot, suite.tasks.size() > 1);
  GivenSamples samples;
  samples.shape = {data.inputs.size()};
  samples.kind = modlab::models::LabelKind::kBits;
  samples.columns = data.outputs;
  for (int sample = 0; sample < data.samples(); ++sample) {
    const auto at = static_cast<std::size_t>(sample);
    for (const engine::Field& field : data.inputs) {
      samples.inputs.push_back(
          static_cast<float>(data.input_words[at] >> static_cast<unsigned>(field.shift) & field.mask));
    }
    for (int output = 0; output < data.outputs; ++output) {
      samples.labels.push_back(static_cast<float>(data.target_words[at] >> static_cast<unsigned>(output) & 1U));
    }
  }
  samples.learned = samples.count();
  return samples;
}

std::vector<tasks::Split> splits_of(const RunSpec& spec, const tasks::TaskSuite& suite) {
  return tasks::published_splits(spec.ratio, spec.split_seed, 1 << suite.inputs(),
                                 static_cast<int>(suite.tasks.size()));
}

std::vector<engine::Part> parts_of(const RunSpec& spec, const tasks::TaskSuite& suite) {
  const auto rows = std::size_t{1} << static_cast<unsigned>(suite.inputs());
  std::vector<engine::Part> part(rows * suite.tasks.size(), engine::Part::kTest);
  std::size_t first = 0;
  for (const tasks::Split& split : splits_of(spec, suite)) {
    for (const int row : split.train) {
      part[first + static_cast<std::size_t>(row)] = engine::Part::kTrain;
    }
    for (const int row : split.validation) {
      part[first + static_cast<std::size_t>(row)] = engine::Part::kValidation;
    }
    first += rows;
  }
  return part;
}

class TrainedScriptWork : public Work {
 public:
  TrainedScriptWork(std::span<const Run> runs, std::vector<TableScript> specs, Resources resources,
                    const Wanted& wanted)
      : runs_(runs), resources_(std::move(resources)), wanted_(wanted), specs_(std::move(specs)) {
    for (const TableScript& spec : specs_) {
      tasks_.push_back(task_of(spec));
      total_epochs_ += spec.training.epochs;
    }
  }

  double estimate_seconds() override {
    constexpr int kEpochs = 3;
    std::map<const ScriptTask*, double> known;  // of an epoch
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(tasks_[at].get());
      if (is_new) {
        methods::TableTraining training = training_of(at);
        training.epochs = kEpochs;
        engine::Progress progress;
        const auto network = open(*tasks_[at], 1);
        methods::train_table(*network, *tasks_[at]->samples, training, progress);
        const double begin = thread_seconds();
        methods::train_table(*network, *tasks_[at]->samples, training, progress);
        found->second = (thread_seconds() - begin) / kEpochs;
      }
      total += found->second * specs_[at].training.epochs;
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    run_side_by_side(runs_.size(), resources_.threads, progress_.stop, [&](std::size_t at, int threads) {
      const auto network = open(*tasks_[at], threads);
      if (const auto lane = methods::train_table(*network, *tasks_[at]->samples, training_of(at), progress_)) {
        sink({{&runs_[at], record(at, network->layout(), *lane)}});
      }
    });
  }

  Status status(double seconds) const override {
    return networks_trained(progress_.epochs_done, total_epochs_, runs_.size(), seconds);
  }
  void stop() override { progress_.stop = true; }

 private:
  struct ScriptTask {
    std::string name;
    modlab::models::ScriptFile file;
    std::shared_ptr<const tasks::TaskSuite> suite;
    std::shared_ptr<const GivenSamples> samples;
  };

  // Opens the network once, so that whatever does not fit is said before anything is trained.
  std::shared_ptr<const ScriptTask> task_of(const TableScript& spec) {
    std::shared_ptr<const ScriptTask>& known = known_[spec.contents + "\n" + spec.training.task];
    if (known == nullptr) {
      check_contents({spec.model}, spec.contents);
      auto task = std::make_shared<ScriptTask>();
      task->name = spec.training.task;
      task->file = checked_script(spec.model);
      task->suite = tasks::cached_task(spec.training.task);
      task->samples = std::make_shared<const GivenSamples>(table_samples(*task->suite));
      open(*task, 1);
      known = std::move(task);
    }
    return known;
  }

  static std::unique_ptr<modlab::models::ScriptedNetwork> open(const ScriptTask& task, int threads) {
    return open_for_task(task.file, task.samples, {static_cast<std::size_t>(task.samples->columns)}, task.name,
                         threads);
  }

  methods::TableTraining training_of(std::size_t at) const {
    const RunSpec& spec = specs_[at].training;
    const tasks::TaskSuite& suite = *tasks_[at]->suite;
    return {.optimizer = {.lr = spec.lr, .decay = spec.weight_decay},
            .epochs = spec.epochs,
            .batch_size = spec.batch_size,
            .noise = spec.noise,
            .noisy_inputs = suite.inputs(),
            .seed = spec.seed,
            .part = parts_of(spec, suite),
            .tasks = static_cast<int>(suite.tasks.size())};
  }

  Result record(std::size_t at, const engine::Layout& layout, const engine::LaneResult& lane) const {
    const RunSpec& spec = specs_[at].training;
    const tasks::TaskSuite& suite = *tasks_[at]->suite;
    return script_result(runs_[at],
                         {.layout = layout,
                          .lane = lane,
                          .rows = modlab::models::part_rows(spec, suite),
                          .batch_size = spec.batch_size,
                          .tasks = static_cast<int>(suite.tasks.size()),
                          .test_part = kTestPart},
                         wanted_, [&](Numbers& numbers) {
                           numbers["base_rate"] = constant_accuracy(suite);
                           numbers["test_base_rate"] = base_of_tests(spec.ratio, spec.split_seed, suite);
                         });
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<TableScript> specs_;
  std::vector<std::shared_ptr<const ScriptTask>> tasks_;  // [run]
  std::map<std::string, std::shared_ptr<const ScriptTask>> known_;
  std::int64_t total_epochs_ = 0;
  engine::Progress progress_;
};

class TrainedScriptKind : public ScriptKind<RunSpec> {
 public:
  std::string_view name() const override { return "trained-script"; }
  std::string_view title() const override { return "Networks of PyTorch's on truth tables (model FILE.pt)"; }

  const settings::SpecTable<Spec>& table() const override {
    static const settings::SpecTable<Spec> kTable =
        script_settings(modlab::models::bit_settings(),
                        {"task", "ratio", "split_seed", "seed", "epochs", "batch_size", "lr", "weight_decay", "noise"});
    return kTable;
  }
  RunSpec start() const override { return {}; }
  RunSpec complete(RunSpec training) const override {
    tasks::count_rows(training.ratio, 1 << tasks::cached_task(training.task)->inputs());
    return training;
  }

  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = training_measures({"train", "validation", kTestPart});
      list.push_back(base_of_tests_measure());
      std::ranges::move(task_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return table_parts(); }
  std::vector<Column> columns() const override { return table_columns(); }
  std::string footnote(std::span<const Run> runs) const override {
    return table_footnote(runs, [&](const Run& run) {
      const RunSpec spec = spec_of(run.values).training;
      return base_of_tests(spec.ratio, spec.split_seed, *tasks::cached_task(spec.task));
    });
  }
  std::string series_label() const override { return "architecture"; }
  std::string table_title() const override { return kTableTitle; }
  bool takes(const std::string& task) const override { return !tasks::cached_task(task)->images(); }
  double effort(const Run& run) const override {
    // Some thousand operations of libtorch's own for every row.
    constexpr double kOfARow = 1e5;
    const RunSpec spec = spec_of(run.values).training;
    const modlab::models::PartRows rows = modlab::models::part_rows(spec, *tasks::cached_task(spec.task));
    return kOfARow * spec.epochs * (rows.train + rows.validation + rows.test);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<TrainedScriptWork>(runs, specs_of(runs), resources, wanted);
  }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, false); }
  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override {
    nlohmann::ordered_json object = Experiment::run_json(run, result);
    object["best_epoch"] = result.snapshots.at("best").at("best_epoch");
    return object;
  }
  std::string curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                        const std::string& source) const override {
    return stored_curve_csv(run, snapshots, curve, engine::kParts, kTestPart, source);
  }
};

}  // namespace

const Experiment& trained_script() {
  static const TrainedScriptKind kKind;
  return kKind;
}

}  // namespace modlab::experiments

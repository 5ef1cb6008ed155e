#include "experiments/torch/trained_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/thread_seconds.h"
#include "experiments/task_facts.h"
#include "experiments/torch/script_files.h"
#include "experiments/training/curve.h"
#include "experiments/training/training_measures.h"
#include "experiments/training/training_text.h"
#include "experiments/training/truth_tables.h"
#include "io/safetensors.h"
#include "methods/torch/table_training.h"
#include "models/population.h"
#include "models/saved_tensors.h"
#include "models/table_data.h"
#include "models/training_settings-inl.h"
#include "tasks/split.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using modlab::models::GivenSamples;
using modlab::models::kPlain;
using modlab::models::row;
using modlab::models::TorchNetwork;
using nlohmann::json;
using settings::SpecSetting;

constexpr auto kTestPart = "test";

struct ScriptTrainingSpec {
  std::string task = "depth2";
  std::string model;     // a file
  std::string contents;  // of it, as a hash
  double ratio = 0.5;
  std::uint32_t split_seed = 40;
  std::uint64_t seed = 0;
  int epochs = 1000;
  int batch_size = 64;
  double lr = 0.01;
  double weight_decay = 0.001;
  double noise = 0.1;
};

const settings::SpecTable<ScriptTrainingSpec>& trained_settings() {
  static const settings::SpecTable<ScriptTrainingSpec> kTable([] {
    std::vector<SpecSetting<ScriptTrainingSpec>> rows = {
        modlab::models::task_row<ScriptTrainingSpec>(),
        row<ScriptTrainingSpec>(
            "model", "FILE", "a network of PyTorch's, untrained: TorchScript, as torch.jit.save writes it",
            modlab::models::kNamed, [](ScriptTrainingSpec& spec, const std::string& text) { spec.model = text; },
            [](const ScriptTrainingSpec& spec) { return json(spec.model); }, {.role = Setting::Role::kModel}),
        row<ScriptTrainingSpec>(
            "contents", "HASH", "of the file, found by itself: other contents are other runs", modlab::models::kNamed,
            [](ScriptTrainingSpec& spec, const std::string& text) { spec.contents = text; },
            [](const ScriptTrainingSpec& spec) { return json(spec.contents); }),
        row<ScriptTrainingSpec>(
            "ratio", "R", "share of the rows to train on; the rest is halved", modlab::models::kNamed,
            [](ScriptTrainingSpec& spec, const std::string& text) {
              spec.ratio = settings::read_real("ratio", text, 0, 1, "a number between 0 and 1");
            },
            [](const ScriptTrainingSpec& spec) { return json(spec.ratio); }, {.label = "training ratio"}),
        row<ScriptTrainingSpec>(
            "split_seed", "N", "seed of the published split into train, validation and test rows",
            modlab::models::kFree | modlab::models::kNamed,
            [](ScriptTrainingSpec& spec, const std::string& text) {
              spec.split_seed = static_cast<std::uint32_t>(
                  settings::read_integer("split_seed", text, 0, 0xffffffffLL, "a whole number from 0 to 4294967295"));
            },
            [](const ScriptTrainingSpec& spec) { return json(spec.split_seed); }, {.role = Setting::Role::kSplit}),
        modlab::models::seed_row<ScriptTrainingSpec>(),
        modlab::models::epochs_row<ScriptTrainingSpec>(),
        modlab::models::batch_size_row<ScriptTrainingSpec>(),
        modlab::models::lr_row<ScriptTrainingSpec>(),
        modlab::models::weight_decay_row<ScriptTrainingSpec>(),
        modlab::models::noise_row<ScriptTrainingSpec>(),
    };
    return rows;
  }());
  return kTable;
}

ScriptTrainingSpec trained_spec(const Values& values) {
  ScriptTrainingSpec spec;
  trained_settings().read(values, spec);
  return spec;
}

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

std::vector<tasks::Split> splits_of(const ScriptTrainingSpec& spec, const tasks::TaskSuite& suite) {
  return tasks::published_splits(spec.ratio, spec.split_seed, 1 << suite.inputs(),
                                 static_cast<int>(suite.tasks.size()));
}

std::vector<engine::Part> parts_of(const ScriptTrainingSpec& spec, const tasks::TaskSuite& suite) {
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

modlab::models::PartRows rows_of(const ScriptTrainingSpec& spec, const tasks::TaskSuite& suite) {
  modlab::models::RunSpec split;
  split.task = spec.task;
  split.ratio = spec.ratio;
  split.split_seed = spec.split_seed;
  return modlab::models::part_rows(split, suite);
}

class TrainedScriptWork : public Work {
 public:
  TrainedScriptWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : runs_(runs), resources_(resources), wanted_(wanted) {
    for (const Run& run : runs) {
      specs_.push_back(trained_spec(run.values));
      const ScriptTrainingSpec& spec = specs_.back();
      tasks_.push_back(task_of(spec));
      total_epochs_ += spec.epochs;
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
        const auto network = open(at, 1);
        methods::train_table(*network, *tasks_[at]->samples, training, progress);
        const double begin = thread_seconds();
        methods::train_table(*network, *tasks_[at]->samples, training, progress);
        found->second = (thread_seconds() - begin) / kEpochs;
      }
      total += found->second * specs_[at].epochs;
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    const auto at_once = std::min<std::size_t>(static_cast<std::size_t>(resources_.threads), runs_.size());
    const int threads_each = resources_.threads / static_cast<int>(std::max<std::size_t>(1, at_once));
    parallel_for(runs_.size(), static_cast<int>(at_once), [&](std::size_t at) {
      if (progress_.stop) {
        return;
      }
      try {
        const auto network = open(at, threads_each);
        if (auto lane = methods::train_table(*network, *tasks_[at]->samples, training_of(at), progress_)) {
          sink({{&runs_[at], record(at, *network, *lane)}});
        }
      } catch (...) {
        progress_.stop = true;
        throw;
      }
    });
  }

  Status status(double seconds) const override {
    return networks_trained(progress_.epochs_done, total_epochs_, runs_.size(), seconds);
  }
  void stop() override { progress_.stop = true; }

 private:
  struct ScriptTask {
    modlab::models::ScriptFile file;
    std::shared_ptr<const tasks::TaskSuite> suite;
    std::shared_ptr<const GivenSamples> samples;
  };

  // Opens the network once, so that whatever does not fit is said before anything is trained.
  std::shared_ptr<const ScriptTask> task_of(const ScriptTrainingSpec& spec) {
    std::shared_ptr<const ScriptTask>& known = known_[spec.contents + "\n" + spec.task];
    if (known == nullptr) {
      check_contents({spec.model}, spec.contents);
      auto task = std::make_shared<ScriptTask>();
      task->file = checked_script(spec.model);
      task->suite = tasks::cached_task(spec.task);
      task->samples = std::make_shared<const GivenSamples>(table_samples(*task->suite));
      modlab::models::torch_library().open_script(task->file, task->samples, {});
      known = std::move(task);
    }
    return known;
  }

  std::unique_ptr<TorchNetwork> open(std::size_t at, int threads) const {
    return modlab::models::torch_library().open_script(tasks_[at]->file, tasks_[at]->samples, {"cpu", threads});
  }

  methods::TableTraining training_of(std::size_t at) const {
    const ScriptTrainingSpec& spec = specs_[at];
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

  Result record(std::size_t at, const TorchNetwork& network, const engine::LaneResult& lane) const {
    const ScriptTrainingSpec& spec = specs_[at];
    const tasks::TaskSuite& suite = *tasks_[at]->suite;
    const modlab::models::PartRows rows = rows_of(spec, suite);
    Result result;
    result.diverged = lane.diverged;
    result.seconds = lane.seconds;
    for (const auto& [name, snapshot] : {std::pair{"best", &lane.best}, std::pair{"last", &lane.last}}) {
      Numbers& numbers = result.snapshots[name];
      numbers = snapshot_numbers(*snapshot, rows, static_cast<int>(suite.tasks.size()));
      numbers["base_rate"] = constant_accuracy(suite);
      numbers["test_base_rate"] = base_of_tests(spec.ratio, spec.split_seed, suite);
      add_derived({}, spec.batch_size, kTestPart, numbers);
      numbers.erase("flops");  // nobody has counted those of this network
    }
    if (wanted_.curve) {
      result.blobs["curve"] = encode_curve(lane.curve, engine::kParts);
    }
    if (wanted_.best_weights) {
      result.blobs["weights/best"] = weight_bytes(lane.best.parameters);
    }
    if (wanted_.last_weights) {
      result.blobs["weights/last"] = weight_bytes(lane.last.parameters);
    }
    if (wanted_.network_file) {
      result.blobs["file.safetensors"] =
          weights_file(network.layout(), lane.best.parameters, runs_[at].kind->run_json(runs_[at], result));
    }
    if (wanted_.epoch_table) {
      result.blobs["epochs.csv"] = epoch_table(lane, rows);
    }
    return result;
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<ScriptTrainingSpec> specs_;
  std::vector<std::shared_ptr<const ScriptTask>> tasks_;  // [run]
  std::map<std::string, std::shared_ptr<const ScriptTask>> known_;
  std::int64_t total_epochs_ = 0;
  engine::Progress progress_;
};

class TrainedScriptKind : public Experiment {
 public:
  std::string_view name() const override { return "trained-script"; }
  std::string_view title() const override { return "Networks of PyTorch's on truth tables (model FILE.pt)"; }
  std::span<const Setting> settings() const override { return trained_settings().settings(); }
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
    return table_footnote(runs, [](const Run& run) {
      const ScriptTrainingSpec spec = trained_spec(run.values);
      return base_of_tests(spec.ratio, spec.split_seed, *tasks::cached_task(spec.task));
    });
  }
  std::string series_label() const override { return "architecture"; }
  std::string table_title() const override { return kTableTitle; }
  std::vector<std::string> models() const override { return {"FILE.pt"}; }
  bool has_model(const std::string& model) const override { return model.ends_with(".pt"); }
  bool takes(const std::string& task) const override { return !tasks::cached_task(task)->images(); }
  bool is_replayable() const override { return false; }
  std::vector<const Setting*> settings_for(const Given& /*given*/) const override {
    return trained_settings().settings_for(ScriptTrainingSpec{});
  }
  Values resolve(const Given& given) const override {
    ScriptTrainingSpec spec;
    trained_settings().apply(given, spec);
    tasks::count_rows(spec.ratio, 1 << tasks::cached_task(spec.task)->inputs());
    if (spec.contents.empty()) {
      spec.contents = contents_of({spec.model});
    }
    return trained_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return trained_settings().by_name(ScriptTrainingSpec{});
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = trained_settings().by_name(ScriptTrainingSpec{});
      for (const char* always : {"model", "contents"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    // Some thousand operations of libtorch's own for every row.
    constexpr double kOfARow = 1e5;
    const ScriptTrainingSpec spec = trained_spec(run.values);
    const modlab::models::PartRows rows = rows_of(spec, *tasks::cached_task(spec.task));
    return kOfARow * spec.epochs * (rows.train + rows.validation + rows.test);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<TrainedScriptWork>(runs, resources, wanted);
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

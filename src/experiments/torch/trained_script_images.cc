#include "experiments/torch/trained_script_images.h"

#include <map>
#include <numeric>

#include "core/errors.h"
#include "experiments/side_by_side.h"
#include "experiments/task_facts.h"
#include "experiments/torch/script_kind.h"
#include "experiments/torch/script_results.h"
#include "experiments/training/image_tasks.h"
#include "experiments/training/training_text.h"
#include "methods/torch/image_training.h"
#include "models/images/image_blueprint.h"
#include "models/training_settings.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using modlab::models::ImageBatches;
using modlab::models::ImageSpec;
using modlab::models::ScriptedNetwork;
using ImageScript = ScriptSpec<ImageSpec>;

methods::ImageTraining image_training(const ImageSpec& spec) {
  return {.optimizer = {.lr = spec.lr, .decay = spec.weight_decay},
          .epochs = spec.epochs,
          .batch_size = spec.batch_size,
          .seed = spec.seed};
}

class ImageScriptWork : public Work {
 public:
  ImageScriptWork(std::span<const Run> runs, std::vector<ImageScript> specs, Resources resources, const Wanted& wanted)
      : runs_(runs), resources_(std::move(resources)), wanted_(wanted), specs_(std::move(specs)) {
    for (const ImageScript& spec : specs_) {
      tasks_.push_back(task_of(spec));
      total_epochs_ += spec.training.epochs;
    }
  }

  double estimate_seconds() override {
    std::map<const ImageTask*, methods::ImageSampleSeconds> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const ImageSpec& spec = specs_[at].training;
      const auto [seconds, is_new] = known.try_emplace(tasks_[at].get());
      if (is_new) {
        ImageBatches batches = batches_of(at);
        seconds->second = methods::image_sample_seconds(*open(*tasks_[at], batches, 1), batches, image_training(spec));
      }
      const modlab::models::PartRows rows = modlab::models::part_rows(spec, *tasks_[at]->suite);
      total += spec.epochs * (rows.train * seconds->second.learned +
                              (rows.validation + rows.test + rows.seen) * seconds->second.tested);
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    run_side_by_side(runs_.size(), resources_.threads, progress_.stop, [&](std::size_t at, int threads) {
      ImageBatches batches = batches_of(at);
      const auto network = open(*tasks_[at], batches, threads);
      if (const auto lane = methods::train_images(*network, batches, image_training(specs_[at].training), progress_)) {
        sink({{&runs_[at], record(at, network->layout(), *lane)}});
      }
    });
  }

  Status status(double seconds) const override {
    return networks_trained(progress_.epochs_done, total_epochs_, runs_.size(), seconds);
  }
  void stop() override { progress_.stop = true; }

 private:
  struct ImageTask {
    std::string name;
    modlab::models::ScriptFile file;
    std::shared_ptr<const tasks::TaskSuite> suite;
    bool is_flat = false;  // the network takes all pixels as one list
  };

  // Opens the network once, so that whatever does not fit is said before anything is trained.
  std::shared_ptr<const ImageTask> task_of(const ImageScript& spec) {
    std::shared_ptr<const ImageTask>& known = known_[data_key(spec)];
    if (known == nullptr) {
      check_contents({spec.model}, spec.contents);
      auto task = std::make_shared<ImageTask>();
      task->name = spec.training.task;
      task->file = checked_script(spec.model);
      task->suite = tasks::cached_task(spec.training.task);
      find_shape(spec.training, *task);
      known = std::move(task);
    }
    return known;
  }

  // What decides whether a network and its images fit.
  static std::string data_key(const ImageScript& spec) {
    std::string key = spec.contents + "\n" + spec.training.task;
    for (const std::vector<std::string>* files : {&spec.training.images, &spec.training.labels}) {
      for (const std::string& file : *files) {
        key += "\n" + file;
      }
    }
    return key;
  }

  static void find_shape(const ImageSpec& spec, ImageTask& task) {
    const auto try_shape = [&](bool is_flat) {
      task.is_flat = is_flat;
      ImageBatches batches(spec, *task.suite, is_flat);
      open(task, batches, 1);
    };
    try {
      try_shape(false);
    } catch (const FormatError&) {
      const std::exception_ptr as_images = std::current_exception();
      try {
        try_shape(true);
      } catch (const FormatError&) {
        std::rethrow_exception(as_images);
      }
    }
  }

  ImageBatches batches_of(std::size_t at) const {
    return {specs_[at].training, *tasks_[at]->suite, tasks_[at]->is_flat};
  }

  static std::unique_ptr<ScriptedNetwork> open(const ImageTask& task, ImageBatches& batches, int threads) {
    constexpr int kAsked = 16;
    std::vector<std::uint32_t> some(static_cast<std::size_t>(std::min(kAsked, batches.count(engine::Part::kTrain))));
    std::iota(some.begin(), some.end(), 0U);
    return open_for_task(task.file, batches.make(engine::Part::kTrain, some),
                         {static_cast<std::size_t>(task.suite->outputs())}, task.name, threads);
  }

  Result record(std::size_t at, const engine::Layout& layout, const engine::LaneResult& lane) const {
    const ImageSpec& spec = specs_[at].training;
    const tasks::TaskSuite& suite = *tasks_[at]->suite;
    return script_result(runs_[at],
                         {.layout = layout,
                          .lane = lane,
                          .rows = modlab::models::part_rows(spec, suite),
                          .batch_size = spec.batch_size,
                          .test_part = kUnseenPart},
                         wanted_,
                         [&](Numbers& numbers) { add_image_chance(spec.ratio, spec.split_seed, suite, numbers); });
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<ImageScript> specs_;
  std::vector<std::shared_ptr<const ImageTask>> tasks_;  // [run]
  std::map<std::string, std::shared_ptr<const ImageTask>> known_;
  std::int64_t total_epochs_ = 0;
  engine::Progress progress_;
};

class ImageScriptKind : public ScriptKind<ImageSpec> {
 public:
  std::string_view name() const override { return "trained-script-images"; }
  std::string_view title() const override { return "Networks of PyTorch's on images (model FILE.pt)"; }

  const settings::SpecTable<Spec>& table() const override {
    static const settings::SpecTable<Spec> kTable =
        script_settings(modlab::models::image_settings(),
                        {"task", "ratio", "split_seed", "seed", "epochs", "batch_size", "lr", "weight_decay", "samples",
                         "test_samples", "disjoint_validation", "normalize", "images", "labels"});
    return kTable;
  }
  ImageSpec start() const override { return modlab::models::published_image_spec(); }
  ImageSpec complete(ImageSpec training) const override {
    tasks::count_combinations(*tasks::cached_task(training.task)->images(), training.ratio);
    return training;
  }

  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = image_task_measures();
    return kMeasures;
  }
  Parts parts() const override { return image_parts(); }
  std::vector<Column> columns() const override { return image_columns(); }
  std::string footnote(std::span<const Run> runs) const override {
    return image_footnote(runs, [&](const Run& run) {
      const ImageSpec spec = spec_of(run.values).training;
      return unseen_base(spec.ratio, spec.split_seed, *tasks::cached_task(spec.task));
    });
  }
  std::string series_label() const override { return "architecture"; }
  std::string table_title() const override { return kImageTableTitle; }
  bool takes(const std::string& task) const override { return tasks::cached_task(task)->images().has_value(); }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, false); }
  tasks::FileFacts file_facts(const Values& values) const override {
    return modlab::models::image_facts(spec_of(values).training);
  }
  double effort(const Run& run) const override {
    // About those of the published network, which has half a million weights: nobody knows how many these have.
    constexpr double kOfALearnedSample = 3e6;
    const ImageSpec spec = spec_of(run.values).training;
    const modlab::models::PartRows rows = modlab::models::part_rows(spec, *tasks::cached_task(spec.task));
    return kOfALearnedSample * spec.epochs * (rows.train + (rows.validation + rows.test + rows.seen) / 3.0);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<ImageScriptWork>(runs, specs_of(runs), resources, wanted);
  }
  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override {
    nlohmann::ordered_json object = Experiment::run_json(run, result);
    object["best_epoch"] = result.snapshots.at("best").at("best_epoch");
    return object;
  }
  std::string curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                        const std::string& source) const override {
    return stored_curve_csv(run, snapshots, curve, engine::kScoreParts, kUnseenPart, source);
  }
};

}  // namespace

const Experiment& trained_script_images() {
  static const ImageScriptKind kKind;
  return kKind;
}

}  // namespace modlab::experiments

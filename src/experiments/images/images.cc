#include "experiments/images/images.h"

#include <fmt/format.h>

#include "core/thread_seconds.h"
#include "experiments/images/image_details.h"
#include "experiments/training/image_tasks.h"
#include "experiments/training/training_kind.h"
#include "measures/image_measures.h"
#include "models/images/image_samples.h"

namespace modlab::experiments {
namespace {

class Images : public TrainingKind<models::ImageSpec> {
 public:
  std::string_view name() const override { return "images"; }
  std::string_view title() const override { return "Networks on images"; }

  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = image_task_measures();
      list.push_back(share_measure("image_specialisation", "|correlation| of image modules with the digits' bits"));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return image_parts(); }
  std::vector<Column> columns() const override { return image_columns(); }
  std::string footnote(std::span<const Run> runs) const override {
    return image_footnote(runs, [&](const Run& run) {
      const models::ImageSpec spec = spec_of(run.values);
      return unseen_base(spec.ratio, spec.split_seed, *tasks::cached_task(spec.task));
    });
  }
  std::string table_title() const override { return kImageTableTitle; }
  bool takes(const std::string& task) const override { return tasks::cached_task(task)->images().has_value(); }

  const settings::SpecTable<models::ImageSpec>& table() const override { return models::image_settings(); }
  models::ImageSpec start() const override { return models::published_image_spec(); }
  std::string test_part() const override { return kUnseenPart; }
  std::size_t part_count() const override { return engine::kScoreParts; }
  // Images that are missing or do not fit come to light before anything is trained.
  void check_data(const models::ImageSpec& spec, const tasks::TaskSuite& suite) const override {
    models::count_image_samples(spec, suite, *models::load_pixels(spec)->data);
  }

  tasks::FileFacts file_facts(const Values& values) const override { return models::image_facts(spec_of(values)); }

  void look(const models::ImageSpec& spec, const Group& group, const std::string& snapshot,
            const std::vector<float>& parameters, const engine::Kernels<float>& kernels,
            Result& result) const override {
    const measures::ImageView view =
        measures::view_image_network(spec, group.blueprint, *group.suite, parameters, kernels);
    add_structure(view.measures, result.snapshots[snapshot]);
    result.blobs["details/" + snapshot] = image_details(view, *group.suite).dump();
  }

  void add_chance(const models::ImageSpec& spec, const tasks::TaskSuite& suite, Numbers& numbers) const override {
    add_image_chance(spec.ratio, spec.split_seed, suite, numbers);
  }

  double estimate(std::span<const Run> runs, const Group& group, const Wanted& wanted,
                  const engine::Kernels<float>& kernels,
                  std::map<std::string, std::vector<double>>& known) const override {
    const models::ImageSpec first = spec_of(runs[group.runs.front()].values);
    const std::string key =
        fmt::format("{}/{}/{}", models::model_name(first.model), first.batch_size, group.blueprint.layout.count);
    auto found = known.find(key);
    if (found == known.end()) {
      found = known.emplace(key, calibrate(runs[group.runs.front()], first, group, wanted, kernels)).first;
    }
    const double sample = found->second[0];
    const double evaluation = found->second[1];
    const double finishing = found->second[2];
    double total = 0;
    for (const std::uint32_t run : group.runs) {
      const models::PartRows rows = models::part_rows(spec_of(runs[run].values), *group.suite);
      total += group.blueprint.block.epochs *
                   (rows.train * sample + (rows.validation + rows.test + rows.seen) * evaluation) +
               finishing;
    }
    return total;
  }

  void upgrade(const Values& values, Result& result) const override {
    const models::ImageSpec spec = spec_of(values);
    const auto suite = tasks::cached_task(spec.task);
    for (auto& [snapshot, numbers] : result.snapshots) {
      // An older store has the unseen combinations under the name of the test.
      for (const char* quantity : {"accuracy", "row_accuracy", "loss", "rows"}) {
        if (auto entry = numbers.extract(fmt::format("test_{}", quantity))) {
          entry.key() = fmt::format("unseen_{}", quantity);
          numbers.insert(std::move(entry));
        }
      }
      add_chance(spec, *suite, numbers);
      add_derived(measures::count_flops(spec, *suite), spec.batch_size, test_part(), numbers);
    }
  }

 private:
  // An epoch takes up to a second, and its steps cost the same whatever the ratio: a few hundred samples tell. Seconds
  // to learn from a sample, to test one, and to look at the network.
  std::vector<double> calibrate(const Run& run, const models::ImageSpec& spec, const Group& group, const Wanted& wanted,
                                const engine::Kernels<float>& kernels) const {
    constexpr int kSteps = 12;
    const engine::solo::Data data = models::make_image_samples(spec, *group.suite, *models::load_pixels(spec));
    const auto network = models::make_network<float>(group.blueprint, engine::solo::kernels_for(kernels.target));
    const engine::LaneSettings lane = models::make_lane(spec, group.blueprint);
    const int evaluated =
        data[engine::Part::kValidation].count() + data[engine::Part::kTest].count() + data[engine::Part::kSeen].count();
    std::vector<engine::LaneResult> results;
    const auto time_steps = [&](int steps) {
      engine::solo::Data part = data;
      engine::solo::SampleList& list = part.parts[static_cast<std::size_t>(engine::Part::kTrain)];
      const int count = std::min(list.count(), steps * spec.batch_size);
      list.targets.resize(static_cast<std::size_t>(count));
      list.numbers.resize(static_cast<std::size_t>(count) * data.images);
      engine::BlockSettings settings = group.blueprint.block;
      settings.epochs = 1;
      engine::Progress progress;
      const double begin = thread_seconds();
      results = engine::solo::train_solo(kernels, *network, part, settings, lane, progress);
      return std::pair{thread_seconds() - begin, count};
    };
    time_steps(1);  // warm
    const auto [few_seconds, few] = time_steps(1);
    const auto [many_seconds, many] = time_steps(kSteps);
    const double sample = many > few ? std::max(0.0, many_seconds - few_seconds) / (many - few) : few_seconds / few;
    const double evaluation = std::max(0.0, few_seconds - few * sample) / evaluated;
    results.front().curve.resize(engine::curve_epochs(group.blueprint.block.epochs).size(),
                                 results.front().curve.back());
    const double begin = thread_seconds();
    finish(run, spec, group, std::move(results.front()), wanted, kernels);
    return {sample, evaluation, thread_seconds() - begin};
  }
};

const Images& the_image_kind() {
  static const Images kKind;
  return kKind;
}

}  // namespace

const Experiment& images() { return the_image_kind(); }

models::ImageSpec image_spec(const Values& values) { return the_image_kind().spec_of(values); }

}  // namespace modlab::experiments

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/parallel.h"
#include "core/random.h"
#include "experiments/experiment.h"
#include "experiments/task_facts.h"
#include "experiments/training/curve.h"
#include "experiments/training/training_measures.h"
#include "experiments/training/training_text.h"
#include "io/compress.h"
#include "io/safetensors.h"
#include "models/population.h"
#include "models/saved_network.h"
#include "models/training_settings.h"
#include "settings/spec_table.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {

// A kind whose runs are networks that are trained once: on truth tables (models::RunSpec) or on images
// (models::ImageSpec).
template <typename Spec>
class TrainingKind : public Experiment {
 public:
  using Blueprint = typename models::BlueprintOf<Spec>::Type;

  // Runs of one shape, ready to be trained.
  struct Group {
    Blueprint blueprint;
    std::shared_ptr<const tasks::TaskSuite> suite;
    measures::FlopCount flops;  // of a network without a mask
    std::vector<std::uint32_t> runs;
  };

  virtual const settings::SpecTable<Spec>& table() const = 0;
  virtual Spec start() const = 0;  // what a run is where nothing else is said
  virtual std::string test_part() const = 0;
  virtual std::size_t part_count() const = 0;
  // Throws where the data are missing or do not fit.
  virtual void check_data(const Spec& spec, const tasks::TaskSuite& suite) const = 0;
  // Measures of the trained network itself, and what else is worth keeping of it, under `snapshot`.
  virtual void look(const Spec& spec, const Group& group, const std::string& snapshot,
                    const std::vector<float>& parameters, const engine::Kernels<float>& kernels,
                    Result& result) const = 0;
  // What chance reaches in such a run.
  virtual void add_chance(const Spec& spec, const tasks::TaskSuite& suite, Numbers& numbers) const = 0;
  // Seconds of one thread that the runs of a group take. `known` keeps what was measured of groups before it.
  virtual double estimate(std::span<const Run> runs, const Group& group, const Wanted& wanted,
                          const engine::Kernels<float>& kernels,
                          std::map<std::string, std::vector<double>>& known) const = 0;

  std::string series_label() const override { return "architecture"; }
  std::span<const settings::Setting> settings() const override { return table().settings(); }
  std::vector<std::string> models() const override { return models::model_names(); }
  std::vector<const settings::Setting*> settings_for(const Given& given) const override {
    Spec spec = start();
    for (const char* chooser : {"task", "model"}) {
      if (const auto found = given.find(chooser); found != given.end()) {
        table().set(spec, chooser, found->second);
      }
    }
    return table().settings_for(spec);
  }
  Values resolve(const Given& given) const override {
    Spec spec = start();
    table().apply(given, spec);
    return table().values(models::resolve(spec, *tasks::cached_task(spec.task)));
  }
  std::map<std::string, nlohmann::json> defaults() const override { return table().by_name(start()); }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = table().by_name(Spec{});
    return kDefaults;
  }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, false); }

  // Training, and looking at all rows after every epoch.
  double effort(const Run& run) const override {
    const Spec spec = spec_of(run.values);
    const auto suite = tasks::cached_task(spec.task);
    const measures::FlopCount flops = measures::count_flops(spec, *suite, measures::Counting::kExact);
    const models::PartRows rows = models::part_rows(spec, *suite);
    constexpr double kForward = 2;  // operations of a weight
    return measures::training_flops(flops, spec.epochs, rows.train, spec.batch_size, measures::Counting::kExact) +
           kForward * flops.forward * spec.epochs * (rows.train + rows.validation + rows.test + rows.seen);
  }

  Spec spec_of(const Values& values) const {
    Spec spec = start();
    table().read(values, spec);
    return spec;
  }

  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override {
    nlohmann::ordered_json json = Experiment::run_json(run, result);
    json["best_epoch"] = result.snapshots.at("best").at("best_epoch");
    return json;
  }

  std::string curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                        const std::string& source) const override {
    return stored_curve_csv(run, snapshots, curve, part_count(), test_part(), source);
  }

  // What becomes of a trained network.
  Result finish(const Run& run, const Spec& spec, const Group& group, engine::LaneResult&& lane, const Wanted& wanted,
                const engine::Kernels<float>& kernels) const {
    Result result;
    result.diverged = lane.diverged;
    result.seconds = lane.seconds;
    const models::PartRows rows = models::part_rows(spec, *group.suite);
    const auto tasks = static_cast<int>(group.suite->tasks.size());
    const measures::FlopCount flops =
        spec.model == models::ModelKind::kSparse ? masked_flops(spec, *group.suite) : group.flops;
    for (const auto& [name, snapshot] : {std::pair{"best", &lane.best}, std::pair{"last", &lane.last}}) {
      Numbers& numbers = result.snapshots[name];
      numbers = snapshot_numbers(*snapshot, rows, tasks);
      if (wanted.structure) {
        look(spec, group, name, snapshot->parameters, kernels, result);
      }
      add_chance(spec, *group.suite, numbers);
      add_derived(flops, spec.batch_size, test_part(), numbers);
    }
    if (wanted.curve) {
      result.blobs["curve"] = encode_curve(lane.curve, part_count());
    }
    if (wanted.best_weights) {
      result.blobs["weights/best"] = weight_bytes(lane.best.parameters);
    }
    if (wanted.last_weights) {
      result.blobs["weights/last"] = weight_bytes(lane.last.parameters);
    }
    if (wanted.network_file) {
      result.blobs["file.safetensors"] = io::encode_safetensors(
          models::to_tensor_file(spec, *group.suite, group.blueprint.layout, lane, run_json(run, result)));
    }
    if (wanted.epoch_table) {
      result.blobs["epochs.csv"] = epoch_table(lane, rows);
    }
    return result;
  }

  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override;

 private:
  // A mask takes as long to draw as some epochs to train, and runs that differ in split and rates share it.
  measures::FlopCount masked_flops(const Spec& spec, const tasks::TaskSuite& suite) const {
    static std::mutex mutex;
    static std::map<std::tuple<std::string, double, std::uint64_t>, measures::FlopCount> known;
    const std::tuple key(models::block_key(spec), spec.density, spec.seed);
    {
      const std::lock_guard lock(mutex);
      if (const auto found = known.find(key); found != known.end()) {
        return found->second;
      }
    }
    const measures::FlopCount counted = measures::count_flops(spec, suite);
    const std::lock_guard lock(mutex);
    return known.emplace(key, counted).first->second;
  }
};

// Trains blocks of lanes, or networks on images one by one.
template <typename Spec>
class TrainingWork : public Work {
 public:
  using Kind = TrainingKind<Spec>;
  using Group = typename Kind::Group;

  TrainingWork(const Kind& kind, std::span<const Run> runs, Resources resources, const Wanted& wanted)
      : kind_(kind), runs_(runs), resources_(std::move(resources)), wanted_(wanted) {
    std::map<const Values::Row*, std::size_t> group_of_row;
    std::map<std::string, std::size_t> group_of_key;
    for (std::uint32_t at = 0; at < runs.size(); ++at) {
      const auto [known, is_new] = group_of_row.emplace(runs[at].values.row(), 0);
      if (is_new) {
        known->second = find_group(kind.spec_of(runs[at].values), group_of_key);
      }
      Group& group = groups_[known->second];
      group.runs.push_back(at);
      total_epochs_ += group.blueprint.block.epochs;
    }
    pack_blocks();
  }

  double estimate_seconds() override {
    double total = 0;
    std::map<std::string, std::vector<double>> known;
    for (const Group& group : groups_) {
      total += kind_.estimate(runs_, group, wanted_, *resources_.kernels, known);
    }
    // Threads share memory and the store, which a calibration does not.
    constexpr double kThreadEfficiency = 0.93;
    return total / (resources_.threads == 1 ? 1 : resources_.threads * kThreadEfficiency);
  }

  void execute(const Sink& sink) override {
    parallel_for(blocks_.size(), resources_.threads, [&](std::size_t at) {
      if (progress_.stop) {
        return;
      }
      try {
        train(blocks_[at], sink);
      } catch (...) {
        progress_.stop = true;  // the others need not train what nobody can take
        throw;
      }
    });
  }

  Status status(double seconds) const override {
    return networks_trained(progress_.epochs_done, total_epochs_, runs_.size(), seconds);
  }
  void stop() override { progress_.stop = true; }

 private:
  struct Block {
    std::uint32_t group;
    std::uint32_t first;
    std::uint32_t count;
  };

  std::size_t find_group(const Spec& spec, std::map<std::string, std::size_t>& group_of_key) {
    const auto [known, is_new] = group_of_key.emplace(models::block_key(spec), groups_.size());
    if (is_new) {
      const auto suite = tasks::cached_task(spec.task);
      kind_.check_data(spec, *suite);
      groups_.push_back({models::make_blueprint(spec, *suite), suite, measures::count_flops(spec, *suite), {}});
    }
    return known->second;
  }

  // In a shuffled order, so that the work done so far tells how long the rest will take.
  void pack_blocks() {
    constexpr std::uint64_t kShuffleSeed = 1;
    const auto most = static_cast<std::uint32_t>(models::block_size(Spec{}, *resources_.kernels));
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      const auto count = static_cast<std::uint32_t>(groups_[group].runs.size());
      for (std::uint32_t first = 0; first < count; first += most) {
        blocks_.push_back({group, first, std::min(most, count - first)});
      }
    }
    RandomSequence random(kShuffleSeed, Stream::kBatchOrder);
    for (std::size_t left = blocks_.size(); left > 1; --left) {
      std::swap(blocks_[left - 1], blocks_[random.next_word() % left]);
    }
  }

  void train(const Block& block, const Sink& sink) {
    const Group& group = groups_[block.group];
    std::vector<Spec> specs;
    for (std::uint32_t lane = 0; lane < block.count; ++lane) {
      specs.push_back(kind_.spec_of(runs_[group.runs[block.first + lane]].values));
    }
    std::vector<engine::LaneResult> lanes =
        models::train_one_block(specs, group.blueprint, *group.suite, *resources_.kernels, progress_);
    std::vector<FinishedRun> finished;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {  // none if it was asked to stop
      const Run& run = runs_[group.runs[block.first + lane]];
      finished.push_back(
          {&run, kind_.finish(run, specs[lane], group, std::move(lanes[lane]), wanted_, *resources_.kernels)});
    }
    if (!finished.empty()) {
      sink(std::move(finished));
    }
  }

  const Kind& kind_;
  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<Group> groups_;
  std::vector<Block> blocks_;
  std::int64_t total_epochs_ = 0;
  engine::Progress progress_;
};

template <typename Spec>
std::unique_ptr<Work> TrainingKind<Spec>::prepare(std::span<const Run> runs, const Resources& resources,
                                                  const Wanted& wanted) const {
  return std::make_unique<TrainingWork<Spec>>(*this, runs, resources, wanted);
}

}  // namespace modlab::experiments

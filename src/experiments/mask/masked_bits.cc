#include "experiments/mask/masked_bits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/thread_seconds.h"
#include "experiments/mask/given_to_mask.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/task_facts.h"
#include "measures/flops.h"
#include "methods/mask/masked_bits.h"
#include "models/population.h"
#include "models/training_settings-inl.h"
#include "models/training_settings.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using methods::BitsMasking;
using methods::MaskOutcome;
using settings::SpecSetting;

models::RunSpec dense_network() {
  models::RunSpec spec;
  spec.model = models::ModelKind::kDense;
  return spec;
}

// A network that is trained, and masks over it.
struct MaskedBitsSpec {
  models::RunSpec network = dense_network();
  methods::MaskSpec mask = small_masks();
  std::string targets = "outputs";
  bool controls = true;
};

SpecSetting<MaskedBitsSpec> model_row() {
  return models::row<MaskedBitsSpec>(
      "model", "masked", "masked: a network is trained, frozen, and masked for each target", models::kNamed,
      [](MaskedBitsSpec&, const std::string& text) {
        if (text != methods::kMaskedModel) {
          throw ConfigError(fmt::format("model '{}' is not masked", text));
        }
      },
      [](const MaskedBitsSpec&) { return nlohmann::json(methods::kMaskedModel); },
      {.role = settings::Setting::Role::kModel});
}

std::vector<SpecSetting<MaskedBitsSpec>> masked_bits_rows() {
  std::vector<SpecSetting<MaskedBitsSpec>> rows = {model_row()};
  for (SpecSetting<MaskedBitsSpec>& row : settings::rows_of_part(models::bit_settings(), &MaskedBitsSpec::network)) {
    // What is masked is a model of its own.
    if (row.setting.role == settings::Setting::Role::kModel) {
      row.setting.name = "network";
      row.setting.help = "what is masked: dense, sparse, modular, modular-fc, modular-shared, modular-shared-fcms";
      row.setting.role = settings::Setting::Role::kPlain;
      row.setting.is_chooser = true;
    }
    rows.push_back(std::move(row));
  }
  std::ranges::move(settings::rows_of_part(methods::mask_settings(), &MaskedBitsSpec::mask), std::back_inserter(rows));
  rows.push_back(models::row<MaskedBitsSpec>(
      "targets", "WHAT", "what masks are for: outputs, tasks, groups as a+b/c, or a CSV of target, row, output",
      models::kNamed, [](MaskedBitsSpec& spec, const std::string& text) { spec.targets = text; },
      [](const MaskedBitsSpec& spec) { return nlohmann::json(spec.targets); }));
  rows.push_back(models::row<MaskedBitsSpec>(
      "controls", "true|false", "train every mask twice, and one on the network before its training", models::kPlain,
      [](MaskedBitsSpec& spec, const std::string& text) { spec.controls = settings::read_truth("controls", text); },
      [](const MaskedBitsSpec& spec) { return nlohmann::json(spec.controls); }));
  return rows;
}

const settings::SpecTable<MaskedBitsSpec>& masked_bits_settings() {
  static const settings::SpecTable<MaskedBitsSpec> kTable(masked_bits_rows());
  return kTable;
}

MaskedBitsSpec masked_bits_spec(const Values& values) {
  MaskedBitsSpec spec;
  masked_bits_settings().read(values, spec);
  return spec;
}

// Networks of one shape that are masked in one way: they are trained and masked side by side.
struct Group {
  std::shared_ptr<const tasks::TaskSuite> suite;
  models::Blueprint blueprint;
  BitsMasking masking;
  std::vector<bool> related;  // pairs of targets
  std::vector<std::size_t> runs;
};

class MaskedBitsWork : public Work {
 public:
  MaskedBitsWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : runs_(runs), resources_(resources), wanted_(wanted) {
    std::map<std::string, std::size_t> known;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      specs_.push_back(masked_bits_spec(runs[run].values));
      const auto [found, is_new] = known.emplace(key_of(specs_.back()), groups_.size());
      if (is_new) {
        groups_.push_back(std::make_unique<Group>(make_group(specs_.back())));
      }
      Group& group = *groups_[found->second];
      group.runs.push_back(run);
      total_steps_ += static_cast<std::int64_t>(methods::mask_count(group.masking)) * group.masking.spec.steps;
    }
    const auto lanes = static_cast<std::size_t>(resources.kernels->lanes);
    for (const std::unique_ptr<Group>& group : groups_) {
      for (std::size_t first = 0; first < group->runs.size(); first += lanes) {
        blocks_.push_back({group.get(), first, std::min(lanes, group->runs.size() - first)});
      }
    }
  }

  // From some steps of one block of each group.
  double estimate_seconds() override {
    constexpr int kSteps = 20;
    double total = 0;
    for (const std::unique_ptr<Group>& group : groups_) {
      Group tried = *group;
      tried.masking.blueprint = &tried.blueprint;
      tried.masking.spec.beta = 1e-4;
      tried.masking.controls = false;
      const std::size_t blocks_of_masks =
          (methods::mask_count(group->masking) * group->runs.size() + lanes() - 1) / lanes();
      methods::MaskProgress progress;
      std::vector<methods::NetworkToMask> one(std::min(lanes(), group->runs.size()));
      for (methods::NetworkToMask& network : one) {
        network.weights =
            models::make_lane(specs_[group->runs.front()].network, group->blueprint, *group->suite).initial;
      }
      const auto time_steps = [&](int steps) {
        tried.masking.spec.steps = steps;
        const double begin = thread_seconds();
        methods::mask_networks(tried.masking, one, 1, *resources_.kernels, progress);
        return thread_seconds() - begin;
      };
      const double once = time_steps(1);
      const double step = std::max(0.0, time_steps(1 + kSteps) - once) / kSteps;
      const std::size_t tried_blocks = (methods::mask_count(tried.masking) * one.size() + lanes() - 1) / lanes();
      total += static_cast<double>(blocks_of_masks) * (once + step * group->masking.spec.steps) /
               static_cast<double>(tried_blocks);
      total += network_seconds(*group);
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    parallel_for(blocks_.size(), resources_.threads, [&](std::size_t at) {
      if (training_.stop) {
        return;
      }
      try {
        finish_block(blocks_[at], sink);
      } catch (...) {
        stop();
        throw;
      }
    });
  }

  Status status(double /*seconds*/) const override {
    const auto done = static_cast<double>(masking_.steps.load());
    return {done / static_cast<double>(std::max<std::int64_t>(1, total_steps_)),
            fmt::format("{} of {} networks masked", finished_.load(), runs_.size())};
  }
  void stop() override {
    training_.stop = true;
    masking_.stop = true;
  }

 private:
  struct Block {
    const Group* group;
    std::size_t first;
    std::size_t count;
  };

  std::size_t lanes() const { return static_cast<std::size_t>(resources_.kernels->lanes); }

  static std::string key_of(const MaskedBitsSpec& spec) {
    std::string key = models::block_key(spec.network) + spec.targets + (spec.controls ? "\n1\n" : "\n0\n");
    for (const auto& [name, value] : methods::mask_settings().by_name(spec.mask)) {
      key += value.dump() + '\n';
    }
    return key;
  }

  static Group make_group(const MaskedBitsSpec& spec) {
    Group group{
        .suite = tasks::cached_task(spec.network.task), .blueprint = {}, .masking = {}, .related = {}, .runs = {}};
    group.blueprint = models::make_blueprint(spec.network, *group.suite);
    group.masking = {.blueprint = nullptr,
                     .whole = methods::whole_target(*group.suite),
                     .targets = methods::mask_targets(spec.targets, *group.suite),
                     .spec = spec.mask,
                     .controls = spec.controls};
    methods::masked_parameters(group.blueprint.layout, spec.mask);  // says what does not fit
    group.related = methods::need_common_gate(group.masking.targets, *group.suite);
    return group;
  }

  // What training the networks themselves takes.
  double network_seconds(const Group& group) const {
    constexpr int kEpochs = 5;
    std::vector<models::RunSpec> specs(std::min(lanes(), group.runs.size()), specs_[group.runs.front()].network);
    models::Blueprint blueprint = group.blueprint;
    engine::Progress progress;
    blueprint.block.epochs = kEpochs;
    const double begin = thread_seconds();
    models::train_one_block(specs, blueprint, *group.suite, *resources_.kernels, progress);
    const double blocks = std::ceil(static_cast<double>(group.runs.size()) / static_cast<double>(lanes()));
    return blocks * (thread_seconds() - begin) * group.blueprint.block.epochs / kEpochs;
  }

  void finish_block(const Block& block, const Sink& sink) {
    const double begin = thread_seconds();
    const Group& group = *block.group;
    BitsMasking masking = group.masking;
    masking.blueprint = &group.blueprint;
    std::vector<models::RunSpec> specs;
    for (std::size_t at = 0; at < block.count; ++at) {
      specs.push_back(specs_[group.runs[block.first + at]].network);
    }
    const std::vector<engine::LaneResult> trained =
        models::train_one_block(specs, group.blueprint, *group.suite, *resources_.kernels, training_);
    std::vector<methods::NetworkToMask> networks;
    for (std::size_t at = 0; at < trained.size(); ++at) {  // none if it was asked to stop
      networks.push_back({.weights = trained[at].best.parameters,
                          .untrained = masking.controls ? untrained_weights(specs[at], group.blueprint, *group.suite)
                                                        : std::vector<float>{},
                          .seed = specs[at].seed});
    }
    if (networks.empty()) {
      return;
    }
    const std::vector<MaskOutcome> outcomes =
        methods::mask_networks(masking, networks, 1, *resources_.kernels, masking_);
    const double share = (thread_seconds() - begin) / static_cast<double>(block.count);
    std::vector<FinishedRun> finished;
    for (std::size_t at = 0; at < outcomes.size(); ++at) {
      const Run& run = runs_[group.runs[block.first + at]];
      finished.push_back({&run, record(run, group, networks[at], trained[at].diverged, outcomes[at], share)});
    }
    if (!finished.empty()) {
      sink(std::move(finished));
      finished_ += block.count;
    }
  }

  Result record(const Run& run, const Group& group, const methods::NetworkToMask& network, bool diverged,
                const MaskOutcome& outcome, double seconds) const {
    Result result;
    result.diverged = diverged;
    result.seconds = seconds;
    result.snapshots["best"] =
        mask_numbers(outcome, group.related, std::holds_alternative<models::MlpShape>(group.blueprint.shape));
    result.blobs["details"] = mask_json(outcome).dump();
    if (wanted_.best_weights) {
      result.blobs[kMaskPicture] = mask_picture(outcome).dump();
    }
    if (wanted_.network_file) {
      const methods::MaskedParameters masked = methods::masked_parameters(group.blueprint.layout, group.masking.spec);
      add_mask_files(group.blueprint.layout, masked, network.weights, outcome, run.kind->run_json(run, result),
                     result.blobs);
    }
    return result;
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<MaskedBitsSpec> specs_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Block> blocks_;
  std::int64_t total_steps_ = 0;
  engine::Progress training_;
  methods::MaskProgress masking_;
  std::atomic<std::size_t> finished_{0};
};

class MaskedBits : public MaskKind {
 public:
  std::string_view name() const override { return "masked-bits"; }
  std::string_view title() const override { return "Networks on truth tables that are masked (model masked)"; }
  std::span<const Setting> settings() const override { return masked_bits_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = mask_measures();
    return kMeasures;
  }
  bool takes(const std::string& task) const override { return !tasks::cached_task(task)->images(); }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    MaskedBitsSpec spec;
    for (const char* chooser : {"task", "network"}) {
      if (const auto found = given.find(chooser); found != given.end()) {
        masked_bits_settings().set(spec, chooser, found->second);
      }
    }
    return masked_bits_settings().settings_for(spec);
  }
  Values resolve(const Given& given) const override {
    MaskedBitsSpec spec;
    masked_bits_settings().apply(given, spec);
    methods::check(spec.mask);
    if (spec.mask.active) {
      throw ConfigError("active_set: is for masks over large networks (tasks add-mul, double-addition)");
    }
    if (spec.mask.clip_of == methods::MaskClip::kPublished) {
      throw ConfigError("clip_of: published is for masks over the paper's networks (tasks add-mul, double-addition)");
    }
    const auto suite = tasks::cached_task(spec.network.task);
    spec.network = modlab::models::resolve(spec.network, *suite);
    methods::mask_targets(spec.targets, *suite);
    return masked_bits_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return masked_bits_settings().by_name(MaskedBitsSpec{});
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = masked_bits_settings().by_name(MaskedBitsSpec{});
      defaults.erase("model");
      return defaults;
    }();
    return kDefaults;
  }
  int side_by_side() const override { return kMostLanes; }
  // The network, and a mask for everything and for each target, with its controls.
  double effort(const Run& run) const override {
    const MaskedBitsSpec spec = masked_bits_spec(run.values);
    const auto suite = tasks::cached_task(spec.network.task);
    const measures::FlopCount flops = measures::count_flops(spec.network, *suite, measures::Counting::kExact);
    const int rows = modlab::models::part_rows(spec.network, *suite).train;
    const double masks = 1.0 + static_cast<double>(methods::mask_targets(spec.targets, *suite).size());
    const auto flops_of = [&](int steps, int batch_size) {
      return measures::training_flops(flops, steps, batch_size, batch_size, measures::Counting::kExact);
    };
    return measures::training_flops(flops, spec.network.epochs, rows, spec.network.batch_size,
                                    measures::Counting::kExact) +
           masks * (spec.controls ? 3 : 1) * flops_of(spec.mask.steps, spec.mask.batch_size);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedBitsWork>(runs, resources, wanted);
  }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, true); }
};

}  // namespace

const Experiment& masked_bits() {
  static const MaskedBits kKind;
  return kKind;
}

}  // namespace modlab::experiments

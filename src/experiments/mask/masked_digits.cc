#include "experiments/mask/masked_digits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/thread_seconds.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "methods/mask/masked_digits.h"
#include "models/training_settings-inl.h"

namespace modlab::experiments {
namespace {

using methods::DigitMaskingSpec;
using methods::MaskedDigits;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using nlohmann::json;
using settings::read_integer;
using settings::SpecSetting;
using settings::Word;

constexpr Word<tasks::Arithmetic> kTasks[] = {{"add-mul", tasks::Arithmetic::kAddMul},
                                              {"double-addition", tasks::Arithmetic::kDoubleAddition}};
constexpr Word<modlab::models::DigitNetworkKind> kNetworks[] = {{"fnn", modlab::models::DigitNetworkKind::kFnn},
                                                                {"lstm", modlab::models::DigitNetworkKind::kLstm}};
constexpr Word<modlab::models::PairMode> kModes[] = {
    {"together", modlab::models::PairMode::kTogether},      {"only-one-io", modlab::models::PairMode::kOnlyOneIo},
    {"only-one", modlab::models::PairMode::kOnlyOne},       {"same-input", modlab::models::PairMode::kSameInput},
    {"same-output", modlab::models::PairMode::kSameOutput}, {"same-io", modlab::models::PairMode::kSameIo},
    {"forced", modlab::models::PairMode::kOnlyOneIo}};

bool is_fnn(const DigitMaskingSpec& spec) { return spec.task.network == modlab::models::DigitNetworkKind::kFnn; }
bool is_lstm(const DigitMaskingSpec& spec) { return !is_fnn(spec); }
bool is_double(const DigitMaskingSpec& spec) { return spec.task.kind == tasks::Arithmetic::kDoubleAddition; }

SpecSetting<DigitMaskingSpec> only_for(SpecSetting<DigitMaskingSpec> made, bool (*applies)(const DigitMaskingSpec&),
                                       const char* of) {
  made.applies = applies;
  made.setting.of = of;
  return made;
}

template <int DigitMaskingSpec::*kMember>
SpecSetting<DigitMaskingSpec> whole_number(const char* name, const char* help, long long high, unsigned traits) {
  static const char* const kName = name;
  static const long long kHigh = high;
  static const std::string kAllowed = fmt::format("a whole number from 1 to {}", high);
  return row<DigitMaskingSpec>(
      name, "N", help, traits,
      [](DigitMaskingSpec& spec, const std::string& text) {
        spec.*kMember = static_cast<int>(read_integer(kName, text, 1, kHigh, kAllowed.c_str()));
      },
      [](const DigitMaskingSpec& spec) { return json(spec.*kMember); });
}

SpecSetting<DigitMaskingSpec> chooser(SpecSetting<DigitMaskingSpec> made) {
  made.setting.is_chooser = true;
  return made;
}

std::vector<SpecSetting<DigitMaskingSpec>> task_rows() {
  return {
      row<DigitMaskingSpec>(
          "task", "NAME", "add-mul (sums and products) or double-addition (two sums at once)", kNamed,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.task.kind = settings::read_word("task", text, kTasks);
          },
          [](const DigitMaskingSpec& spec) { return json(settings::word_for(spec.task.kind, kTasks)); },
          {.role = Setting::Role::kTask}),
      row<DigitMaskingSpec>(
          "model", "masked", "masked: a network is trained, frozen, and masked for each target", kNamed,
          [](DigitMaskingSpec&, const std::string& text) {
            if (text != methods::kMaskedModel) {
              throw ConfigError(fmt::format("model '{}' is not masked", text));
            }
          },
          [](const DigitMaskingSpec&) { return json(methods::kMaskedModel); }, {.role = Setting::Role::kModel}),
      chooser(row<DigitMaskingSpec>(
          "network", "fnn|lstm", "what is masked: fully connected layers, or LSTM cells", kNamed,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.task.network = settings::read_word("network", text, kNetworks);
          },
          [](const DigitMaskingSpec& spec) { return json(settings::word_for(spec.task.network, kNetworks)); })),
      row<DigitMaskingSpec>(
          "seed", "N", "seed of initial weights, batches and masks", modlab::models::kFree,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                                "a whole number that is not negative"));
          },
          [](const DigitMaskingSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
      row<DigitMaskingSpec>(
          "digits", "N", "digits of a number", kNamed,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.task.digits =
                static_cast<int>(read_integer("digits", text, 1, tasks::kMaxDigits10, "a whole number from 1 to 4"));
          },
          [](const DigitMaskingSpec& spec) { return json(spec.task.digits); }),
  };
}

std::vector<SpecSetting<DigitMaskingSpec>> network_rows() {
  return {
      only_for(row<DigitMaskingSpec>(
                   "hidden", "WIDTHS", "hidden layers of a feed-forward network", kList | kNamed,
                   [](DigitMaskingSpec& spec, const std::string& text) {
                     spec.hidden = settings::read_sizes("hidden", text);
                   },
                   [](const DigitMaskingSpec& spec) { return json(spec.hidden); }, {.label = "hidden units"}),
               &is_fnn, "fnn"),
      only_for(whole_number<&DigitMaskingSpec::state>("state", "units of an LSTM cell", settings::kMaxWidth, kNamed),
               &is_lstm, "lstm"),
      only_for(whole_number<&DigitMaskingSpec::layers>("layers", "LSTM cells one above the other", 8, kNamed), &is_lstm,
               "lstm"),
      only_for(
          row<DigitMaskingSpec>(
              "pair_mode", "MODE",
              "how an LSTM is shown two sums: together, only-one-io (one after the other, forced), only-one, "
              "same-input, same-output, same-io",
              kNamed,
              [](DigitMaskingSpec& spec, const std::string& text) {
                spec.task.mode = settings::read_word("pair_mode", text, kModes);
              },
              [](const DigitMaskingSpec& spec) { return json(settings::word_for(spec.task.mode, kModes)); }),
          [](const DigitMaskingSpec& spec) { return is_lstm(spec) && is_double(spec); }, "lstm, double-addition"),
      only_for(
          row<DigitMaskingSpec>(
              "copy_weights", "true|false",
              "after training give the first sum the second one's input and output weights", kPlain,
              [](DigitMaskingSpec& spec, const std::string& text) {
                spec.copy_weights = settings::read_truth("copy_weights", text);
              },
              [](const DigitMaskingSpec& spec) { return json(spec.copy_weights); }),
          [](const DigitMaskingSpec& spec) { return is_fnn(spec) && is_double(spec); }, "fnn, double-addition"),
      only_for(row<DigitMaskingSpec>(
                   "delay", "N", "training steps for which the first of two sums is learned alone", kPlain,
                   [](DigitMaskingSpec& spec, const std::string& text) {
                     spec.delay = static_cast<int>(
                         read_integer("delay", text, 0, 10'000'000, "a whole number that is not negative"));
                   },
                   [](const DigitMaskingSpec& spec) { return json(spec.delay); }),
               &is_double, "double-addition"),
      whole_number<&DigitMaskingSpec::steps>("steps", "training steps of the network", 10'000'000, kNamed),
      whole_number<&DigitMaskingSpec::batch_size>("batch_size", "samples of such a step", 65'536, kPlain),
      row<DigitMaskingSpec>(
          "lr", "RATE", "learning rate of the network", kPlain,
          [](DigitMaskingSpec& spec, const std::string& text) { spec.lr = settings::read_rate("lr", text); },
          [](const DigitMaskingSpec& spec) { return json(spec.lr); }),
      row<DigitMaskingSpec>(
          "clip", "LENGTH", "length that the network's gradient is cut to", kPlain,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.clip = settings::read_real("clip", text, 1e-9, 1e9, "a positive number");
          },
          [](const DigitMaskingSpec& spec) { return json(spec.clip); }),
      row<DigitMaskingSpec>(
          "controls", "true|false", "train every mask twice, and one on the network before its training", kPlain,
          [](DigitMaskingSpec& spec, const std::string& text) {
            spec.controls = settings::read_truth("controls", text);
          },
          [](const DigitMaskingSpec& spec) { return json(spec.controls); }),
  };
}

const settings::SpecTable<DigitMaskingSpec>& masked_digits_settings() {
  static const settings::SpecTable<DigitMaskingSpec> kTable([] {
    std::vector<SpecSetting<DigitMaskingSpec>> rows = task_rows();
    std::ranges::move(network_rows(), std::back_inserter(rows));
    std::ranges::move(settings::rows_of_part(methods::mask_settings(), &DigitMaskingSpec::mask),
                      std::back_inserter(rows));
    return rows;
  }());
  return kTable;
}

// Feed-forward networks with two passes are published with a larger weight of the penalty.
constexpr double kDoubleAdditionBeta = 4e-4;

DigitMaskingSpec start_spec(const Given& given) {
  DigitMaskingSpec spec;
  for (const char* chooser : {"task", "network"}) {
    if (const auto found = given.find(chooser); found != given.end()) {
      masked_digits_settings().set(spec, chooser, found->second);
    }
  }
  if (is_double(spec) && is_fnn(spec)) {
    spec.mask.beta = kDoubleAdditionBeta;
  }
  return spec;
}

DigitMaskingSpec digit_spec(const Values& values) {
  DigitMaskingSpec spec;
  masked_digits_settings().read(values, spec);
  return spec;
}

class MaskedDigitsWork : public SoloMaskWork {
 public:
  MaskedDigitsWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    for (const Run& run : runs) {
      specs_.push_back(digit_spec(run.values));
      methods::masked_parameters(modlab::models::digit_layout(methods::digit_shape(specs_.back())), specs_.back().mask);
      add_steps(methods::all_steps(specs_.back()));
    }
  }

  double estimate_seconds() override {
    std::map<std::string, methods::DigitStepSeconds> known;
    double total = 0;
    for (const DigitMaskingSpec& spec : specs_) {
      DigitMaskingSpec shape = spec;
      shape.seed = 0;
      const auto [found, is_new] = known.try_emplace(masked_digits_settings().shared_key(shape));
      if (is_new) {
        found->second = methods::digit_step_seconds(shape, *resources().kernels);
      }
      total += spec.steps * found->second.weights +
               static_cast<double>(methods::all_steps(spec) - spec.steps) * found->second.mask;
    }
    return total / resources().threads;
  }

 private:
  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const std::optional<MaskedDigits> masked =
        methods::mask_digits(specs_[at], threads, *resources().kernels, progress, unfinished(at));
    if (!masked) {
      return std::nullopt;
    }
    return record(run(at), specs_[at], *masked, thread_seconds() - begin);
  }

  Result record(const Run& run, const DigitMaskingSpec& spec, const MaskedDigits& masked, double seconds) const {
    Result result;
    result.seconds = seconds;
    Numbers& numbers = result.snapshots["best"] = mask_numbers(masked.outcome);
    add_pair_numbers(masked.outcome, numbers);
    numbers["everything"] = masked.everything;
    numbers["half_full"] = masked.halves.full;
    numbers["drop_early"] = masked.halves.full - masked.halves.early;
    numbers["drop_late"] = masked.halves.full - masked.halves.late;
    numbers["early_above_late"] = masked.halves.late - masked.halves.early;
    result.blobs["details"] = mask_json(masked.outcome).dump();
    if (wanted_.best_weights) {
      result.blobs[kMaskPicture] = mask_picture(masked.outcome).dump();
    }
    if (wanted_.network_file) {
      const engine::Layout layout = modlab::models::digit_layout(methods::digit_shape(spec));
      add_mask_files(layout, methods::masked_parameters(layout, spec.mask), masked.weights, masked.outcome,
                     run.kind->run_json(run, result), result.blobs);
    }
    return result;
  }

  Wanted wanted_;
  std::vector<DigitMaskingSpec> specs_;
};

void check_masked_digits(const methods::MaskSpec& spec) {
  methods::check_solo(spec);
  if (!has_bits(spec) && (spec.active || spec.clip_of == methods::MaskClip::kPublished)) {
    throw ConfigError(
        "active_set and clip_of published are for masks of one bit for each weight; leave them out, or sampler "
        "hard-concrete and grain unit");
  }
}

class MaskedDigitsKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-digits"; }
  std::string_view title() const override {
    return "Networks on arithmetic that are masked (model masked, tasks add-mul and double-addition)";
  }
  std::span<const Setting> settings() const override { return masked_digits_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = mask_measures();
      std::ranges::move(pair_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  bool takes(const std::string& task) const override {
    const std::vector<std::string> names = own_task_names(*this);
    return std::ranges::find(names, task) != names.end();
  }
  std::vector<OwnTask> own_tasks() const override {
    return {{"add-mul", "sums and products of two numbers, one of which is asked for"},
            {"double-addition", "two sums at once"}};
  }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    return masked_digits_settings().settings_for(start_spec(given));
  }
  Values resolve(const Given& given) const override {
    DigitMaskingSpec spec = start_spec(given);
    masked_digits_settings().apply(given, spec);
    check_masked_digits(spec.mask);
    return masked_digits_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = masked_digits_settings().by_name(DigitMaskingSpec{});
    defaults["beta"] = nullptr;
    return defaults;
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = masked_digits_settings().by_name(DigitMaskingSpec{});
      for (const char* always : {"model", "task", "network", "beta"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const DigitMaskingSpec spec = digit_spec(run.values);
    constexpr double kOperations = 6;  // of a weight forward and backward
    return kOperations * size_of(run).at("parameters") * spec.batch_size *
           static_cast<double>(methods::all_steps(spec));
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedDigitsWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    const engine::Layout layout = modlab::models::digit_layout(methods::digit_shape(digit_spec(run.values)));
    return {{"parameters", static_cast<double>(layout.count)}};
  }
};

}  // namespace

const Experiment& masked_digits() {
  static const MaskedDigitsKind kKind;
  return kKind;
}

}  // namespace modlab::experiments

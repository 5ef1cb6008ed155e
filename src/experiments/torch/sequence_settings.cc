#include "experiments/torch/sequence_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/errors.h"
#include "experiments/torch/torch_settings.h"
#include "methods/mask/mask_settings.h"
#include "models/training_settings-inl.h"
#include "tasks/mathematics.h"
#include "tasks/scan.h"

namespace modlab::experiments {
namespace {

using modlab::models::kFree;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using modlab::models::SequenceNetworkKind;
using modlab::models::SequenceShape;
using nlohmann::json;
using settings::Given;
using settings::read_integer;
using settings::Setting;
using settings::SpecSetting;
using settings::Values;
using settings::Word;

constexpr Word<int> kSequenceTasks[] = {{kScan, -1},           {"math/add_or_sub", 0},
                                        {"math/linear_1d", 1}, {"math/differentiate", 2},
                                        {"math/sort", 3},      {"math/collect", 4}};
constexpr Word<SequenceNetworkKind> kSequenceNetworks[] = {{"lstm", SequenceNetworkKind::kLstm},
                                                           {"transformer", SequenceNetworkKind::kTransformer}};
constexpr Word<int> kTrainedOn[] = {{"simple", 0}, {"jump", 1}, {"length", 2}, {"turn_left", 3}};

// What Mathematics was published with. The penalty is divided by the batch of the masks here and by that of the network
// there, so that where the two differ its weight is another number for the same penalty.
struct PublishedModule {
  int batch_size;
  int mask_batch;
  double beta;
  int steps;
  int mask_steps;
  double mask_lr;
  int warmup;
};
constexpr PublishedModule kPublishedModules[] = {
    {256, 256, 2e-5, 30'000, 30'000, 0.03, 0},
    {512, 400, 1e-6 * 400 / 512, 200'000, 50'000, 0.02, 5000},
    {128, 128, 1e-5, 40'000, 40'000, 0.03, 0},
    {256, 256, 3e-6, 30'000, 30'000, 0.03, 0},
    {128, 256, 1e-6 * 256 / 128, 200'000, 50'000, 0.02, 5000},
};

bool is_scan(const SequenceMaskingSpec& spec) { return spec.is_scan(); }
bool is_math(const SequenceMaskingSpec& spec) { return !spec.is_scan(); }
bool is_lstm_spec(const SequenceMaskingSpec& spec) { return spec.is_lstm(); }
bool is_transformer_spec(const SequenceMaskingSpec& spec) { return !spec.is_lstm(); }

SpecSetting<SequenceMaskingSpec> only_of(SpecSetting<SequenceMaskingSpec> made,
                                         bool (*applies)(const SequenceMaskingSpec&), const char* of) {
  made.applies = applies;
  made.setting.of = of;
  return made;
}

template <int SequenceMaskingSpec::*kMember>
SpecSetting<SequenceMaskingSpec> count_row(const char* name, const char* help, long long low, long long high,
                                           unsigned traits) {
  static const std::string kName = name;
  static const std::pair<long long, long long> kRange = {low, high};
  static const std::string kAllowed = fmt::format("a whole number from {} to {}", low, high);
  return row<SequenceMaskingSpec>(
      name, "N", help, traits,
      [](SequenceMaskingSpec& spec, const std::string& text) {
        spec.*kMember =
            static_cast<int>(read_integer(kName.c_str(), text, kRange.first, kRange.second, kAllowed.c_str()));
      },
      [](const SequenceMaskingSpec& spec) { return json(spec.*kMember); });
}

std::vector<SpecSetting<SequenceMaskingSpec>> sequence_task_rows() {
  std::vector<SpecSetting<SequenceMaskingSpec>> rows = {
      row<SequenceMaskingSpec>(
          "task", "NAME",
          "scan, or questions of school mathematics: math/add_or_sub, math/linear_1d, math/differentiate, math/sort, "
          "math/collect",
          kNamed,
          [](SequenceMaskingSpec& spec, const std::string& text) {
            spec.module = settings::read_word("task", text, kSequenceTasks);
          },
          [](const SequenceMaskingSpec& spec) { return json(settings::word_for(spec.module, kSequenceTasks)); },
          {.role = Setting::Role::kTask}),
      row<SequenceMaskingSpec>(
          "model", "masked", "masked: a network is trained, frozen, and masked for each part of its task", kNamed,
          [](SequenceMaskingSpec&, const std::string& text) {
            if (text != methods::kMaskedModel) {
              throw ConfigError(fmt::format("model '{}' is not masked", text));
            }
          },
          [](const SequenceMaskingSpec&) { return json(methods::kMaskedModel); }, {.role = Setting::Role::kModel}),
      row<SequenceMaskingSpec>(
          "network", "lstm|transformer", "what is masked: an encoder and a decoder; Mathematics has transformers alone",
          kNamed,
          [](SequenceMaskingSpec& spec, const std::string& text) {
            spec.network = settings::read_word("network", text, kSequenceNetworks);
          },
          [](const SequenceMaskingSpec& spec) { return json(settings::word_for(spec.network, kSequenceNetworks)); }),
      row<SequenceMaskingSpec>(
          "seed", "N", "seed of initial weights, batches and masks", kFree,
          [](SequenceMaskingSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                                "a whole number that is not negative"));
          },
          [](const SequenceMaskingSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
      only_of(
          row<SequenceMaskingSpec>(
              "trained_on", "SPLIT",
              "simple: the network learns from that and is masked for the others; jump, length or turn_left: it "
              "learns from that alone and is not masked",
              kNamed,
              [](SequenceMaskingSpec& spec, const std::string& text) {
                spec.trained_on = settings::read_word("trained_on", text, kTrainedOn);
              },
              [](const SequenceMaskingSpec& spec) { return json(settings::word_for(spec.trained_on, kTrainedOn)); }),
          &is_scan, "scan"),
      row<SequenceMaskingSpec>(
          "files", "FILES",
          "published files: of scan tasks_train_simple.txt,tasks_test_simple.txt; of math a module's easy, medium and "
          "hard training questions; default: drawn",
          kList,
          [](SequenceMaskingSpec& spec, const std::string& text) { spec.files = settings::read_files("files", text); },
          [](const SequenceMaskingSpec& spec) { return json(spec.files); }),
      row<SequenceMaskingSpec>(
          "contents", "HASH", "of these files, found by itself: other contents are other runs", kNamed,
          [](SequenceMaskingSpec& spec, const std::string& text) { spec.contents = text; },
          [](const SequenceMaskingSpec& spec) { return json(spec.contents); }),
      only_of(count_row<&SequenceMaskingSpec::questions>(
                  "questions", "questions of each difficulty, if they are drawn, or as many as there are", 10,
                  5'000'000, kNamed),
              &is_math, "math"),
      only_of(count_row<&SequenceMaskingSpec::tests>("tests", "questions of each difficulty that are tested on", 1,
                                                     1'000'000, kPlain),
              &is_math, "math"),
  };
  rows[2].setting.is_chooser = true;
  return rows;
}

std::vector<SpecSetting<SequenceMaskingSpec>> sequence_network_rows() {
  using Spec = SequenceMaskingSpec;
  return {
      only_of(count_row<&Spec::state>("state", "units of an LSTM cell", 1, settings::kMaxWidth, kNamed), &is_lstm_spec,
              "lstm"),
      only_of(count_row<&Spec::embedding>("embedding", "numbers that an LSTM reads a token as", 1, settings::kMaxWidth,
                                          kNamed),
              &is_lstm_spec, "lstm"),
      only_of(count_row<&Spec::width>("width", "numbers of a token in all layers", 2, settings::kMaxWidth, kNamed),
              &is_transformer_spec, "transformer"),
      only_of(count_row<&Spec::inner>("inner", "units of a feed-forward part", 1, 4 * settings::kMaxWidth, kNamed),
              &is_transformer_spec, "transformer"),
      only_of(count_row<&Spec::heads>("heads", "heads of an attention", 1, 64, kNamed), &is_transformer_spec,
              "transformer"),
      count_row<&Spec::layers>("layers", "layers of the encoder, and as many of the decoder", 1, 16, kNamed),
      row<Spec>(
          "dropout", "SHARE", "of numbers, left out while the network is trained; masks are trained without", kNamed,
          [](Spec& spec, const std::string& text) {
            spec.dropout = settings::read_real("dropout", text, 0, 0.99, "a number from 0 to 0.99");
          },
          [](const Spec& spec) { return json(spec.dropout); }),
      count_row<&Spec::steps>("steps", "training steps of the network", 1, 10'000'000, kNamed),
      count_row<&Spec::batch_size>("batch_size", "samples of such a step", 1, 65'536, kPlain),
      row<Spec>(
          "lr", "RATE", "learning rate of the network", kNamed,
          [](Spec& spec, const std::string& text) { spec.lr = settings::read_rate("lr", text); },
          [](const Spec& spec) { return json(spec.lr); }),
      count_row<&Spec::warmup>("warmup", "steps in which that rate rises from 0", 0, 10'000'000, kPlain),
      row<Spec>(
          "clip", "LENGTH", "length that the network's gradient is cut to", kPlain,
          [](Spec& spec, const std::string& text) {
            spec.clip = settings::read_real("clip", text, 1e-9, 1e9, "a positive number");
          },
          [](const Spec& spec) { return json(spec.clip); }),
      device_row<SequenceMaskingSpec>(),
      row<Spec>(
          "controls", "true|false", "train every mask twice", kPlain,
          [](Spec& spec, const std::string& text) { spec.controls = settings::read_truth("controls", text); },
          [](const Spec& spec) { return json(spec.controls); }),
  };
}

}  // namespace

const settings::SpecTable<SequenceMaskingSpec>& sequence_settings() {
  static const settings::SpecTable<SequenceMaskingSpec> kTable([] {
    std::vector<SpecSetting<SequenceMaskingSpec>> rows = sequence_task_rows();
    std::ranges::move(sequence_network_rows(), std::back_inserter(rows));
    std::ranges::move(settings::rows_of_part(methods::mask_settings(), &SequenceMaskingSpec::mask),
                      std::back_inserter(rows));
    return rows;
  }());
  return kTable;
}

SequenceMaskingSpec published_spec(const Given& given) {
  SequenceMaskingSpec spec;
  if (const auto task = given.find("task"); task != given.end()) {
    sequence_settings().set(spec, "task", task->second);
  }
  if (!spec.is_scan()) {
    spec.network = SequenceNetworkKind::kTransformer;
  }
  if (const auto network = given.find("network"); network != given.end()) {
    sequence_settings().set(spec, "network", network->second);
  }
  if (!spec.is_lstm()) {
    spec.layers = 3;
    spec.dropout = 0.1;
    spec.mask.beta = 6e-4;
  }
  if (!spec.is_scan()) {
    const PublishedModule& published = kPublishedModules[spec.module];
    spec.width = 256;
    spec.inner = 512;
    spec.batch_size = published.batch_size;
    spec.steps = published.steps;
    spec.lr = 1e-4;
    spec.warmup = published.warmup;
    spec.clip = 1;
    spec.mask.steps = published.mask_steps;
    spec.mask.batch_size = published.mask_batch;
    spec.mask.samples = 8;
    spec.mask.lr = published.mask_lr;
    spec.mask.beta = published.beta;
    spec.mask.clip = 1;
  }
  return spec;
}

SequenceMaskingSpec sequence_spec(const Values& values) {
  SequenceMaskingSpec spec;
  sequence_settings().read(values, spec);
  return spec;
}

SequenceShape shape_of(const SequenceMaskingSpec& spec) {
  constexpr int kLetters = tasks::kLastLetter - tasks::kFirstLetter + 1;
  return {.kind = spec.network,
          .input_tokens = spec.is_scan() ? static_cast<int>(tasks::kScanWords.size()) : kLetters,
          .output_tokens = spec.is_scan() ? static_cast<int>(tasks::kScanActions.size()) : kLetters,
          .layers = spec.layers,
          .embedding = spec.embedding,
          .width = spec.is_lstm() ? spec.state : spec.width,
          .inner = spec.inner,
          .heads = spec.heads,
          .shares_embedding = !spec.is_scan(),
          .dropout = spec.dropout};
}

methods::TorchTraining training_of(const SequenceMaskingSpec& spec) {
  methods::TorchTraining training{.optimizer = {.lr = spec.lr, .clip = spec.clip},
                                  .steps = spec.steps,
                                  .batch_size = spec.batch_size,
                                  .seed = spec.seed};
  if (!spec.is_scan()) {
    training.optimizer.beta2 = 0.995;
    training.optimizer.epsilon = 1e-9;
  }
  if (spec.warmup > 0) {
    training.rate_factor = [steps = spec.warmup](int step) {
      return std::min(1.0, static_cast<double>(step + 1) / steps);
    };
  }
  return training;
}

void check_sequences(const SequenceMaskingSpec& spec) {
  if (!spec.is_scan() && spec.is_lstm()) {
    throw ConfigError("network: questions of mathematics are for network transformer");
  }
  if (!spec.is_lstm() && (spec.width % spec.heads != 0 || spec.width % 2 != 0)) {
    throw ConfigError(fmt::format("width: {} is not even, or not divided by {} heads", spec.width, spec.heads));
  }
  const std::size_t files = spec.is_scan() ? 2 : tasks::kMathDifficulties.size();
  if (!spec.files.empty() && spec.files.size() != files) {
    throw ConfigError(fmt::format("files: {} files are given where {} has {}", spec.files.size(),
                                  settings::word_for(spec.module, kSequenceTasks),
                                  spec.is_scan() ? "two, to train on and to test on" : "three: easy, medium and hard"));
  }
  check_torch_masks(spec.mask);
}

}  // namespace modlab::experiments

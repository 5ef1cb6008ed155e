#include "experiments/torch/masked_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/errors.h"
#include "core/notice.h"
#include "core/sha256.h"
#include "core/thread_seconds.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "experiments/torch/sequence_record.h"
#include "io/file.h"
#include "methods/torch/flat_mask_trainer.h"
#include "methods/torch/sequence_parts.h"
#include "methods/torch/torch_masking.h"
#include "methods/torch/torch_training.h"
#include "models/training_settings-inl.h"

namespace modlab::experiments {
namespace {

using methods::SequenceParts;
using modlab::models::kFree;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using modlab::models::SequenceNetworkKind;
using modlab::models::SequenceShape;
using modlab::models::TorchNetwork;
using nlohmann::json;
using settings::read_integer;
using settings::SpecSetting;
using settings::Word;

constexpr auto kScan = "scan";
constexpr Word<int> kSequenceTasks[] = {{kScan, -1},           {"math/add_or_sub", 0},
                                        {"math/linear_1d", 1}, {"math/differentiate", 2},
                                        {"math/sort", 3},      {"math/collect", 4}};
constexpr Word<SequenceNetworkKind> kSequenceNetworks[] = {{"lstm", SequenceNetworkKind::kLstm},
                                                           {"transformer", SequenceNetworkKind::kTransformer}};
constexpr Word<int> kTrainedOn[] = {{"simple", 0}, {"jump", 1}, {"length", 2}, {"turn_left", 3}};
constexpr Word<std::string_view> kSequenceDevices[] = {{"cpu", "cpu"}, {"cuda", "cuda"}};
constexpr std::size_t kMostFileBytes = 1'000'000'000;

struct SequenceMaskingSpec {
  int module = -1;  // of tasks::MathModule; -1: SCAN
  SequenceNetworkKind network = SequenceNetworkKind::kLstm;
  std::uint64_t seed = 0;
  int trained_on = 0;              // of methods::kScanSplits
  std::vector<std::string> files;  // of the simple split, or easy, medium and hard questions
  std::string contents;            // of the files, as a hash
  int questions = 666'666;         // of each difficulty, where they are drawn
  int tests = 10'000;              // of each difficulty
  int embedding = 16;
  int state = 200;
  int width = 100;
  int inner = 200;
  int heads = 4;
  int layers = 2;
  double dropout = 0.5;
  int steps = 25'000;
  int batch_size = 256;
  double lr = 1e-3;
  int warmup = 0;
  double clip = 5;
  std::string_view device = "cpu";
  bool controls = false;
  methods::MaskSpec mask = {
      .steps = 25'000, .batch_size = 256, .beta = 3e-5, .clip = 5, .exclude = {"no-bias", "no-embedding"}};

  bool is_scan() const { return module < 0; }
  bool is_lstm() const { return network == SequenceNetworkKind::kLstm; }
};

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
      only_of(count_row<&SequenceMaskingSpec::questions>("questions", "questions of each difficulty, if they are drawn",
                                                         10, 5'000'000, kNamed),
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
      row<Spec>(
          "device", "cpu|cuda", "where libtorch computes", kPlain,
          [](Spec& spec, const std::string& text) {
            spec.device = settings::read_word("device", text, kSequenceDevices);
          },
          [](const Spec& spec) { return json(std::string(spec.device)); }),
      row<Spec>(
          "controls", "true|false", "train every mask twice", kPlain,
          [](Spec& spec, const std::string& text) { spec.controls = settings::read_truth("controls", text); },
          [](const Spec& spec) { return json(spec.controls); }),
  };
}

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

// What a task and a network of it are published with.
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
constexpr const char* kDecidedByTask[] = {"network",    "width",      "inner",   "layers",   "dropout", "steps",
                                          "batch_size", "lr",         "clip",    "warmup",   "beta",    "mask_steps",
                                          "mask_lr",    "mask_batch", "samples", "mask_clip"};

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

std::string contents_of_files(const std::vector<std::string>& files) {
  constexpr std::size_t kDigits = 16;
  std::string text;
  for (const std::string& file : files) {
    text += sha256_hex(io::read_file(file, kMostFileBytes));
  }
  return text.empty() ? "" : sha256_hex(text).substr(0, kDigits);
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
  methods::check_solo(spec.mask);
  if (spec.mask.active) {
    throw ConfigError("active_set: is for networks on arithmetic; leave it out");
  }
  if (spec.mask.clip_of == methods::MaskClip::kPublished) {
    throw ConfigError("clip_of: published is for networks on arithmetic; leave it out");
  }
}

// Everything that is tested, one part after the other: first the targets, then what no mask is for.
struct SequenceTests {
  std::vector<std::size_t> counts;
  std::size_t targets = 0;

  methods::TorchJudgement judge(const std::vector<float>& said) const {
    methods::TorchJudgement judgement;
    double all = 0;
    std::size_t first = 0;
    for (std::size_t test = 0; test < counts.size(); ++test) {
      double right = 0;
      for (std::size_t place = first; place < first + counts[test]; ++place) {
        right += said[place];
      }
      first += counts[test];
      all += right;
      (test < targets ? judgement.accuracy : judgement.other)
          .push_back(100 * right / static_cast<double>(counts[test]));
    }
    judgement.everything = 100 * all / static_cast<double>(said.size());
    return judgement;
  }
};

methods::TorchMasking masking_of(const SequenceMaskingSpec& spec, const SequenceParts& parts) {
  methods::TorchMasking masking{
      .spec = spec.mask, .seed = spec.seed, .masks = spec.trained_on == 0, .controls = spec.controls};
  std::vector<std::string> targets = {"easy"};
  if (spec.is_scan()) {
    masking.whole = {methods::kScanSplits[0], parts.part(methods::kScanSplits[0]).train};
    targets.assign(std::begin(methods::kScanSplits) + 1, std::end(methods::kScanSplits));
  } else {
    masking.whole = {"all", parts.all_train()};
  }
  SequenceTests tests;
  const auto test_on = [&](const methods::SequencePart& part) {
    masking.tests.insert(masking.tests.end(), part.test.begin(), part.test.end());
    tests.counts.push_back(part.test.size());
  };
  for (const std::string& target : targets) {
    masking.targets.push_back({target, parts.part(target).train});
    test_on(parts.part(target));
  }
  tests.targets = targets.size();
  for (const methods::SequencePart& part : parts.parts) {
    if (std::ranges::find(targets, part.name) == targets.end()) {
      masking.other_tests.push_back(part.name);
      test_on(part);
    }
  }
  masking.judge = [tests](const std::vector<float>& said) { return tests.judge(said); };
  return masking;
}

class MaskedSequencesWork : public SoloMaskWork {
 public:
  MaskedSequencesWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    for (const Run& run : runs) {
      const SequenceMaskingSpec& spec = specs_.emplace_back(sequence_spec(run.values));
      methods::masked_parameters(modlab::models::sequence_layout(shape_of(spec)), spec.mask);
      parts_.push_back(parts_of(spec));
      add_steps(spec.steps + methods::all_steps(masking_of(spec, *parts_.back())));
    }
    open(0, 1);  // what does not fit is said before anything is trained
  }

  double estimate_seconds() override {
    std::map<std::string, StepSeconds> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(sequence_settings().shared_key(specs_[at]));
      if (is_new) {
        found->second = step_seconds(at);
      }
      total += specs_[at].steps * found->second.weights +
               static_cast<double>(methods::all_steps(masking_of(specs_[at], *parts_[at]))) * found->second.mask;
    }
    return total / resources().threads;
  }

 private:
  struct StepSeconds {
    double weights = 0;
    double mask = 0;
  };

  StepSeconds step_seconds(std::size_t at) const {
    constexpr std::uint32_t kSteps = 2;
    const SequenceMaskingSpec& spec = specs_[at];
    const auto network = open(at, 1);
    const std::vector<float> weights = network->initial();
    const std::vector<std::uint32_t> rows = rows_of_weights(at);
    std::vector<std::uint32_t> batch(static_cast<std::size_t>(std::max(spec.batch_size, spec.mask.batch_size)));
    for (std::size_t place = 0; place < batch.size(); ++place) {
      batch[place] = rows[place * rows.size() / batch.size()];
    }
    const methods::MaskedParameters masked = methods::masked_parameters(network->layout(), spec.mask);
    methods::FlatMaskTrainer trainer(*network, masked, weights,
                                     std::vector<float>(static_cast<std::size_t>(masked.logits), 2.0F), spec.mask, 0, 0,
                                     0, engine::solo::masked_kernels_for(resources().kernels->target));
    std::vector<float> gradients(weights.size());
    StepSeconds seconds;
    // The first steps wait for memory, and the others have the answer shown or not, by turns.
    for (std::uint32_t step = 0; step <= kSteps; ++step) {
      const double begin = thread_seconds();
      network->gradient(weights,
                        {.rows = std::span(batch).first(static_cast<std::size_t>(spec.batch_size)),
                         .trains_weights = true,
                         .step_noise = step % 2 == 0 ? 0 : ~std::uint64_t{0}},
                        {}, gradients);
      const double between = thread_seconds();
      trainer.step(std::span(batch).first(static_cast<std::size_t>(spec.mask.batch_size)), {});
      if (step > 0) {
        seconds.weights += (between - begin) / kSteps;
        seconds.mask += (thread_seconds() - between) / kSteps;
      }
    }
    return seconds;
  }

  std::vector<std::uint32_t> rows_of_weights(std::size_t at) const {
    return specs_[at].is_scan() ? parts_[at]->part(methods::kScanSplits[specs_[at].trained_on]).train
                                : parts_[at]->all_train();
  }

  std::shared_ptr<const SequenceParts> parts_of(const SequenceMaskingSpec& spec) {
    std::shared_ptr<const SequenceParts>& known =
        known_[fmt::format("{} {} {} {}", spec.module, spec.contents, spec.questions, spec.tests)];
    if (known != nullptr) {
      return known;
    }
    if (contents_of_files(spec.files) != spec.contents) {
      throw ConfigError("files: they are not what they were when this run was planned");
    }
    if (spec.files.empty()) {
      give_notice(spec.is_scan() ? "the simple split of SCAN is drawn here: the official one is known by its files "
                                   "alone (--files tasks_train_simple.txt,tasks_test_simple.txt)"
                                 : "questions are drawn here: published ones are in files (--files EASY,MEDIUM,HARD)");
    }
    known = std::make_shared<const SequenceParts>(
        spec.is_scan()
            ? methods::scan_parts(spec.files)
            : methods::math_parts(static_cast<tasks::MathModule>(spec.module), spec.files, spec.questions, spec.tests));
    return known;
  }

  std::unique_ptr<TorchNetwork> open(std::size_t at, int threads) const {
    return modlab::models::torch_library().open_sequences(shape_of(specs_[at]), parts_[at]->samples, specs_[at].seed,
                                                          {std::string(specs_[at].device), threads});
  }

  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const SequenceMaskingSpec& spec = specs_[at];
    const auto network = open(at, threads);
    const std::optional<std::vector<float>> weights = methods::train_on_torch(
        *network, network->initial(), rows_of_weights(at), training_of(spec), progress, unfinished(at));
    if (!weights) {
      return std::nullopt;
    }
    const std::optional<methods::MaskOutcome> outcome = methods::mask_on_torch(
        *network, *weights, masking_of(spec, *parts_[at]), *resources().kernels, progress, unfinished(at));
    if (!outcome) {
      return std::nullopt;
    }
    Result result;
    Numbers& numbers = result.snapshots["best"] = mask_numbers(*outcome, {}, false);
    if (spec.is_scan()) {
      add_scan_numbers(*outcome, methods::kScanSplits[spec.trained_on], numbers);
    } else {
      add_math_numbers(*outcome, numbers);
    }
    result.blobs["details"] = mask_json(*outcome).dump();
    if (wanted_.best_weights && !outcome->stages.empty()) {
      result.blobs[kMaskPicture] = mask_picture(*outcome).dump();
    }
    result.seconds = thread_seconds() - begin;
    if (wanted_.network_file) {
      add_mask_files(network->layout(), methods::masked_parameters(network->layout(), spec.mask), *weights, *outcome,
                     run(at).kind->run_json(run(at), result), result.blobs);
    }
    return result;
  }

  Wanted wanted_;
  std::vector<SequenceMaskingSpec> specs_;
  std::vector<std::shared_ptr<const SequenceParts>> parts_;  // [run]
  std::map<std::string, std::shared_ptr<const SequenceParts>> known_;
};

class MaskedSequencesKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-sequences"; }
  std::string_view title() const override {
    return "Networks on sequences that are masked (model masked, tasks scan and math/...)";
  }
  std::span<const Setting> settings() const override { return sequence_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = mask_measures();
      std::ranges::move(sequence_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return {"control_accuracy", "control_accuracy", "", "", ""}; }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "Accuracies are of whole sequences: without a mask, under the control mask, of what a part tests under the "
           "mask of what it trains on, and under others'. `modlab mask` says more of each.";
  }
  std::string table_title() const override { return "Accuracy under the control mask, mean ± standard error"; }
  bool takes(const std::string& task) const override {
    const std::vector<std::string> names = own_task_names(*this);
    return std::ranges::find(names, task) != names.end();
  }
  std::vector<OwnTask> own_tasks() const override {
    return {{kScan, "commands in words, answered with a sequence of actions"},
            {"math/add_or_sub", "sums and differences, as texts"},
            {"math/linear_1d", "linear equations with one unknown, as texts"},
            {"math/differentiate", "derivatives of polynomials, as texts"},
            {"math/sort", "lists of numbers to put in order, as texts"},
            {"math/collect", "polynomials whose terms are to be collected, as texts"}};
  }
  bool is_replayable() const override { return false; }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    return sequence_settings().settings_for(published_spec(given));
  }
  Values resolve(const Given& given) const override {
    SequenceMaskingSpec spec = published_spec(given);
    sequence_settings().apply(given, spec);
    check_sequences(spec);
    if (spec.contents.empty()) {
      spec.contents = contents_of_files(spec.files);
    }
    return sequence_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = sequence_settings().by_name(SequenceMaskingSpec{});
    for (const char* decided : kDecidedByTask) {
      defaults[decided] = nullptr;
    }
    return defaults;
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = sequence_settings().by_name(SequenceMaskingSpec{});
      for (const char* always : {"model", "task", "network"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const SequenceMaskingSpec spec = sequence_spec(run.values);
    constexpr double kOperations = 6;  // of a weight forward and backward
    constexpr double kTokens = 25;     // of a question and its answer
    const double masks = spec.trained_on != 0 ? 0 : (spec.is_scan() ? 4 : 2);
    return kOperations * kTokens * size_of(run).at("parameters") *
           (static_cast<double>(spec.steps) * spec.batch_size +
            masks * static_cast<double>(spec.mask.steps) * spec.mask.batch_size);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedSequencesWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    const engine::Layout layout = modlab::models::sequence_layout(shape_of(sequence_spec(run.values)));
    return {{"parameters", static_cast<double>(layout.count)}};
  }
};

}  // namespace

const Experiment& masked_sequences() {
  static const MaskedSequencesKind kKind;
  return kKind;
}

}  // namespace modlab::experiments

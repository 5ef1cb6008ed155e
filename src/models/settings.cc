#include "models/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::models {
namespace {

using engine::Gumbel;
using engine::LossKind;
using engine::OptimizerKind;
using engine::Schedule;
using nlohmann::json;

// A population larger than this is a slip of the pen.
constexpr long long kMaxRange = 10'000'000;
constexpr int kMaxWidth = 4096;
constexpr int kMaxLevels = 64;
constexpr int kMaxImageSlots = 64;

double read_real(const char* name, const std::string& text, double low, double high, const char* allowed) {
  const std::optional<double> value = parse_real(text);
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    throw ConfigError(fmt::format("{} must be {}, not '{}'", name, allowed, text));
  }
  return *value;
}

long long read_integer(const char* name, const std::string& text, long long low, long long high, const char* allowed) {
  const std::optional<long long> value = parse_integer(text);
  if (!value || *value < low || *value > high) {
    throw ConfigError(fmt::format("{} must be {}, not '{}'", name, allowed, text));
  }
  return *value;
}

double read_rate(const char* name, const std::string& text) {
  return read_real(name, text, 0, 1e6, "a number that is not negative");
}

bool read_truth(const char* name, const std::string& text) {
  const std::optional<bool> value = parse_truth(text);
  if (!value) {
    throw ConfigError(fmt::format("{} must be true or false, not '{}'", name, text));
  }
  return *value;
}

std::vector<int> read_sizes(const char* name, const std::string& text, const char* allowed) {
  std::vector<int> sizes;
  for (const std::string& part : split_text(text, ',')) {
    sizes.push_back(static_cast<int>(read_integer(name, part, 1, kMaxWidth, allowed)));
  }
  if (sizes.size() > kMaxLevels) {
    throw ConfigError(fmt::format("{} has {} entries; at most {} are possible", name, sizes.size(), kMaxLevels));
  }
  return sizes;
}

int read_samples(const char* name, const std::string& text) {
  return static_cast<int>(read_integer(name, text, 1, 1'000'000, "a whole number from 1 to 1000000"));
}

// First steps of pruning, in percent.
std::vector<double> read_steps(const char* name, const std::string& text) {
  std::vector<double> steps;
  for (const std::string& part : split_text(text, ',')) {
    steps.push_back(read_real(name, part, 0, 100, "a list of percentages, such as 2.5,1"));
    if (std::ranges::count(steps, steps.back()) > 1) {
      throw ConfigError(fmt::format("{} has {} twice", name, part));
    }
  }
  if (steps.size() > 1 && std::ranges::count(steps, 0.0) > 0) {
    throw ConfigError(fmt::format("{} has a step of 0, which prunes nothing, among others", name));
  }
  return steps;
}

std::vector<std::string> read_files(const char* name, const std::string& text) {
  std::vector<std::string> files;
  for (const std::string& file : split_text(text, ',')) {
    if (file.empty()) {
      throw ConfigError(fmt::format("{} '{}' has a file without a name", name, text));
    }
    files.push_back(file);
  }
  return files;
}

// The words of an enumeration. Later words for the same value are aliases.
template <typename Value>
struct Word {
  const char* text;
  Value value;
};

template <typename Value, std::size_t kCount>
Value read_word(const char* name, const std::string& text, const Word<Value> (&words)[kCount]) {
  std::vector<std::string> known;
  for (const Word<Value>& word : words) {
    if (text == word.text) {
      return word.value;
    }
    known.emplace_back(word.text);
  }
  const std::string nearest = did_you_mean(text, known);
  throw ConfigError(fmt::format("unknown {} '{}'{}", name, text,
                                nearest.empty() ? "; it is one of " + join_text(known, ", ") : nearest));
}

template <typename Value, std::size_t kCount>
std::string word_for(Value value, const Word<Value> (&words)[kCount]) {
  for (const Word<Value>& word : words) {
    if (word.value == value) {
      return word.text;
    }
  }
  return "";
}

constexpr Word<ModelKind> kModels[] = {{"dense", ModelKind::kDense},
                                       {"sparse", ModelKind::kSparse},
                                       {"modular", ModelKind::kModular},
                                       {"modular-fc", ModelKind::kModularFc},
                                       {"modular-shared", ModelKind::kShared},
                                       {"modular-shared-fcms", ModelKind::kSharedFcms},
                                       {"cnn", ModelKind::kCnn},
                                       {"sculpted", ModelKind::kSculpted}};
constexpr Word<ImageModule> kImageModules[] = {
    {"mlp", ImageModule::kMlp}, {"conv", ImageModule::kConvolution}, {"cnn", ImageModule::kConvolution}};
constexpr Word<Gumbel> kGumbels[] = {{"off", Gumbel::kOff}, {"batch", Gumbel::kBatch}, {"sample", Gumbel::kSample}};
constexpr Word<Init> kInits[] = {
    {"torch", Init::kTorch}, {"xavier", Init::kXavier}, {"kaiming", Init::kKaiming}, {"torch_default", Init::kTorch}};
constexpr Word<TaskInput> kTaskInputs[] = {{"onehot", TaskInput::kOneHot}, {"scalar", TaskInput::kScalar}};
constexpr Word<bool> kOutputsFrom[] = {{"last", false}, {"all", true}};
constexpr Word<OptimizerKind> kOptimizers[] = {
    {"adam", OptimizerKind::kAdam},         {"adamw", OptimizerKind::kAdamW},     {"sgd", OptimizerKind::kSgd},
    {"momentum", OptimizerKind::kMomentum}, {"rmsprop", OptimizerKind::kRmsprop}, {"rms", OptimizerKind::kRmsprop},
    {"nesterov", OptimizerKind::kMomentum}};
constexpr Word<LossKind> kLosses[] = {
    {"bce", LossKind::kBce}, {"mse", LossKind::kMse}, {"BCE", LossKind::kBce}, {"MSE", LossKind::kMse}};
constexpr Word<Schedule> kSchedules[] = {{"constant", Schedule::kConstant},
                                         {"exponential", Schedule::kExponential},
                                         {"cosine", Schedule::kCosine},
                                         {"exp", Schedule::kExponential}};

constexpr Word<UnitScore> kUnitScores[] = {{"loss-sensitivity", UnitScore::kLossSensitivity},
                                           {"output-sensitivity", UnitScore::kOutputSensitivity},
                                           {"weight-activation", UnitScore::kWeightActivation},
                                           {"weight", UnitScore::kWeight},
                                           {"activation-deviation", UnitScore::kActivationDeviation},
                                           {"path-product", UnitScore::kPathProduct},
                                           {"random", UnitScore::kRandom},
                                           {"activation_gradient_product", UnitScore::kLossSensitivity}};
constexpr Word<ScoreNorm> kScoreNorms[] = {{"none", ScoreNorm::kNone},
                                           {"mean-deviation", ScoreNorm::kMeanDeviation},
                                           {"mean", ScoreNorm::kMean},
                                           {"deviation", ScoreNorm::kDeviation},
                                           {"sum", ScoreNorm::kSum},
                                           {"units-below", ScoreNorm::kUnitsBelow},
                                           {"units", ScoreNorm::kUnits},
                                           {"None", ScoreNorm::kNone},
                                           {"mean_std", ScoreNorm::kMeanDeviation},
                                           {"std", ScoreNorm::kDeviation},
                                           {"sum_scores", ScoreNorm::kSum},
                                           {"prev_num_units", ScoreNorm::kUnitsBelow},
                                           {"num_units", ScoreNorm::kUnits}};
constexpr Word<ScoreScale> kScoreScales[] = {{"global", ScoreScale::kGlobal},
                                             {"local", ScoreScale::kLocal},
                                             {"local-global", ScoreScale::kLocalGlobal},
                                             {"local_global", ScoreScale::kLocalGlobal}};
constexpr Word<PruneSchedule> kPruneSchedules[] = {{"linear", PruneSchedule::kLinear},
                                                   {"lottery", PruneSchedule::kLottery},
                                                   {"exponential", PruneSchedule::kExponential},
                                                   {"cosine", PruneSchedule::kCosine},
                                                   {"cubic", PruneSchedule::kCubic},
                                                   {"lth", PruneSchedule::kLottery}};
constexpr Word<Checkpoint> kCheckpoints[] = {{"lowest-loss", Checkpoint::kLowestLoss},
                                             {"published", Checkpoint::kPublished}};

constexpr auto kSizes = "a list of whole numbers from 1 to 4096, such as 3,2";

template <typename Choice>
std::string words_of() {
  return join_text(choice_names<Choice>(), ", ");
}

const std::vector<Setting>& table() {
  using Scope = Setting::Scope;
  static const std::vector<Setting> kTable = {
      {"task", "NAME|FILE", "built-in task (see `modlab graph`), YAML task file or CSV truth table", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) { spec.task = text; },
       [](const RunSpec& spec) { return json(spec.task); }},
      {"model", "NAME",
       "dense, sparse, modular, modular-fc, modular-shared, modular-shared-fcms; cnn on images; sculpted", Scope::kAll,
       false, [](RunSpec& spec, const std::string& text) { spec.model = read_word("model", text, kModels); },
       [](const RunSpec& spec) { return json(model_name(spec.model)); }},
      {"ratio", "R", "share of the rows (images: of the digit combinations) to train on; the rest is halved",
       Scope::kUnsculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.ratio = read_real("ratio", text, 0, 1, "a number between 0 and 1");
       },
       [](const RunSpec& spec) { return json(spec.ratio); }},
      {"split_seed", "N", "seed of the published split into train, validation and test rows", Scope::kUnsculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.split_seed = static_cast<std::uint32_t>(
             read_integer("split_seed", text, 0, 0xffffffffLL, "a whole number from 0 to 4294967295"));
       },
       [](const RunSpec& spec) { return json(spec.split_seed); }},
      {"seed", "N", "training seed: initial weights, mask, batch order and noise", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) {
         spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                             "a whole number that is not negative"));
       },
       [](const RunSpec& spec) { return json(spec.seed); }},
      {"epochs", "N", "passes over the training rows", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) {
         spec.epochs = static_cast<int>(read_integer("epochs", text, 1, 10'000'000, "a whole number from 1"));
       },
       [](const RunSpec& spec) { return json(spec.epochs); }},
      {"batch_size", "N", "rows in an update; at or above the number of training rows: all of them", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) {
         spec.batch_size =
             static_cast<int>(read_integer("batch_size", text, 1, 1'000'000'000, "a whole number from 1"));
       },
       [](const RunSpec& spec) { return json(spec.batch_size); }},
      {"lr", "RATE", "learning rate of weights and biases", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) { spec.lr = read_rate("lr", text); },
       [](const RunSpec& spec) { return json(spec.lr); }},
      {"lr_structural", "RATE", "learning rate of all selection vectors: sets lr_input and lr_module", Scope::kModular,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.lr_input = spec.lr_module = read_rate("lr_structural", text);
       },
       // Shown as one number only where it is one.
       [](const RunSpec& spec) { return spec.lr_input == spec.lr_module ? json(spec.lr_input) : json(nullptr); }},
      {"lr_input", "RATE", "learning rate of the input and output selection vectors", Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) { spec.lr_input = read_rate("lr_input", text); },
       [](const RunSpec& spec) { return json(spec.lr_input); }},
      {"lr_module", "RATE", "learning rate of the vectors that select pool modules", Scope::kPool, false,
       [](RunSpec& spec, const std::string& text) { spec.lr_module = read_rate("lr_module", text); },
       [](const RunSpec& spec) { return json(spec.lr_module); }},
      {"weight_decay", "D", "L2 weight decay, added to every gradient (adamw: decoupled)", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) { spec.weight_decay = read_rate("weight_decay", text); },
       [](const RunSpec& spec) { return json(spec.weight_decay); }},
      {"decay_structural", "true|false", "whether weight decay also falls on selection vectors, as published",
       Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) { spec.decay_structural = read_truth("decay_structural", text); },
       [](const RunSpec& spec) { return json(spec.decay_structural); }},
      {"tau", "T|none", "temperature of the selection vectors' soft gradient; it never changes a pick", Scope::kModular,
       false,
       [](RunSpec& spec, const std::string& text) {
         if (text == "none") {
           spec.tau.reset();
         } else {
           spec.tau = read_real("tau", text, 1e-6, 1e6, "a positive number or none");
         }
       },
       [](const RunSpec& spec) { return spec.tau ? json(*spec.tau) : json(nullptr); }},
      {"noise", "SD", "standard deviation of the noise on training inputs", Scope::kBits, false,
       [](RunSpec& spec, const std::string& text) {
         spec.noise = read_real("noise", text, 0, 1e6, "a number that is not negative");
       },
       [](const RunSpec& spec) { return json(spec.noise); }},
      {"gumbel", "off|batch|sample", "Gumbel noise on selection vectors, drawn for each batch or for each sample",
       Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) { spec.gumbel = read_word("gumbel", text, kGumbels); },
       [](const RunSpec& spec) { return json(word_for(spec.gumbel, kGumbels)); }},
      {"hidden", "WIDTHS", "hidden layers of dense and sparse networks; default: 36 wide, 2 levels - 1 of them",
       Scope::kMlp, true,
       [](RunSpec& spec, const std::string& text) { spec.hidden = read_sizes("hidden", text, kSizes); },
       [](const RunSpec& spec) { return json(spec.hidden); }},
      {"density", "P", "share of the weights that a sparse network keeps", Scope::kSparse, false,
       [](RunSpec& spec, const std::string& text) {
         spec.density = read_real("density", text, 0, 1, "a number between 0 and 1");
       },
       [](const RunSpec& spec) { return json(spec.density); }},
      {"modules", "COUNTS", "modules on each level (modular, modular-fc); default: the task's", Scope::kOwnModules,
       true, [](RunSpec& spec, const std::string& text) { spec.modules = read_sizes("modules", text, kSizes); },
       [](const RunSpec& spec) { return json(spec.modules); }},
      {"slots", "COUNTS", "slots on each level (shared models); default: the task's", Scope::kPool, true,
       [](RunSpec& spec, const std::string& text) { spec.slots = read_sizes("slots", text, kSizes); },
       [](const RunSpec& spec) { return json(spec.slots); }},
      {"pool", "N", "shared modules; default: the task's distinct operations", Scope::kPool, false,
       [](RunSpec& spec, const std::string& text) {
         spec.pool = static_cast<int>(read_integer("pool", text, 1, kMaxWidth, "a whole number from 1 to 4096"));
       },
       [](const RunSpec& spec) { return json(spec.pool); }, true},
      {"module_widths", "WIDTHS", "widths of a module: fan-in, hidden layers, 1; or the hidden layers alone",
       Scope::kModular, true,
       [](RunSpec& spec, const std::string& text) { spec.module_widths = read_sizes("module_widths", text, kSizes); },
       [](const RunSpec& spec) { return json(spec.module_widths); }},
      {"fan_in", "K", "values that each module reads", Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) {
         spec.fan_in = static_cast<int>(read_integer("fan_in", text, 1, kMaxWidth, "a whole number from 1 to 4096"));
       },
       [](const RunSpec& spec) { return json(spec.fan_in); }},
      {"known_inputs", "true|false", "fix what modules read, and the outputs, to the task's routing", Scope::kModular,
       false, [](RunSpec& spec, const std::string& text) { spec.known_inputs = read_truth("known_inputs", text); },
       [](const RunSpec& spec) { return json(spec.known_inputs); }},
      {"known_modules", "true|false", "fix which pool module each slot uses to the task's", Scope::kPool, false,
       [](RunSpec& spec, const std::string& text) { spec.known_modules = read_truth("known_modules", text); },
       [](const RunSpec& spec) { return json(spec.known_modules); }},
      {"known_outputs", "true|false", "fix only which modules are the outputs", Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) { spec.known_outputs = read_truth("known_outputs", text); },
       [](const RunSpec& spec) { return json(spec.known_outputs); }},
      {"outputs_from", "last|all", "whether outputs read the last level or any level", Scope::kModular, false,
       [](RunSpec& spec, const std::string& text) {
         spec.outputs_from_all = read_word("outputs_from", text, kOutputsFrom);
       },
       [](const RunSpec& spec) { return json(word_for(spec.outputs_from_all, kOutputsFrom)); }},
      {"task_input", "onehot|scalar", "how dense and sparse networks are told the task of a suite", Scope::kMlp, false,
       [](RunSpec& spec, const std::string& text) { spec.task_input = read_word("task_input", text, kTaskInputs); },
       [](const RunSpec& spec) { return json(word_for(spec.task_input, kTaskInputs)); }},
      {"init", "torch|xavier|kaiming",
       "initial weights: uniform by fan-in (biases too), or Xavier or Kaiming normal with zero biases", Scope::kAll,
       false, [](RunSpec& spec, const std::string& text) { spec.init = read_word("init", text, kInits); },
       [](const RunSpec& spec) { return json(word_for(spec.init, kInits)); }},
      {"optimizer", "NAME", "adam, adamw, sgd, momentum (Nesterov, 0.9) or rmsprop", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) { spec.optimizer = read_word("optimizer", text, kOptimizers); },
       [](const RunSpec& spec) { return json(word_for(spec.optimizer, kOptimizers)); }},
      {"loss", "bce|mse", "loss on the sigmoid outputs", Scope::kAll, false,
       [](RunSpec& spec, const std::string& text) { spec.loss = read_word("loss", text, kLosses); },
       [](const RunSpec& spec) { return json(word_for(spec.loss, kLosses)); }},
      {"schedule", "NAME", "learning rates by epoch: constant, exponential (times gamma) or cosine", Scope::kUnsculpted,
       false, [](RunSpec& spec, const std::string& text) { spec.schedule = read_word("schedule", text, kSchedules); },
       [](const RunSpec& spec) { return json(word_for(spec.schedule, kSchedules)); }},
      {"gamma", "G", "factor of the exponential schedule", Scope::kUnsculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.gamma = read_real("gamma", text, 1e-6, 1, "a number above 0 and at most 1");
       },
       [](const RunSpec& spec) { return json(spec.gamma); }},
      {"samples", "N", "training samples of each digit combination", Scope::kImages, false,
       [](RunSpec& spec, const std::string& text) { spec.samples = read_samples("samples", text); },
       [](const RunSpec& spec) { return json(spec.samples); }},
      {"test_samples", "N", "validation and test samples of each digit combination", Scope::kImages, false,
       [](RunSpec& spec, const std::string& text) { spec.test_samples = read_samples("test_samples", text); },
       [](const RunSpec& spec) { return json(spec.test_samples); }},
      {"disjoint_validation", "true|false", "validation images that no training sample uses; published: false",
       Scope::kImages, false,
       [](RunSpec& spec, const std::string& text) {
         spec.disjoint_validation = read_truth("disjoint_validation", text);
       },
       [](const RunSpec& spec) { return json(spec.disjoint_validation); }},
      {"normalize", "true|false", "pixels less MNIST's mean, divided by its deviation; published: false",
       Scope::kImages, false,
       [](RunSpec& spec, const std::string& text) { spec.normalize = read_truth("normalize", text); },
       [](const RunSpec& spec) { return json(spec.normalize); }},
      {"images", "FILES", "IDX files (also .gz) of the training and the test images; default: MNIST", Scope::kImages,
       true, [](RunSpec& spec, const std::string& text) { spec.images = read_files("images", text); },
       [](const RunSpec& spec) { return json(spec.images); }},
      {"labels", "FILES", "IDX files of their labels, in the same order", Scope::kImages, true,
       [](RunSpec& spec, const std::string& text) { spec.labels = read_files("labels", text); },
       [](const RunSpec& spec) { return json(spec.labels); }},
      {"image_module", "mlp|conv", "what reads an image: layers on its pixels, or two convolutions",
       Scope::kImageModular, false,
       [](RunSpec& spec, const std::string& text) {
         spec.image_module = read_word("image_module", text, kImageModules);
       },
       [](const RunSpec& spec) { return json(word_for(spec.image_module, kImageModules)); }},
      {"image_widths", "WIDTHS", "widths of an image module: pixels, hidden layers, bits; or the hidden layers alone",
       Scope::kImageModular, true,
       [](RunSpec& spec, const std::string& text) { spec.image_widths = read_sizes("image_widths", text, kSizes); },
       [](const RunSpec& spec) { return json(spec.image_widths); }},
      {"image_slots", "N", "image slots: each reads one image; default: as many as images", Scope::kImageModular, false,
       [](RunSpec& spec, const std::string& text) {
         spec.image_slots =
             static_cast<int>(read_integer("image_slots", text, 1, kMaxImageSlots, "a whole number from 1 to 64"));
       },
       [](const RunSpec& spec) { return json(spec.image_slots); }, true},
      {"image_pool", "N", "shared image modules; default: 1", Scope::kImagePool, false,
       [](RunSpec& spec, const std::string& text) {
         spec.image_pool =
             static_cast<int>(read_integer("image_pool", text, 1, kMaxImageSlots, "a whole number from 1 to 64"));
       },
       [](const RunSpec& spec) { return json(spec.image_pool); }, true},
      {"prune_threshold", "PERCENT", "share of the bits that a pruned network must get right to be accepted",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.threshold = read_real("prune_threshold", text, 0, 100, "a percentage from 0 to 100");
       },
       [](const RunSpec& spec) { return json(spec.sculpt.threshold); }},
      {"unit_steps", "PERCENTS", "first steps of unit pruning (p_u), each combined with each edge step; 0: none",
       Scope::kSculpted, true,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.unit_steps = read_steps("unit_steps", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.unit_steps); }},
      {"edge_steps", "PERCENTS", "first steps of edge pruning (p_e)", Scope::kSculpted, true,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.edge_steps = read_steps("edge_steps", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.edge_steps); }},
      {"unit_score", "NAME",
       "what a unit is worth: loss-sensitivity, output-sensitivity, weight-activation, weight, activation-deviation, "
       "path-product, random",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_score = read_word("unit_score", text, kUnitScores);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_score, kUnitScores)); }},
      {"unit_norm", "NAME",
       "what a layer's scores are divided by: none, mean-deviation, mean, deviation, sum, "
       "units-below, units",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_norm = read_word("unit_norm", text, kScoreNorms);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_norm, kScoreNorms)); }},
      {"unit_scale", "global|local|local-global", "whether units compete with all, within their layer, or with both",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_scale = read_word("unit_scale", text, kScoreScales);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_scale, kScoreScales)); }},
      {"unit_schedule", "NAME", "how steps of unit pruning grow: linear, lottery, exponential, cosine, cubic",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_schedule = read_word("unit_schedule", text, kPruneSchedules);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_schedule, kPruneSchedules)); }},
      {"edge_schedule", "NAME", "the same of edge pruning", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.edge_schedule = read_word("edge_schedule", text, kPruneSchedules);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.edge_schedule, kPruneSchedules)); }},
      {"epoch_search", "true|false", "find the fewest epochs (10 to 120) with which seeds 0 to 3 and this one learn",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.epoch_search = read_truth("epoch_search", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.epoch_search); }},
      {"checkpoint", "lowest-loss|published", "which of the most accurate epochs a training hands on", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.checkpoint = read_word("checkpoint", text, kCheckpoints);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.checkpoint, kCheckpoints)); }},
      {"keep_failed_retraining", "true|false",
       "as published: what is trained between units and edges goes on even below the threshold", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.keep_failed_retraining = read_truth("keep_failed_retraining", text);
       },
       [](const RunSpec& spec) { return json(spec.sculpt.keep_failed_retraining); }},
      {"prune_unlearned", "true|false", "as published: prune dense networks below the threshold too", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.prune_unlearned = read_truth("prune_unlearned", text);
       },
       [](const RunSpec& spec) { return json(spec.sculpt.prune_unlearned); }},
      {"keep_connected", "true|false", "never cut off an input or an output", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.keep_connected = read_truth("keep_connected", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.keep_connected); }},
      {"cluster_features", "WORD",
       "units that a unit is known by when modules are looked for: " + words_of<Direction>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.direction = read_choice<Direction>("cluster_features", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.direction)); }},
      {"cluster_linkage", "WORD", "how clusters of units are compared: " + words_of<Linkage>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.linkage = read_choice<Linkage>("cluster_linkage", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.linkage)); }},
      {"cluster_distance", "WORD", "how units are compared: " + words_of<Distance>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.distance = read_choice<Distance>("cluster_distance", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.distance)); }},
      {"cluster_index", "WORD", "what says how many clusters a layer has: " + words_of<ClusterIndex>(),
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.index = read_choice<ClusterIndex>("cluster_index", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.index)); }},
      {"cluster_threshold", "T", "tests decide where the index is weaker than this", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.threshold = read_real("cluster_threshold", text, 0, 1000, "a number from 0 to 1000");
       },
       [](const RunSpec& spec) { return json(spec.detect.threshold); }},
      {"module_merging", "SHARE", "of edges, beyond which clusters are one module", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.merging = read_real("module_merging", text, 0, 1, "a share from 0 to 1");
       },
       [](const RunSpec& spec) { return json(spec.detect.merging); }},
  };
  return kTable;
}

// "0..99" as the numbers it stands for, or the text itself.
void add_range(const std::string& name, const std::string& text, std::vector<std::string>& values) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    values.push_back(text);
    return;
  }
  const std::optional<long long> first = parse_integer(text.substr(0, dots));
  const std::optional<long long> last = parse_integer(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMaxRange) {
    throw ConfigError(fmt::format("{} '{}' is not a range; write for example 0..99", name, text));
  }
  for (long long value = *first; value <= *last; ++value) {
    values.push_back(std::to_string(value));
  }
}

std::string scope_text(Setting::Scope scope) {
  switch (scope) {
    case Setting::Scope::kAll:
      return "all";
    case Setting::Scope::kUnsculpted:
      return "all but sculpted";
    case Setting::Scope::kSculpted:
      return "sculpted";
    case Setting::Scope::kMlp:
      return "dense, sparse, cnn, sculpted";
    case Setting::Scope::kSparse:
      return "sparse";
    case Setting::Scope::kModular:
      return "modular kinds";
    case Setting::Scope::kOwnModules:
      return "modular, modular-fc";
    case Setting::Scope::kPool:
      return "shared kinds";
    case Setting::Scope::kBits:
      return "all, not on images";
    case Setting::Scope::kImages:
      return "all on images";
    case Setting::Scope::kImageModular:
      return "modular kinds on images";
    case Setting::Scope::kImagePool:
      return "shared kinds on images";
  }
  return "";
}

}  // namespace

std::span<const Setting> settings() { return table(); }

const Setting* find_setting(const std::string& name) {
  std::string wanted = name;
  std::ranges::replace(wanted, '-', '_');
  const auto found = std::ranges::find(table(), wanted, &Setting::name);
  return found == table().end() ? nullptr : &*found;
}

bool applies(const Setting& setting, const RunSpec& spec) {
  switch (setting.scope) {
    case Setting::Scope::kAll:
      return true;
    case Setting::Scope::kUnsculpted:
      return !spec.is_sculpted();
    case Setting::Scope::kSculpted:
      return spec.is_sculpted();
    case Setting::Scope::kMlp:
      return spec.is_mlp();
    case Setting::Scope::kSparse:
      return spec.model == ModelKind::kSparse;
    case Setting::Scope::kModular:
      return !spec.is_mlp();
    case Setting::Scope::kOwnModules:
      return !spec.is_mlp() && !spec.has_pool();
    case Setting::Scope::kPool:
      return spec.has_pool();
    case Setting::Scope::kBits:
      return !spec.on_images;
    case Setting::Scope::kImages:
      return spec.on_images;
    case Setting::Scope::kImageModular:
      return spec.on_images && !spec.is_mlp();
    case Setting::Scope::kImagePool:
      return spec.on_images && spec.has_pool();
  }
  return true;
}

std::vector<std::string> expand_values(const Setting& setting, const std::vector<std::string>& words) {
  std::vector<std::string> values;
  if (setting.is_list) {
    // Words without a comma are the entries of one list, the form of the published flags: --num_modules 3 2.
    if (words.size() > 1 && std::ranges::none_of(words, [](const std::string& word) {
          return word.find_first_of(",;") != std::string::npos;
        })) {
      return {join_text(words, ",")};
    }
    for (const std::string& word : words) {
      for (const std::string& value : split_text(word, ';')) {
        values.push_back(value);
      }
    }
    return values;
  }
  for (const std::string& word : words) {
    for (const std::string& value : split_text(word, ',')) {
      // A path may contain "..", a task is never a range.
      if (setting.name == "task") {
        values.push_back(value);
      } else {
        add_range(setting.name, value, values);
      }
    }
  }
  return values;
}

nlohmann::ordered_json settings_json(const RunSpec& spec) {
  nlohmann::ordered_json object;
  for (const Setting& setting : table()) {
    if (applies(setting, spec)) {
      object[setting.name] = setting.get(spec);
    }
  }
  return object;
}

std::string setting_text(const json& value) {
  if (value.is_null()) {
    return "none";
  }
  if (!value.is_array()) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  std::vector<std::string> entries;
  for (const json& entry : value) {
    entries.push_back(setting_text(entry));
  }
  return join_text(entries, ",");
}

std::string model_name(ModelKind model) { return word_for(model, kModels); }

std::string settings_markdown() {
  const RunSpec defaults;
  const RunSpec image_defaults = starting_spec("mnist-xor-and");
  const RunSpec sculpted_defaults = starting_spec(defaults.task, ModelKind::kSculpted);
  std::string page =
      "# Settings of a run\n\n"
      "Made from the table in `src/models/settings.cc`; `modlab train --help` prints the same. On the command line\n"
      "dashes and underscores are the same. Lists (`0.1,0.01`) and ranges (`0..99`) multiply into a population; for\n"
      "settings whose value is itself a list, `3,2` is one value and `3,2;6,4` are two.\n\n"
      "| setting | value | default | models | meaning |\n|---|---|---|---|---|\n";
  for (const Setting& setting : table()) {
    std::string shown = setting_text(setting.get(defaults));
    if (setting.name == "images" || setting.name == "labels") {
      shown = "MNIST";
    } else if (shown.empty() || setting.is_size) {
      shown = "from the task";
    } else if (setting.name != "task" && setting.get(image_defaults) != setting.get(defaults) &&
               applies(setting, image_defaults)) {
      shown += fmt::format("; on images {}", setting_text(setting.get(image_defaults)));
    }
    if (setting.name != "model" && setting.get(sculpted_defaults) != setting.get(defaults)) {
      const std::string value = setting_text(setting.get(sculpted_defaults));
      shown += fmt::format("; sculpted {}", parse_real(value) == 0.0 ? "as published" : value);
    }
    std::string form = setting.value;
    for (std::size_t bar = form.find('|'); bar != std::string::npos; bar = form.find('|', bar + 2)) {
      form.insert(bar, "\\");
    }
    page += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", setting.name, form, shown, scope_text(setting.scope),
                        setting.help);
  }
  return page;
}

std::string run_id(const RunSpec& spec) {
  // A study of a million runs names each of them.
  static const std::vector<json> kDefaults = [] {
    std::vector<json> values;
    for (const Setting& setting : table()) {
      values.push_back(setting.get(RunSpec{}));
    }
    return values;
  }();
  std::string text;
  for (std::size_t at = 0; at < kDefaults.size(); ++at) {
    const Setting& setting = table()[at];
    // What sets lr_input and lr_module, which are named by themselves.
    if (setting.name == "lr_structural" || !applies(setting, spec)) {
      continue;
    }
    if (const json value = setting.get(spec); value != kDefaults[at]) {
      text += setting.name + "=" + value.dump() + "\n";
    }
  }
  // FNV-1a, 64 bits.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace modlab::models

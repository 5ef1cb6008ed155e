#include <limits>

#include "models/sculpt_settings.h"
#include "models/setting_values.h"
#include "models/settings.h"

namespace modlab::models {
namespace {

using engine::Gumbel;
using engine::LossKind;
using engine::OptimizerKind;
using engine::Schedule;
using nlohmann::json;

constexpr int kMaxImageSlots = 64;

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

int read_samples(const char* name, const std::string& text) {
  return static_cast<int>(read_integer(name, text, 1, 1'000'000, "a whole number from 1 to 1000000"));
}

std::vector<Setting> make_table() {
  using Scope = Setting::Scope;
  std::vector<Setting> table = {
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
       Scope::kMlp, true, [](RunSpec& spec, const std::string& text) { spec.hidden = read_sizes("hidden", text); },
       [](const RunSpec& spec) { return json(spec.hidden); }},
      {"density", "P", "share of the weights that a sparse network keeps", Scope::kSparse, false,
       [](RunSpec& spec, const std::string& text) {
         spec.density = read_real("density", text, 0, 1, "a number between 0 and 1");
       },
       [](const RunSpec& spec) { return json(spec.density); }},
      {"modules", "COUNTS", "modules on each level (modular, modular-fc); default: the task's", Scope::kOwnModules,
       true, [](RunSpec& spec, const std::string& text) { spec.modules = read_sizes("modules", text); },
       [](const RunSpec& spec) { return json(spec.modules); }},
      {"slots", "COUNTS", "slots on each level (shared models); default: the task's", Scope::kPool, true,
       [](RunSpec& spec, const std::string& text) { spec.slots = read_sizes("slots", text); },
       [](const RunSpec& spec) { return json(spec.slots); }},
      {"pool", "N", "shared modules; default: the task's distinct operations", Scope::kPool, false,
       [](RunSpec& spec, const std::string& text) {
         spec.pool = static_cast<int>(read_integer("pool", text, 1, kMaxWidth, "a whole number from 1 to 4096"));
       },
       [](const RunSpec& spec) { return json(spec.pool); }, true},
      {"module_widths", "WIDTHS", "widths of a module: fan-in, hidden layers, 1; or the hidden layers alone",
       Scope::kModular, true,
       [](RunSpec& spec, const std::string& text) { spec.module_widths = read_sizes("module_widths", text); },
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
       [](RunSpec& spec, const std::string& text) { spec.image_widths = read_sizes("image_widths", text); },
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
  };
  const std::vector<Setting> more = sculpt_settings();
  table.insert(table.end(), more.begin(), more.end());
  return table;
}

}  // namespace

std::span<const Setting> settings() {
  static const std::vector<Setting> kTable = make_table();
  return kTable;
}

std::string model_name(ModelKind model) { return word_for(model, kModels); }

}  // namespace modlab::models

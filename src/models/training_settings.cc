#include "models/training_settings.h"

#include "core/text.h"
#include "models/training_settings-inl.h"
#include "tasks/task_cache.h"

namespace modlab::models {
namespace {

constexpr int kMaxImageSlots = 64;

constexpr settings::Word<ModelKind> kModels[] = {{"dense", ModelKind::kDense},
                                                 {"sparse", ModelKind::kSparse},
                                                 {"modular", ModelKind::kModular},
                                                 {"modular-fc", ModelKind::kModularFc},
                                                 {"modular-shared", ModelKind::kShared},
                                                 {"modular-shared-fcms", ModelKind::kSharedFcms},
                                                 {"cnn", ModelKind::kCnn}};
constexpr settings::Word<ImageModule> kImageModules[] = {
    {"mlp", ImageModule::kMlp}, {"conv", ImageModule::kConvolution}, {"cnn", ImageModule::kConvolution}};

ModelKind model_from_name(const std::string& text) { return read_word("model", text, kModels); }

template <typename Spec>
SpecSetting<Spec> of_mlps(SpecSetting<Spec> made) {
  made.setting.of = scope_text(Scope::kMlp);
  made.applies = scope_check<Spec>(Scope::kMlp);
  return made;
}

template <typename Spec>
std::vector<SpecSetting<Spec>> shared_rows() {
  return {
      task_row<Spec>(),
      row<Spec>(
          "model", "NAME", "dense, sparse, modular, modular-fc, modular-shared, modular-shared-fcms; cnn on images",
          Scope::kAll, kNamed, [](Spec& spec, const std::string& text) { spec.model = model_from_name(text); },
          [](const Spec& spec) { return json(model_name(spec.model)); }, {.role = Setting::Role::kModel}),
      row<Spec>(
          "ratio", "R", "share of the rows (images: of the digit combinations) to train on; the rest is halved",
          Scope::kAll, kNamed,
          [](Spec& spec, const std::string& text) {
            spec.ratio = read_real("ratio", text, 0, 1, "a number between 0 and 1");
          },
          [](const Spec& spec) { return json(spec.ratio); }, {.label = "training ratio"}),
      row<Spec>(
          "split_seed", "N", "seed of the published split into train, validation and test rows", Scope::kAll,
          kFree | kNamed,
          [](Spec& spec, const std::string& text) {
            spec.split_seed = static_cast<std::uint32_t>(
                read_integer("split_seed", text, 0, 0xffffffffLL, "a whole number from 0 to 4294967295"));
          },
          [](const Spec& spec) { return json(spec.split_seed); }, {.role = Setting::Role::kSplit}),
      seed_row<Spec>(),
      epochs_row<Spec>(),
      batch_size_row<Spec>(),
      lr_row<Spec>(),
      row<Spec>(
          "lr_structural", "RATE", "learning rate of all selection vectors: sets lr_input and lr_module",
          Scope::kModular, kFree | kTuned | kNamed | kSetsOthers,
          [](Spec& spec, const std::string& text) {
            spec.lr_input = spec.lr_module = read_rate("lr_structural", text);
          },
          // Shown as one number only where it is one.
          [](const Spec& spec) { return spec.lr_input == spec.lr_module ? json(spec.lr_input) : json(nullptr); },
          {.label = "structural learning rate"}),
      row<Spec>(
          "lr_input", "RATE", "learning rate of the input and output selection vectors", Scope::kModular,
          kFree | kTuned, [](Spec& spec, const std::string& text) { spec.lr_input = read_rate("lr_input", text); },
          [](const Spec& spec) { return json(spec.lr_input); }, {.is_set_by = "lr_structural"}),
      row<Spec>(
          "lr_module", "RATE", "learning rate of the vectors that select pool modules", Scope::kPool, kFree | kTuned,
          [](Spec& spec, const std::string& text) { spec.lr_module = read_rate("lr_module", text); },
          [](const Spec& spec) { return json(spec.lr_module); }, {.is_set_by = "lr_structural"}),
      weight_decay_row<Spec>(),
      row<Spec>(
          "decay_structural", "true|false", "whether weight decay also falls on selection vectors, as published",
          Scope::kModular, kFree,
          [](Spec& spec, const std::string& text) { spec.decay_structural = read_truth("decay_structural", text); },
          [](const Spec& spec) { return json(spec.decay_structural); }),
      row<Spec>(
          "tau", "T|none", "temperature of the selection vectors' soft gradient; it never changes a pick",
          Scope::kModular, kFree | kTuned | kNamed,
          [](Spec& spec, const std::string& text) {
            if (text == "none") {
              spec.tau.reset();
            } else {
              spec.tau = read_real("tau", text, 1e-6, 1e6, "a positive number or none");
            }
          },
          [](const Spec& spec) { return spec.tau ? json(*spec.tau) : json(nullptr); }, {.label = "temperature"}),
      noise_row<Spec>(),
      row<Spec>(
          "gumbel", "off|batch|sample", "Gumbel noise on selection vectors, drawn for each batch or for each sample",
          Scope::kModular, kPlain,
          [](Spec& spec, const std::string& text) { spec.gumbel = read_word("gumbel", text, kGumbels); },
          [](const Spec& spec) { return json(word_for(spec.gumbel, kGumbels)); }, {.label = "Gumbel noise"}),
      of_mlps(hidden_row<Spec>()),
      row<Spec>(
          "density", "P", "share of the weights that a sparse network keeps", Scope::kSparse, kFree,
          [](Spec& spec, const std::string& text) {
            spec.density = read_real("density", text, 0, 1, "a number between 0 and 1");
          },
          [](const Spec& spec) { return json(spec.density); }),
      row<Spec>(
          "modules", "COUNTS", "modules on each level (modular, modular-fc); default: the task's", Scope::kOwnModules,
          kList, [](Spec& spec, const std::string& text) { spec.modules = read_sizes("modules", text); },
          [](const Spec& spec) { return json(spec.modules); }),
      row<Spec>(
          "slots", "COUNTS", "slots on each level (shared models); default: the task's", Scope::kPool, kList,
          [](Spec& spec, const std::string& text) { spec.slots = read_sizes("slots", text); },
          [](const Spec& spec) { return json(spec.slots); }),
      row<Spec>(
          "pool", "N", "shared modules; default: the task's distinct operations", Scope::kPool, kSize,
          [](Spec& spec, const std::string& text) {
            spec.pool = static_cast<int>(read_integer("pool", text, 1, kMaxWidth, "a whole number from 1 to 4096"));
          },
          [](const Spec& spec) { return json(spec.pool); }),
      row<Spec>(
          "module_widths", "WIDTHS", "widths of a module: fan-in, hidden layers, 1; or the hidden layers alone",
          Scope::kModular, kList,
          [](Spec& spec, const std::string& text) { spec.module_widths = read_sizes("module_widths", text); },
          [](const Spec& spec) { return json(spec.module_widths); }),
      row<Spec>(
          "fan_in", "K", "values that each module reads; known routing needs those of the widest gate", Scope::kModular,
          kPlain,
          [](Spec& spec, const std::string& text) {
            spec.fan_in = static_cast<int>(read_integer("fan_in", text, 1, kMaxWidth, "a whole number from 1 to 4096"));
          },
          [](const Spec& spec) { return json(spec.fan_in); }, {.label = "fan-in"}),
      row<Spec>(
          "known_inputs", "true|false", "fix what modules read, and the outputs, to the task's routing",
          Scope::kModular, kPlain,
          [](Spec& spec, const std::string& text) { spec.known_inputs = read_truth("known_inputs", text); },
          [](const Spec& spec) { return json(spec.known_inputs); }),
      row<Spec>(
          "known_modules", "true|false", "fix which pool module each slot uses to the task's", Scope::kPool, kPlain,
          [](Spec& spec, const std::string& text) { spec.known_modules = read_truth("known_modules", text); },
          [](const Spec& spec) { return json(spec.known_modules); }),
      row<Spec>(
          "known_outputs", "true|false", "fix only which modules are the outputs", Scope::kModular, kPlain,
          [](Spec& spec, const std::string& text) { spec.known_outputs = read_truth("known_outputs", text); },
          [](const Spec& spec) { return json(spec.known_outputs); }),
      row<Spec>(
          "outputs_from", "last|all", "whether outputs read the last level or any level", Scope::kModular, kPlain,
          [](Spec& spec, const std::string& text) {
            spec.outputs_from_all = read_word("outputs_from", text, kOutputsFrom);
          },
          [](const Spec& spec) { return json(word_for(spec.outputs_from_all, kOutputsFrom)); }),
      row<Spec>(
          "task_input", "onehot|scalar", "how dense and sparse networks are told the task of a suite", Scope::kMlp,
          kPlain,
          [](Spec& spec, const std::string& text) { spec.task_input = read_word("task_input", text, kTaskInputs); },
          [](const Spec& spec) { return json(word_for(spec.task_input, kTaskInputs)); }),
      init_row<Spec>(),
      optimizer_row<Spec>(),
      loss_row<Spec>(),
      row<Spec>(
          "schedule", "NAME", "learning rates by epoch: constant, exponential (times gamma) or cosine", Scope::kAll,
          kFree, [](Spec& spec, const std::string& text) { spec.schedule = read_word("schedule", text, kSchedules); },
          [](const Spec& spec) { return json(word_for(spec.schedule, kSchedules)); }),
      row<Spec>(
          "gamma", "G", "factor of the exponential schedule", Scope::kAll, kFree,
          [](Spec& spec, const std::string& text) {
            spec.gamma = read_real("gamma", text, 1e-6, 1, "a number above 0 and at most 1");
          },
          [](const Spec& spec) { return json(spec.gamma); }),
  };
}

// What follows from a run's settings.
template <typename Spec>
std::vector<SpecSetting<Spec>> fact_rows() {
  SpecSetting<Spec> outputs = row<Spec>("outputs", "N", "outputs of the task", kPlain, nullptr,
                                        [](const Spec& spec) { return json(tasks::cached_task(spec.task)->outputs()); },
                                        {.role = Setting::Role::kFact});
  SpecSetting<Spec> layers =
      row<Spec>("hidden_layers", "N", "how many hidden layers there are", Scope::kMlp, kPlain, nullptr,
                [](const Spec& spec) { return json(spec.hidden.size()); }, {.role = Setting::Role::kFact});
  return {outputs, layers};
}

int read_samples(const char* name, const std::string& text) {
  return static_cast<int>(read_integer(name, text, 1, 1'000'000, "a whole number from 1 to 1000000"));
}

std::vector<SpecSetting<ImageSpec>> image_rows() {
  using Spec = ImageSpec;
  return {
      row<Spec>(
          "samples", "N", "training samples of each digit combination", Scope::kAll, kNamed,
          [](Spec& spec, const std::string& text) { spec.samples = read_samples("samples", text); },
          [](const Spec& spec) { return json(spec.samples); }),
      row<Spec>(
          "test_samples", "N", "validation and test samples of each digit combination", Scope::kAll, kPlain,
          [](Spec& spec, const std::string& text) { spec.test_samples = read_samples("test_samples", text); },
          [](const Spec& spec) { return json(spec.test_samples); }),
      row<Spec>(
          "disjoint_validation", "true|false", "validation images that no training sample uses; published: false",
          Scope::kAll, kPlain,
          [](Spec& spec, const std::string& text) {
            spec.disjoint_validation = read_truth("disjoint_validation", text);
          },
          [](const Spec& spec) { return json(spec.disjoint_validation); }),
      row<Spec>(
          "normalize", "true|false", "pixels less MNIST's mean, divided by its deviation; published: false",
          Scope::kAll, kPlain,
          [](Spec& spec, const std::string& text) { spec.normalize = read_truth("normalize", text); },
          [](const Spec& spec) { return json(spec.normalize); }),
      row<Spec>(
          "images", "FILES", "IDX files (also .gz) of the training and the test images; default: MNIST", Scope::kAll,
          kList, [](Spec& spec, const std::string& text) { spec.images = settings::read_files("images", text); },
          [](const Spec& spec) { return json(spec.images); }),
      row<Spec>(
          "labels", "FILES", "IDX files of their labels, in the same order", Scope::kAll, kList,
          [](Spec& spec, const std::string& text) { spec.labels = settings::read_files("labels", text); },
          [](const Spec& spec) { return json(spec.labels); }),
      row<Spec>(
          "image_module", "mlp|conv", "what reads an image: layers on its pixels, or two convolutions", Scope::kModular,
          kPlain,
          [](Spec& spec, const std::string& text) {
            spec.image_module = read_word("image_module", text, kImageModules);
          },
          [](const Spec& spec) { return json(word_for(spec.image_module, kImageModules)); }),
      row<Spec>(
          "image_widths", "WIDTHS",
          "widths of an image module: pixels, hidden layers, bits; or the hidden layers alone", Scope::kModular, kList,
          [](Spec& spec, const std::string& text) { spec.image_widths = read_sizes("image_widths", text); },
          [](const Spec& spec) { return json(spec.image_widths); }),
      row<Spec>(
          "image_slots", "N", "image slots: each reads one image; default: as many as images", Scope::kModular, kSize,
          [](Spec& spec, const std::string& text) {
            spec.image_slots =
                static_cast<int>(read_integer("image_slots", text, 1, kMaxImageSlots, "a whole number from 1 to 64"));
          },
          [](const Spec& spec) { return json(spec.image_slots); }),
      row<Spec>(
          "image_pool", "N", "shared image modules; default: 1", Scope::kPool, kSize,
          [](Spec& spec, const std::string& text) {
            spec.image_pool =
                static_cast<int>(read_integer("image_pool", text, 1, kMaxImageSlots, "a whole number from 1 to 64"));
          },
          [](const Spec& spec) { return json(spec.image_pool); }),
  };
}

template <typename Spec>
void append(std::vector<SpecSetting<Spec>>& rows, std::vector<SpecSetting<Spec>> more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace

const settings::SpecTable<RunSpec>& bit_settings() {
  static const settings::SpecTable<RunSpec> kTable = [] {
    std::vector<SpecSetting<RunSpec>> rows = shared_rows<RunSpec>();
    append(rows, fact_rows<RunSpec>());
    return settings::SpecTable<RunSpec>(rows);
  }();
  return kTable;
}

const settings::SpecTable<ImageSpec>& image_settings() {
  static const settings::SpecTable<ImageSpec> kTable = [] {
    std::vector<SpecSetting<ImageSpec>> rows = shared_rows<ImageSpec>();
    // Pixels have no noise of ours.
    std::erase_if(rows, [](const auto& each) { return each.setting.name == noise_row<ImageSpec>().setting.name; });
    append(rows, image_rows());
    append(rows, fact_rows<ImageSpec>());
    return settings::SpecTable<ImageSpec>(rows);
  }();
  return kTable;
}

ImageSpec published_image_spec() {
  ImageSpec spec;
  spec.ratio = 0.8;
  spec.epochs = 200;
  spec.batch_size = 128;
  spec.lr_input = spec.lr_module = 0.01;
  spec.weight_decay = 0.0001;
  spec.tau = 0.5;
  spec.noise = 0;
  return spec;
}

std::string model_name(ModelKind model) { return word_for(model, kModels); }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& word : kModels) {
    names.emplace_back(word.text);
  }
  return names;
}

}  // namespace modlab::models

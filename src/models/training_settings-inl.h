// Settings that several kinds of runs have, whatever struct their values are in: what is here serves truth tables,
// images and sculpted networks.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "models/run_spec.h"
#include "settings/setting_values.h"
#include "settings/spec_table.h"

namespace modlab::models {

using nlohmann::json;
using settings::kMaxWidth;
using settings::read_integer;
using settings::read_rate;
using settings::read_real;
using settings::read_sizes;
using settings::read_truth;
using settings::read_word;
using settings::Setting;
using settings::SpecSetting;
using settings::word_for;

using engine::Gumbel;
using engine::LossKind;
using engine::OptimizerKind;
using engine::Schedule;

inline constexpr settings::Word<Gumbel> kGumbels[] = {
    {"off", Gumbel::kOff}, {"batch", Gumbel::kBatch}, {"sample", Gumbel::kSample}};
inline constexpr settings::Word<Init> kInits[] = {
    {"torch", Init::kTorch}, {"xavier", Init::kXavier}, {"kaiming", Init::kKaiming}, {"torch_default", Init::kTorch}};
inline constexpr settings::Word<TaskInput> kTaskInputs[] = {{"onehot", TaskInput::kOneHot},
                                                            {"scalar", TaskInput::kScalar}};
inline constexpr settings::Word<bool> kOutputsFrom[] = {{"last", false}, {"all", true}};
inline constexpr settings::Word<OptimizerKind> kOptimizers[] = {
    {"adam", OptimizerKind::kAdam},         {"adamw", OptimizerKind::kAdamW},     {"sgd", OptimizerKind::kSgd},
    {"momentum", OptimizerKind::kMomentum}, {"rmsprop", OptimizerKind::kRmsprop}, {"rms", OptimizerKind::kRmsprop},
    {"nesterov", OptimizerKind::kMomentum}};
inline constexpr settings::Word<LossKind> kLosses[] = {
    {"bce", LossKind::kBce}, {"mse", LossKind::kMse}, {"BCE", LossKind::kBce}, {"MSE", LossKind::kMse}};
inline constexpr settings::Word<Schedule> kSchedules[] = {{"constant", Schedule::kConstant},
                                                          {"exponential", Schedule::kExponential},
                                                          {"cosine", Schedule::kCosine},
                                                          {"exp", Schedule::kExponential}};

// Columns of the table that a row has; settings::Setting says what they mean.
enum Trait : unsigned { kPlain = 0, kList = 1, kSize = 2, kFree = 4, kTuned = 8, kNamed = 16, kSetsOthers = 32 };

// To which models a setting means something.
enum class Scope { kAll, kMlp, kSparse, kModular, kOwnModules, kPool };

inline const char* scope_text(Scope scope) {
  static constexpr const char* kTexts[] = {"all",           "dense, sparse, cnn",  "sparse",
                                           "modular kinds", "modular, modular-fc", "shared kinds"};
  return kTexts[static_cast<std::size_t>(scope)];
}

template <typename Spec>
bool (*scope_check(Scope scope))(const Spec&) {
  switch (scope) {
    case Scope::kAll:
      break;
    case Scope::kMlp:
      return [](const Spec& spec) { return spec.is_mlp(); };
    case Scope::kSparse:
      return [](const Spec& spec) { return spec.model == ModelKind::kSparse; };
    case Scope::kModular:
      return [](const Spec& spec) { return !spec.is_mlp(); };
    case Scope::kOwnModules:
      return [](const Spec& spec) { return !spec.is_mlp() && !spec.has_pool(); };
    case Scope::kPool:
      return [](const Spec& spec) { return spec.has_pool(); };
  }
  return nullptr;
}

struct RowExtra {
  Setting::Role role = Setting::Role::kPlain;
  std::string label = {};
  std::string is_set_by = {};
};

template <typename Spec>
SpecSetting<Spec> row(const char* name, const char* value, std::string help, unsigned traits,
                      void (*set)(Spec& spec, const std::string& text), json (*get)(const Spec& spec),
                      RowExtra extra = {}) {
  return {Setting{.name = name,
                  .value = value,
                  .help = std::move(help),
                  .of = "all",
                  .label = std::move(extra.label),
                  .role = extra.role,
                  .is_list = (traits & kList) != 0,
                  .is_size = (traits & kSize) != 0,
                  .is_free = (traits & kFree) != 0,
                  .is_tuned = (traits & kTuned) != 0,
                  .is_named = (traits & kNamed) != 0,
                  .sets_others = (traits & kSetsOthers) != 0,
                  .is_set_by = std::move(extra.is_set_by),
                  .read = {}},
          set, get, nullptr};
}

template <typename Spec>
SpecSetting<Spec> row(const char* name, const char* value, std::string help, Scope scope, unsigned traits,
                      void (*set)(Spec& spec, const std::string& text), json (*get)(const Spec& spec),
                      RowExtra extra = {}) {
  SpecSetting<Spec> made = row<Spec>(name, value, std::move(help), traits, set, get, std::move(extra));
  made.setting.of = scope_text(scope);
  made.applies = scope_check<Spec>(scope);
  return made;
}

template <typename Spec>
SpecSetting<Spec> task_row() {
  return row<Spec>(
      "task", "NAME|FILE", "built-in task (see `modlab graph`), YAML task file or CSV truth table", kNamed,
      [](Spec& spec, const std::string& text) { spec.task = text; }, [](const Spec& spec) { return json(spec.task); },
      {.role = Setting::Role::kTask});
}

template <typename Spec>
SpecSetting<Spec> seed_row() {
  return row<Spec>(
      "seed", "N", "training seed: initial weights, mask, batch order and noise", kFree,
      [](Spec& spec, const std::string& text) {
        spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                            "a whole number that is not negative"));
      },
      [](const Spec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed});
}

template <typename Spec>
SpecSetting<Spec> epochs_row() {
  return row<Spec>(
      "epochs", "N", "passes over the training rows", kNamed,
      [](Spec& spec, const std::string& text) {
        spec.epochs =
            static_cast<int>(read_integer("epochs", text, 1, 10'000'000, "a whole number from 1 to 10000000"));
      },
      [](const Spec& spec) { return json(spec.epochs); });
}

template <typename Spec>
SpecSetting<Spec> batch_size_row() {
  return row<Spec>(
      "batch_size", "N", "rows in an update; at or above the number of training rows: all of them", kTuned | kNamed,
      [](Spec& spec, const std::string& text) {
        spec.batch_size =
            static_cast<int>(read_integer("batch_size", text, 1, 1'000'000'000, "a whole number from 1 to 1000000000"));
      },
      [](const Spec& spec) { return json(spec.batch_size); });
}

template <typename Spec>
SpecSetting<Spec> lr_row() {
  return row<Spec>(
      "lr", "RATE", "learning rate of weights and biases", kFree | kTuned | kNamed,
      [](Spec& spec, const std::string& text) { spec.lr = read_rate("lr", text); },
      [](const Spec& spec) { return json(spec.lr); }, {.label = "functional learning rate"});
}

template <typename Spec>
SpecSetting<Spec> weight_decay_row() {
  return row<Spec>(
      "weight_decay", "D", "L2 weight decay, added to every gradient (adamw: decoupled)", kFree | kTuned | kNamed,
      [](Spec& spec, const std::string& text) { spec.weight_decay = read_rate("weight_decay", text); },
      [](const Spec& spec) { return json(spec.weight_decay); });
}

template <typename Spec>
SpecSetting<Spec> noise_row() {
  return row<Spec>(
      "noise", "SD", "standard deviation of the noise on training inputs", kFree | kNamed,
      [](Spec& spec, const std::string& text) {
        spec.noise = read_real("noise", text, 0, 1e6, "a number from 0 to 1000000");
      },
      [](const Spec& spec) { return json(spec.noise); });
}

template <typename Spec>
SpecSetting<Spec> hidden_row() {
  return row<Spec>(
      "hidden", "WIDTHS", "hidden layers of dense and sparse networks; default: 36 wide, 2 levels - 1 of them", kList,
      [](Spec& spec, const std::string& text) { spec.hidden = read_sizes("hidden", text); },
      [](const Spec& spec) { return json(spec.hidden); }, {.label = "hidden units"});
}

template <typename Spec>
SpecSetting<Spec> init_row() {
  return row<Spec>(
      "init", "torch|xavier|kaiming",
      "initial weights: uniform by fan-in (biases too), or Xavier or Kaiming normal with zero biases", kFree,
      [](Spec& spec, const std::string& text) { spec.init = read_word("init", text, kInits); },
      [](const Spec& spec) { return json(word_for(spec.init, kInits)); });
}

template <typename Spec>
SpecSetting<Spec> optimizer_row() {
  return row<Spec>(
      "optimizer", "NAME", "adam, adamw, sgd, momentum (Nesterov, 0.9) or rmsprop", kPlain,
      [](Spec& spec, const std::string& text) { spec.optimizer = read_word("optimizer", text, kOptimizers); },
      [](const Spec& spec) { return json(word_for(spec.optimizer, kOptimizers)); });
}

template <typename Spec>
SpecSetting<Spec> loss_row() {
  return row<Spec>(
      "loss", "bce|mse", "loss on the sigmoid outputs", kPlain,
      [](Spec& spec, const std::string& text) { spec.loss = read_word("loss", text, kLosses); },
      [](const Spec& spec) { return json(word_for(spec.loss, kLosses)); });
}

}  // namespace modlab::models

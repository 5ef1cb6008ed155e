#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/torch/script_files.h"
#include "models/training_settings-inl.h"

// What kinds that train someone's network on a task of ours have in common.
namespace modlab::experiments {

// Data and training are described as those of our networks are (`Part`); the network is a file.
template <typename Part>
struct ScriptSpec {
  Part training;
  std::string model;     // a file
  std::string contents;  // of it, as a hash
};

// Those of our settings that `names` has, and the file in the place of the model.
template <typename Part>
settings::SpecTable<ScriptSpec<Part>> script_settings(const settings::SpecTable<Part>& ours,
                                                      const std::vector<std::string>& names) {
  using Spec = ScriptSpec<Part>;
  std::vector<settings::SpecSetting<Spec>> rows;
  for (settings::SpecSetting<Spec>& row : settings::rows_of_part(ours, &Spec::training)) {
    if (row.setting.role == Setting::Role::kModel) {
      rows.push_back(modlab::models::row<Spec>(
          "model", "FILE", "a network of PyTorch's, untrained: TorchScript, as torch.jit.save writes it",
          modlab::models::kNamed, [](Spec& spec, const std::string& text) { spec.model = text; },
          [](const Spec& spec) { return nlohmann::json(spec.model); }, {.role = Setting::Role::kModel}));
      rows.push_back(modlab::models::row<Spec>(
          "contents", "HASH", "of the file, found by itself: other contents are other runs", modlab::models::kNamed,
          [](Spec& spec, const std::string& text) { spec.contents = text; },
          [](const Spec& spec) { return nlohmann::json(spec.contents); }));
    } else if (std::ranges::find(names, row.setting.name) != names.end()) {
      rows.push_back(std::move(row));
    }
  }
  return settings::SpecTable<Spec>(std::move(rows));
}

// `Base`: what kinds on such data have in common, if there is such a class.
template <typename Part, typename Base = Experiment>
class ScriptKind : public Base {
 public:
  using Spec = ScriptSpec<Part>;

  virtual const settings::SpecTable<Spec>& table() const = 0;
  virtual Part start() const = 0;  // what a training is where nothing else is said
  // Fills in what was left open and checks that the whole makes sense. Throws ConfigError.
  virtual Part complete(Part training) const = 0;

  Spec spec_of(const Values& values) const {
    Spec spec{start(), {}, {}};
    table().read(values, spec);
    return spec;
  }

  std::vector<Spec> specs_of(std::span<const Run> runs) const {
    std::vector<Spec> specs;
    for (const Run& run : runs) {
      specs.push_back(spec_of(run.values));
    }
    return specs;
  }

  std::span<const Setting> settings() const override { return table().settings(); }
  std::vector<std::string> models() const override { return {"FILE.pt"}; }
  bool has_model(const std::string& model) const override { return model.ends_with(".pt"); }
  bool is_replayable() const override { return false; }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    Spec spec{start(), {}, {}};
    if (const auto task = given.find("task"); task != given.end()) {
      table().set(spec, "task", task->second);
    }
    return table().settings_for(spec);
  }
  Values resolve(const Given& given) const override {
    Spec spec{start(), {}, {}};
    table().apply(given, spec);
    spec.training = complete(std::move(spec.training));
    if (spec.contents.empty()) {
      spec.contents = contents_of({spec.model});
    }
    return table().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override { return table().by_name({start(), {}, {}}); }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [this] {
      auto defaults = table().by_name({start(), {}, {}});
      for (const char* always : {"model", "contents"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
};

}  // namespace modlab::experiments

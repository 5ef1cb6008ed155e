#include "bindings.h"
#include "experiments/experiment.h"
#include "experiments/settings_page.h"
#include "methods/mask/mask_settings.h"
#include "methods/sculpt/sculpt_settings.h"

namespace modlab::python {
namespace {

using settings::Setting;

nlohmann::ordered_json setting_json(const experiments::Experiment& kind, const Setting& setting) {
  return {{"name", setting.name},
          {"value", setting.value},
          {"help", setting.help},
          {"of", setting.of},
          {"default", experiments::default_text(kind, setting)},
          {"is_list", setting.is_list},
          {"is_model", setting.role == Setting::Role::kModel},
          {"is_task", setting.role == Setting::Role::kTask}};
}

// Every setting that someone can give a value, once for each kind that has it: the table that flags and
// docs/settings.md are made from.
std::string settings_json() {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const experiments::Experiment* kind : experiments::all()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Setting& setting : kind->settings()) {
      if (setting.role != Setting::Role::kFact) {
        list.push_back(setting_json(*kind, setting));
      }
    }
    kinds.push_back({{"name", kind->name()}, {"title", kind->title()}, {"models", kind->models()}, {"settings", list}});
  }
  return json_text({{"kinds", kinds},
                    {"order", experiments::setting_names()},
                    {"sculpted", methods::kSculptedModel},
                    {"masked", methods::kMaskedModel}});
}

}  // namespace

void bind_settings(py::module_& module) { module.def("settings", &settings_json); }

}  // namespace modlab::python

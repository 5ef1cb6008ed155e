#include "report/rule_network_text.h"

#include <fmt/format.h>

#include "core/text.h"
#include "io/json_text.h"
#include "models/rules/rule_settings.h"
#include "report/module_use_text.h"

namespace modlab::report {

std::string network_text(const models::SavedRuleSnapshot& snapshot) {
  return measures_text(snapshot, measures::measure_snapshot(snapshot));
}

nlohmann::ordered_json network_json(const models::SavedRuleSnapshot& snapshot) {
  return measures_json(snapshot, measures::measure_snapshot(snapshot));
}

std::string measures_text(const models::SavedRuleSnapshot& snapshot, const measures::RuleNetworkMeasures& measured) {
  const models::RuleSpec& spec = snapshot.network.spec;
  const settings::Values values = models::rule_settings().values(spec);
  std::string text = fmt::format(
      "{} on {}, {}, {}, task seed {}, seed {}: step {} ({})\nloss {:.4f} on test samples{}\n", values.text("model"),
      values.text("task"), values.text("task_type"), counted(spec.task.rules, "rule"), spec.task.task_seed, spec.seed,
      snapshot.iteration(), snapshot.name == "best" ? "best validation" : "last", measured.loss,
      measured.error ? fmt::format(", {:.2f} % of the classes wrong", *measured.error) : "");
  if (measured.use) {
    text += "\n" + module_use_text(look_at_use("Module use", *measured.use, {}, {}));
  } else if (snapshot.network.shape.has_modules()) {
    text += "Its gates say nothing of some rule: no test sample followed it, or they are no numbers.\n";
  } else {
    text += "A monolithic network has no modules to show.\n";
  }
  return text;
}

nlohmann::ordered_json measures_json(const models::SavedRuleSnapshot& snapshot,
                                     const measures::RuleNetworkMeasures& measured) {
  nlohmann::ordered_json object = models::rule_settings().values(snapshot.network.spec).to_json();
  object["snapshot"] = snapshot.name;
  object["iteration"] = snapshot.iteration();
  object["id_loss"] = io::number_or_null(measured.loss);
  if (measured.error) {
    object["id_error"] = io::number_or_null(*measured.error);
  }
  if (measured.use) {
    object["module_use"] = module_use_json(look_at_use("", *measured.use, {}, {}));
  }
  return object;
}

}  // namespace modlab::report

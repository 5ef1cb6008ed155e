#include "experiments/rules/rule_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/rules/rule_results.h"

namespace modlab::experiments {

std::span<const Measure> RuleKind::measures() const { return rule_measures(); }

Parts RuleKind::parts() const { return {"id_loss", "validation_score", "validation_loss", "parameters", ""}; }

std::vector<Column> RuleKind::columns() const {
  return {{"loss", "id_loss", Column::Show::kMeanAndError, 4},  {"OoD loss", "ood_loss", Column::Show::kMean, 4},
          {"error %", "id_error", Column::Show::kMean},         {"OoD error %", "ood_error", Column::Show::kMean},
          {"collapse", "collapse_avg", Column::Show::kMean, 3}, {"alignment", "alignment", Column::Show::kMean, 3}};
}

std::string RuleKind::footnote(std::span<const Run> /*runs*/) const {
  return "Losses are those of fresh samples, at the best validation point; out of distribution (OoD) inputs are "
         "doubled "
         "and sequences longer. Collapse and alignment: 0 is best.";
}

std::string RuleKind::table_title() const {
  return "Mean loss on fresh samples, ± standard error: absolute errors, or cross-entropy";
}

nlohmann::ordered_json RuleKind::run_json(const Run& run, const Result& result) const {
  nlohmann::ordered_json object = Experiment::run_json(run, result);
  const models::RuleSpec spec = rule_spec_of(run.values);
  for (const auto& [snapshot, numbers] : result.snapshots) {
    object["parameters"] = static_cast<long long>(numbers.at("parameters"));
    object[snapshot].erase("parameters");
    const auto activation = result.blobs.find("activation/" + snapshot);
    if (activation != result.blobs.end()) {
      object[snapshot]["activation"] = nlohmann::ordered_json::parse(activation->second, nullptr, false);
    }
    for (const int length : test_lengths(spec)) {
      nlohmann::ordered_json& here = object[snapshot]["lengths"][std::to_string(length)];
      for (const char* name : {"loss", "ood_loss", "error", "ood_error"}) {
        const auto found = numbers.find(fmt::format("{}_{}", name, length));
        if (found != numbers.end()) {
          here[name] = found->second;
          object[snapshot].erase(found->first);
        }
      }
    }
  }
  return object;
}

std::string RuleKind::curve_csv(const Run& /*run*/, const std::map<std::string, Numbers>& /*snapshots*/,
                                const std::string& curve, const std::string& source) const {
  return rule_curve_csv(curve, source);
}

std::span<const Measure> RuleKind::curve_measures() const { return rule_curve_measures(); }

std::vector<Numbers> RuleKind::curve_points(const std::string& curve, const std::string& source) const {
  return rule_curve_points(curve, source);
}

std::vector<OwnTask> rule_tasks() {
  return {{"rules-mlp", "numbers y = alpha x1 + beta x2, another alpha and beta for each rule"},
          {"rules-mha", "tokens that look for their nearest by the rule's q, and say what they found"},
          {"rules-rnn", "sequences of a linear system that switches with the rule"}};
}

bool is_rule_task(const std::string& task) {
  const std::vector<OwnTask> tasks = rule_tasks();
  return std::ranges::find(tasks, task, &OwnTask::name) != tasks.end();
}

}  // namespace modlab::experiments

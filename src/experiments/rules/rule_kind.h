#pragma once

#include "experiments/experiment.h"
#include "models/rules/rule_spec.h"

namespace modlab::experiments {

// What kinds of networks on rule-based data have in common, whoever trains them.
class RuleKind : public Experiment {
 public:
  // Of resolved values. No modules: the network is someone's own, and only its results say how many it has.
  virtual models::RuleSpec rule_spec_of(const Values& values) const = 0;

  std::span<const Measure> measures() const override;
  Parts parts() const override;
  std::vector<Column> columns() const override;
  std::string footnote(std::span<const Run> runs) const override;
  std::string series_label() const override { return "model"; }
  std::string split_word() const override { return "task seed"; }
  std::string table_title() const override;
  // Losses of numbers and of classes are no average.
  std::string table_axis() const override { return "task_type"; }
  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override;
  std::string curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                        const std::string& source) const override;
  std::span<const Measure> curve_measures() const override;
  std::vector<Numbers> curve_points(const std::string& curve, const std::string& source) const override;
};

// Whether it is one of the tasks that are rule-based data.
bool is_rule_task(const std::string& task);
std::vector<OwnTask> rule_tasks();

}  // namespace modlab::experiments

#include "report/rule_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/text.h"
#include "experiments/rules/rules.h"
#include "models/rules/rule_settings.h"
#include "report/some_evenly.h"

namespace modlab::report {
namespace {

using models::RuleModel;
using studies::Cell;
using studies::Findings;
using studies::Record;

constexpr std::size_t kMaxComparisons = 30;
constexpr std::size_t kMaxNetworks = 16;  // of a comparison

// What tells tasks apart. Models are always compared on the same one.
constexpr const char* kTaskAxes[] = {"task_type", "rules",     "search",     "dim",          "order",
                                     "length",    "rule_skew", "rule_noise", "train_samples"};

RuleModel model_of(const experiments::Run& run) { return rule_spec_of(run).model; }

int place_of(const ComparedNetwork& network) {
  const RuleModel model = model_of(network.run());
  return model == RuleModel::kGtModular ? 0 : model == RuleModel::kMonolithic ? 2 : 1;
}

// The network with the median loss; one that diverged counts as worse than all others.
const Record* typical(std::vector<const Record*> runs) {
  std::ranges::stable_sort(runs, {}, [](const Record* record) {
    const double loss = record->measure("id_loss");
    return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
  });
  return runs[(runs.size() - 1) / 2];
}

// Which axes tell comparisons apart, and which ones networks of a comparison.
class Axes {
 public:
  Axes(const Findings& findings, const std::vector<const Cell*>& cells) : findings_(findings) {
    std::set<std::string> mixtures;
    for (const Cell* cell : cells) {
      const std::string series = findings.value(*cell, "series");
      if (model_of(cell->example->run) != RuleModel::kMonolithic) {
        mixtures.insert(series);
      }
      for (const std::string& axis : plain_axes()) {
        const std::string value = findings.value(*cell, axis);
        values_[axis].insert(value);
        values_on_task_[{axis, series}][task_of(*cell)].insert(value);
      }
    }
    for (const std::string& axis : plain_axes()) {
      // What all mixtures vary on is one more thing to choose; what only some of them have is what is compared.
      const bool all_vary = !mixtures.empty() && std::ranges::all_of(mixtures, [&](const std::string& series) {
        return series_varies(axis, series);
      });
      (is_of_task(axis) || all_vary ? chosen_ : compared_).push_back(axis);
    }
  }

  std::string settings_of(const Cell& cell) const {
    std::vector<std::string> parts = {counted(rule_spec_of(cell.example->run).task.rules, "rule")};
    for (const std::string& axis : chosen_) {
      const std::string value = findings_.value(cell, axis);
      if (axis != "rules" && !value.empty() && values_.at(axis).size() > 1) {
        parts.push_back(axis == "task_type" ? value : fmt::format("{} {}", axis, value));
      }
    }
    return join_text(parts, ", ");
  }

  std::string name_of(const Cell& cell) const {
    const std::string series = findings_.value(cell, "series");
    std::string name = series;
    for (const std::string& axis : compared_) {
      if (series_varies(axis, series)) {
        name += fmt::format(", {} {}", axis, findings_.value(cell, axis));
      }
    }
    return name;
  }

 private:
  static bool is_of_task(const std::string& axis) { return std::ranges::find(kTaskAxes, axis) != std::end(kTaskAxes); }

  std::vector<std::string> plain_axes() const {
    std::vector<std::string> axes = findings_.plan().axes;
    const std::vector<std::string>& tune = findings_.study().analysis.tune;
    std::erase_if(axes, [&](const std::string& axis) {
      return experiments::find_setting(axis)->role != settings::Setting::Role::kPlain ||
             std::ranges::find(tune, axis) != tune.end();
    });
    if (!findings_.study().analysis.restarts.empty()) {
      axes.emplace_back(studies::kRestarts);
    }
    return axes;
  }

  std::vector<std::string> task_of(const Cell& cell) const {
    std::vector<std::string> task = {findings_.value(cell, "task")};
    for (const char* axis : kTaskAxes) {
      task.push_back(findings_.value(cell, axis));
    }
    return task;
  }

  // On one and the same task: the number of modules may merely follow that of the rules.
  bool series_varies(const std::string& axis, const std::string& series) const {
    return std::ranges::any_of(values_on_task_.at({axis, series}),
                               [](const auto& task) { return task.second.size() > 1; });
  }

  const Findings& findings_;
  std::map<std::string, std::set<std::string>> values_;  // of each axis
  std::map<std::pair<std::string, std::string>, std::map<std::vector<std::string>, std::set<std::string>>>
      values_on_task_;  // [axis, series][task]
  std::vector<std::string> chosen_;
  std::vector<std::string> compared_;
};

// Comparisons with the same settings, one for each split.
using Group = std::vector<RuleComparison>;

std::vector<RuleComparison> some_of(const std::vector<Group>& groups) {
  const std::vector<Group> shown = some_evenly(groups, kMaxComparisons);
  std::vector<RuleComparison> chosen;
  for (const Group& group : shown) {
    const std::size_t splits = std::min(group.size(), std::max<std::size_t>(1, kMaxComparisons / shown.size()));
    for (std::size_t split = 0; split < splits; ++split) {
      RuleComparison& comparison = chosen.emplace_back(group[split]);
      comparison.networks = some_evenly(comparison.networks, kMaxNetworks);
      std::ranges::stable_sort(comparison.networks, {}, &place_of);
    }
  }
  return chosen;
}

}  // namespace

std::vector<RuleComparison> rule_comparisons(const Findings& findings) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    if (cell.example->run.kind == &experiments::rules() && findings.matches(cell, findings.study().gallery)) {
      cells.push_back(&cell);
    }
  }
  const Axes axes(findings, cells);
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> group_of;
  for (const Cell* cell : cells) {
    const std::string task = findings.value(*cell, "task");
    const std::string settings = axes.settings_of(*cell);
    const auto [place, is_new] = group_of.try_emplace({task, settings}, groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    Group& group = groups[place->second];
    for (const Cell::Split& split : cell->splits) {
      auto found = std::ranges::find(group, split.name, &RuleComparison::split);
      if (found == group.end()) {
        found = group.insert(group.end(), {task, settings, split.name, {}});
      }
      found->networks.push_back(
          {typical(split.runs), findings.value(*cell, "series"), axes.name_of(*cell), split.runs.size()});
    }
  }
  return some_of(groups);
}

models::RuleSpec rule_spec_of(const experiments::Run& run) {
  models::RuleSpec spec;
  models::rule_settings().read(run.values, spec);
  return spec;
}

}  // namespace modlab::report

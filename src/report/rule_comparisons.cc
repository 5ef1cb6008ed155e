#include "report/rule_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/rules/rule_kind.h"
#include "io/json_text.h"
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

int place_of(RuleModel model) { return model == RuleModel::kGtModular ? 0 : model == RuleModel::kMonolithic ? 2 : 1; }

// Null for runs that are not on rules.
const experiments::RuleKind* kind_of(const experiments::Run& run) {
  return dynamic_cast<const experiments::RuleKind*>(run.kind);
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
  Axes(const Findings& findings, studies::Store& store, const std::vector<const Cell*>& cells) : findings_(findings) {
    std::set<std::string> mixtures;
    for (const Cell* cell : cells) {
      const std::string series = findings.value(*cell, "series");
      if (rule_spec_of(cell->example->run, store).model != RuleModel::kMonolithic) {
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
    std::vector<std::string> parts = {
        counted(kind_of(cell.example->run)->rule_spec_of(cell.example->run.values).task.rules, "rule")};
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

std::vector<RuleComparison> some_of(const std::vector<Group>& groups, studies::Store& store) {
  const std::vector<Group> shown = some_evenly(groups, kMaxComparisons);
  std::vector<RuleComparison> chosen;
  for (const Group& group : shown) {
    const std::size_t splits = std::min(group.size(), std::max<std::size_t>(1, kMaxComparisons / shown.size()));
    for (std::size_t split = 0; split < splits; ++split) {
      RuleComparison& comparison = chosen.emplace_back(group[split]);
      comparison.networks = some_evenly(comparison.networks, kMaxNetworks);
      std::ranges::stable_sort(comparison.networks, {}, [&](const ComparedNetwork& network) {
        return place_of(rule_spec_of(network.run(), store).model);
      });
    }
  }
  return chosen;
}

}  // namespace

std::vector<RuleComparison> rule_comparisons(const Findings& findings, studies::Store& store) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    if (kind_of(cell.example->run) != nullptr && findings.matches(cell, findings.study().gallery)) {
      cells.push_back(&cell);
    }
  }
  const Axes axes(findings, store, cells);
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
  return some_of(groups, store);
}

models::RuleSpec rule_spec_of(const experiments::Run& run, studies::Store& store) {
  models::RuleSpec spec = kind_of(run)->rule_spec_of(run.values);
  if (spec.modules > 0) {
    return spec;
  }
  const std::optional<std::string> use = store.blob(run.id(), "activation/last");
  if (!use) {
    spec.model = RuleModel::kMonolithic;
    return spec;
  }
  const nlohmann::ordered_json rows = io::parse_json(*use);
  if (!rows.is_array() || rows.empty() || !rows[0].is_array() || rows[0].empty()) {
    throw FormatError(
        fmt::format("{}: run {}: its activation matrix is none; the store is damaged", store.path(), run.id()));
  }
  spec.modules = static_cast<int>(std::min<std::size_t>(rows[0].size(), tasks::kMaxRules));
  return spec;
}

}  // namespace modlab::report

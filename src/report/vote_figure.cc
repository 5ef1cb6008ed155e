#include "report/vote_figure.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "measures/statistics.h"
#include "report/figure_parts.h"
#include "report/tables.h"
#include "studies/votes.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;
using studies::Votes;

constexpr auto kMeasure = "votes";
constexpr auto kTie = "tie";

// What tells one contest from another: settings that all networks of a figure have, without the model, and neither
// drawn nor tuned.
std::vector<std::string> contest_axes(const Findings& findings, const std::vector<const Cell*>& cells) {
  std::vector<std::string> axes;
  const std::vector<std::string>& tune = findings.study().analysis.tune;
  for (const std::string& axis : findings.plan().axes) {
    const settings::Setting& setting = *experiments::find_setting(axis);
    if (!setting.is_replicate() && setting.role != settings::Setting::Role::kModel &&
        std::ranges::find(tune, axis) == tune.end() &&
        std::ranges::none_of(cells, [&](const Cell* cell) { return findings.value(*cell, axis).empty(); })) {
      axes.push_back(axis);
    }
  }
  return axes;
}

// All that a figure is about, whether or not they have been trained: who is missing has not lost.
std::vector<std::string> contestants_of(const Findings& findings, const Figure& figure) {
  const studies::StudyPlan& plan = findings.plan();
  std::vector<std::string> names;
  const settings::Values::Row* last = nullptr;
  for (const studies::PlannedRun& run : plan.runs) {
    if (run.run.values.row() == last) {
      continue;  // differs in what was drawn alone
    }
    last = run.run.values.row();
    const bool is_shown = std::ranges::all_of(figure.where, [&](const auto& entry) {
      return std::ranges::find(entry.second, plan.value(run, entry.first)) != entry.second.end();
    });
    const std::string name = plan.value(run, figure.series);
    if (is_shown && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

// The share of a split's contests: each split counts alike.
ordered_json share_json(const std::vector<Votes>& splits, const std::function<int(const Votes&)>& votes) {
  std::vector<std::vector<double>> shares;
  int contests = 0;
  for (const Votes& split : splits) {
    shares.push_back({100.0 * votes(split) / split.contests});
    contests += split.contests;
  }
  const measures::MeanWithErrors mean = measures::combine(shares);
  ordered_json json;
  json["mean"] = mean.mean;
  json["within"] = nullptr;
  json["between"] = std::isnan(mean.error_between) ? ordered_json(nullptr) : ordered_json(mean.error_between);
  json["n"] = contests;
  return json;
}

}  // namespace

ordered_json vote_figure(const Findings& findings, const Figure& figure) {
  const std::vector<const Cell*> cells = figure_cells(findings, figure);
  const std::vector<std::string> contestants = contestants_of(findings, figure);
  const std::vector<std::string> axes = contest_axes(findings, cells);
  ordered_json json = empty_figure(figure, "votes");
  json["x"] = axis_json(findings, cells, figure.x, false, AxisRole::kPosition);
  json["panel"] = axis_json(findings, cells, figure.panel, false, AxisRole::kPanel);
  json["row"] = axis_json(findings, cells, figure.row, false, AxisRole::kPanel);
  json["series"] = axis_json(findings, cells, figure.series, false, AxisRole::kPanel);
  json["series"]["order"].push_back(kTie);
  json["measures"].push_back(measure_json({kMeasure, "contests won", "%", false, std::pair{0.0, 100.0}, true, ""}));
  for (const FigurePoint& point : figure_points(findings, cells, {figure.x, figure.panel, figure.row})) {
    std::vector<std::vector<const Cell*>> sides(contestants.size());
    for (const Cell* cell : point.cells) {
      const auto side = std::ranges::find(contestants, findings.value(*cell, figure.series));
      sides[static_cast<std::size_t>(side - contestants.begin())].push_back(cell);
    }
    const std::vector<Votes> splits = studies::Contests(findings, sides, axes, figure.measures).by_split();
    if (splits.empty()) {
      continue;
    }
    const auto add_row = [&](const std::string& series, const std::function<int(const Votes&)>& votes) {
      ordered_json row;
      row["x"] = axis_number(point.key[0]);
      if (!figure.panel.empty()) {
        row["panel"] = panel_text(findings, figure.panel, point.key[1]);
      }
      if (!figure.row.empty()) {
        row["row"] = panel_text(findings, figure.row, point.key[2]);
      }
      row["series"] = series;
      row["values"][kMeasure] = share_json(splits, votes);
      row["chosen"] = ordered_json::array();
      json["rows"].push_back(std::move(row));
    };
    for (std::size_t side = 0; side < contestants.size(); ++side) {
      add_row(panel_text(findings, figure.series, contestants[side]),
              [side](const Votes& votes) { return votes.won[side]; });
    }
    if (std::ranges::any_of(splits, [](const Votes& votes) { return votes.tied > 0; })) {
      add_row(kTie, [](const Votes& votes) { return votes.tied; });
    }
  }
  return json;
}

}  // namespace modlab::report

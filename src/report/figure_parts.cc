#include "report/figure_parts.h"

#include <algorithm>

#include "core/text.h"
#include "io/json_text.h"
#include "report/tables.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;

constexpr std::size_t kMaxRunsShown = 30;

// The setting behind an axis, of the kind of the first run that has it.
const settings::Setting* setting_of(const Findings& findings, const std::string& axis) {
  for (const experiments::Experiment* kind : findings.plan().kinds) {
    const auto found = std::ranges::find(kind->settings(), axis, &settings::Setting::name);
    if (found != kind->settings().end()) {
      return &*found;
    }
  }
  return nullptr;
}

// "training ratio" for ratio: how an axis is called in a picture.
std::string axis_label(const Findings& findings, const std::string& axis) {
  if (axis == "series") {
    const std::vector<const experiments::Experiment*> kinds = findings.plan().kinds;
    const bool is_same = std::ranges::all_of(kinds, [&](const experiments::Experiment* kind) {
      return kind->series_label() == kinds.front()->series_label();
    });
    return is_same && !kinds.empty() ? kinds.front()->series_label() : axis;
  }
  if (axis == studies::kRestarts) {
    return "networks to choose from";
  }
  const settings::Setting* setting = setting_of(findings, axis);
  return setting == nullptr ? axis : setting->shown();
}

bool all_numbers(const std::vector<std::string>& values) {
  return std::ranges::all_of(values, [](const std::string& value) { return parse_real(value).has_value(); });
}

std::vector<std::string> sorted_values(const Findings& findings, const std::vector<const Cell*>& cells,
                                       const std::string& axis) {
  std::vector<std::string> values = studies::axis_values(findings, cells, axis);
  if (all_numbers(values)) {
    std::ranges::sort(values, {}, [](const std::string& value) { return *parse_real(value); });
  }
  return values;
}

}  // namespace

std::vector<const Cell*> figure_cells(const Findings& findings, const Figure& figure) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells(figure.tune)) {
    if (findings.matches(cell, figure.where)) {
      cells.push_back(&cell);
    }
  }
  return cells;
}

std::vector<FigurePoint> figure_points(const Findings& findings, const std::vector<const Cell*>& cells,
                                       const std::vector<std::string>& axes) {
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<FigurePoint> points;
  for (const Cell* cell : cells) {
    std::vector<std::string> key;
    for (const std::string& axis : axes) {
      key.push_back(axis.empty() ? "" : findings.value(*cell, axis));
    }
    const auto [place, is_new] = places.emplace(key, points.size());
    if (is_new) {
      points.push_back({key, {}});
    }
    points[place->second].cells.push_back(cell);
  }
  return points;
}

ordered_json empty_figure(const Figure& figure, const std::string& kind) {
  ordered_json json;
  json["id"] = figure.id;
  json["paper"] = figure.paper;
  json["title"] = figure.title;
  json["about"] = figure.about;
  json["kind"] = kind;
  json["by_measure"] = is_by_measure(figure);
  for (const char* axis : {"x", "y", "panel", "row", "series"}) {
    json[axis] = nullptr;
  }
  for (const char* list : {"measures", "baseline", "rows"}) {
    json[list] = ordered_json::array();
  }
  return json;
}

bool is_by_measure(const Figure& figure) { return figure.panel == studies::kMeasureAxis; }

std::string panel_axis(const Figure& figure) { return is_by_measure(figure) ? "" : figure.panel; }

ordered_json axis_json(const Findings& findings, const std::vector<const Cell*>& cells, const std::string& axis,
                       bool continuous, AxisRole role) {
  if (axis.empty()) {
    return nullptr;
  }
  const std::vector<std::string> values = sorted_values(findings, cells, axis);
  ordered_json json;
  json["name"] = axis;
  json["label"] = axis_label(findings, axis);
  // Numbers of restarts grow by factors: evenly spaced they are readable.
  json["ordinal"] = !(continuous && all_numbers(values)) || axis == studies::kRestarts;
  for (const std::string& value : values) {
    json["order"].push_back(role == AxisRole::kPanel ? ordered_json(panel_text(findings, axis, value))
                                                     : axis_number(value));
  }
  return json;
}

std::string panel_text(const Findings& findings, const std::string& axis, const std::string& value) {
  if (axis == studies::kRestarts) {
    return "best of " + value;
  }
  const settings::Setting* setting = setting_of(findings, axis);
  return setting == nullptr ? value : setting->panel_text(value);
}

ordered_json measure_json(const experiments::Measure& measure) {
  ordered_json json;
  json["name"] = measure.name;
  json["label"] = measure.label;
  json["unit"] = measure.unit;
  json["log"] = measure.log;
  json["domain"] = measure.domain ? ordered_json{measure.domain->first, measure.domain->second} : ordered_json(nullptr);
  json["higher_is_better"] = measure.higher_is_better;
  // Of an accuracy, what lies below the base rate is no scale to draw on.
  json["is_share"] = measure.domain.has_value() && !measure.is_accuracy();
  return json;
}

ordered_json value_json(const studies::UnitValues& units, ShowRuns runs) {
  const measures::MeanWithErrors mean = studies::combine_units(units);
  ordered_json json;
  json["mean"] = io::number_or_null(mean.mean);
  json["within"] = io::number_or_null(mean.error_within);
  json["between"] = io::number_or_null(mean.error_between);
  json["n"] = mean.count;
  if (runs == ShowRuns::kIfFew && units.size() <= kMaxRunsShown) {
    for (const auto& [unit, value] : units) {
      json["runs"].push_back(io::number_or_null(value));
    }
  }
  return json;
}

}  // namespace modlab::report

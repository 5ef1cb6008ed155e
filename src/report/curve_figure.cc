#include "report/curve_figure.h"

#include <algorithm>
#include <set>

#include "report/figure_baseline.h"
#include "report/figure_parts.h"
#include "report/some_evenly.h"

namespace modlab::report {
namespace {

using experiments::Numbers;
using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;
using studies::UnitValues;

// A line has more pixels than a reader looks at.
constexpr std::size_t kMostPlaces = 100;

// A number of the runs of some cells at each place of their curves, averaged over the cells for each unit.
std::map<double, UnitValues> along(const std::vector<const Cell*>& cells, const std::string& x,
                                   const std::string& measure, StoredCurves& curves) {
  std::map<double, std::map<studies::Unit, std::pair<double, int>>> sums;
  for (const Cell* cell : cells) {
    for (const Cell::Split& split : cell->splits) {
      for (std::size_t run = 0; run < split.runs.size(); ++run) {
        for (const Numbers& point : curves.of(split.runs[run]->run->run)) {
          const auto place = point.find(x);
          const auto value = point.find(measure);
          if (place != point.end() && value != point.end()) {
            auto& [sum, count] = sums[place->second][{split.number, split.repetition(run)}];
            sum += value->second;
            ++count;
          }
        }
      }
    }
  }
  std::map<double, UnitValues> values;
  for (const auto& [place, units] : sums) {
    for (const auto& [unit, sum] : units) {
      values[place][unit] = sum.first / sum.second;
    }
  }
  return values;
}

ordered_json place_axis(const std::string& name, const std::set<double>& places) {
  ordered_json json;
  json["name"] = name;
  json["label"] = experiments::find_curve_measure(name)->label;
  json["ordinal"] = false;
  json["order"] = places;
  return json;
}

}  // namespace

const std::vector<Numbers>& StoredCurves::of(const experiments::Run& run) {
  const auto [found, is_new] = curves_.try_emplace(run.number);
  if (is_new) {
    if (const std::optional<std::string> blob = store_.blob(run.id(), "curve")) {
      found->second = run.kind->curve_points(*blob, store_.path());
    }
  }
  return found->second;
}

ordered_json curve_figure(const Findings& findings, const Figure& figure, StoredCurves& curves) {
  const std::vector<const Cell*> cells = figure_cells(findings, figure);
  const std::string panel = panel_axis(figure);
  ordered_json json = empty_figure(figure, "curves");
  json["panel"] = axis_json(findings, cells, panel, false, AxisRole::kPanel);
  json["row"] = axis_json(findings, cells, figure.row, false, AxisRole::kPanel);
  json["series"] = axis_json(findings, cells, figure.series, false, AxisRole::kPanel);
  for (const std::string& name : figure.measures) {
    json["measures"].push_back(measure_json(*experiments::find_curve_measure(name)));
  }
  const auto place_in = [&](ordered_json& item, const std::vector<std::string>& key) {
    if (!panel.empty()) {
      item["panel"] = panel_text(findings, panel, key[0]);
    }
    if (!figure.row.empty()) {
      item["row"] = panel_text(findings, figure.row, key[1]);
    }
  };
  std::set<double> all_places;
  for (const FigurePoint& line : figure_points(findings, cells, {panel, figure.row, figure.series})) {
    std::map<double, ordered_json> values;
    for (const std::string& measure : figure.measures) {
      for (const auto& [place, units] : along(line.cells, figure.x, measure, curves)) {
        values[place][measure] = value_json(units, ShowRuns::kNo);
      }
    }
    std::vector<double> places;
    std::ranges::transform(values, std::back_inserter(places), [](const auto& entry) { return entry.first; });
    for (const double place : some_evenly(places, kMostPlaces)) {
      all_places.insert(place);
      ordered_json row;
      row["x"] = place;
      place_in(row, line.key);
      if (!figure.series.empty()) {
        row["series"] = panel_text(findings, figure.series, line.key[2]);
      }
      row["values"] = std::move(values[place]);
      row["chosen"] = ordered_json::array();
      json["rows"].push_back(std::move(row));
    }
  }
  json["x"] = place_axis(figure.x, all_places);
  for (const std::string& name : figure.measures) {
    const experiments::Measure* measure = experiments::find_measure(name);
    for (const FigurePoint& place : figure_points(findings, cells, {panel, figure.row})) {
      const std::optional<BaselineValue> here = measure == nullptr ? std::nullopt : baseline_of(place.cells, *measure);
      if (here && !all_places.empty()) {
        ordered_json line{{"measure", name}, {"label", here->label}, {"panel", nullptr}, {"row", nullptr}};
        place_in(line, place.key);
        line["points"] = {{{"x", *all_places.begin()}, {"value", here->value}},
                          {{"x", *all_places.rbegin()}, {"value", here->value}}};
        json["baseline"].push_back(std::move(line));
      }
    }
  }
  return json;
}

}  // namespace modlab::report

#include "report/figure_baseline.h"

#include "report/figure_parts.h"
#include "report/tables.h"

namespace modlab::report {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;

std::optional<BaselineValue> baseline_of(const std::vector<const Cell*>& cells, const experiments::Measure& measure) {
  if (measure.is_accuracy()) {
    const studies::UnitValues rates = studies::unit_values(cells, measure.chance);
    return rates.empty() ? std::nullopt : std::optional(BaselineValue{studies::combine_units(rates).mean, "guessing"});
  }
  BaselineValue sum;
  int count = 0;
  for (const Cell* cell : cells) {
    const experiments::Run& run = cell->example->run;
    const experiments::Reference reference = run.kind->reference(run);
    if (const auto found = reference.numbers.find(measure.name); found != reference.numbers.end()) {
      sum.value += found->second;
      sum.label = reference.label;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(BaselineValue{sum.value / count, sum.label});
}

ordered_json baseline_json(const Findings& findings, const std::vector<const Cell*>& cells, const Figure& figure) {
  ordered_json lines = ordered_json::array();
  const std::string panel = panel_axis(figure);
  for (const std::string& name : figure.measures) {
    const experiments::Measure& measure = *experiments::find_measure(name);
    for (const FigurePoint& place : figure_points(findings, cells, {panel, figure.row})) {
      ordered_json line;
      line["measure"] = name;
      line["label"] = "";
      line["panel"] = nullptr;
      line["row"] = nullptr;
      if (!panel.empty()) {
        line["panel"] = panel_text(findings, panel, place.key[0]);
      }
      if (!figure.row.empty()) {
        line["row"] = panel_text(findings, figure.row, place.key[1]);
      }
      line["points"] = ordered_json::array();
      // It may change along x: what is left for testing is not the same at every ratio.
      for (const FigurePoint& point : figure_points(findings, place.cells, {figure.x})) {
        if (const std::optional<BaselineValue> here = baseline_of(point.cells, measure)) {
          line["label"] = here->label;
          line["points"].push_back({{"x", axis_number(point.key[0])}, {"value", here->value}});
        }
      }
      if (!line["points"].empty()) {
        lines.push_back(std::move(line));
      }
    }
  }
  return lines;
}

}  // namespace modlab::report

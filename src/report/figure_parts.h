#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/findings.h"

// What figures of all kinds are made of. web/src/report.ts describes the form.
namespace modlab::report {

// The configurations that a figure looks at.
std::vector<const studies::Cell*> figure_cells(const studies::Findings& findings, const studies::Figure& figure);

// Cells that belong to one point of a figure: those with the same values on some axes, in the order in which they come.
struct FigurePoint {
  std::vector<std::string> key;  // a value for each axis; empty where a figure does not have the axis
  std::vector<const studies::Cell*> cells;
};
std::vector<FigurePoint> figure_points(const studies::Findings& findings,
                                       const std::vector<const studies::Cell*>& cells,
                                       const std::vector<std::string>& axes);

// A figure without axes, measures and rows.
nlohmann::ordered_json empty_figure(const studies::Figure& figure, const std::string& kind);

// Whether its panels show a measure each.
bool is_by_measure(const studies::Figure& figure);
// The axis of its panels as far as it is one of the study's.
std::string panel_axis(const studies::Figure& figure);

// Positions are values, panels and series have names.
enum class AxisRole { kPosition, kPanel };
// Numbers of a continuous axis stand where they are, those of others at equal distances. Null where there is no axis.
nlohmann::ordered_json axis_json(const studies::Findings& findings, const std::vector<const studies::Cell*>& cells,
                                 const std::string& axis, bool continuous, AxisRole role);
// What stands above a panel: names speak for themselves, numbers need their axis.
std::string panel_text(const studies::Findings& findings, const std::string& axis, const std::string& value);

nlohmann::ordered_json measure_json(const experiments::Measure& measure);

// Single runs behind a mean are worth showing while they can be told apart.
enum class ShowRuns { kNo, kIfFew };
nlohmann::ordered_json value_json(const studies::UnitValues& units, ShowRuns runs);

}  // namespace modlab::report

#include "report/figure_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "measures/flops.h"
#include "models/training_settings.h"
#include "report/curve_figure.h"
#include "report/figure_baseline.h"
#include "report/figure_parts.h"
#include "report/tables.h"
#include "report/vote_figure.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;

ordered_json point_json(const std::vector<const Cell*>& cells, const std::vector<std::string>& measures_shown) {
  ordered_json values = ordered_json::object();
  for (const std::string& name : measures_shown) {
    if (const studies::UnitValues units = studies::unit_values(cells, name); !units.empty()) {
      values[name] = value_json(units, ShowRuns::kIfFew);
    }
  }
  return values;
}

ordered_json chosen_json(const std::vector<const Cell*>& cells) {
  ordered_json chosen = ordered_json::array();
  if (cells.size() == 1) {
    for (const Cell::Split& split : cells.front()->splits) {
      chosen.push_back({{"split", split_json(split)}, {"settings", split.settings}});
    }
  }
  return chosen;
}

ordered_json flop_table_json() {
  ordered_json table;
  table["columns"] = {"architecture", "task", "forward", "backward", "update", "printed in the paper"};
  for (const measures::TableOneRow& row : measures::table_one()) {
    const auto differs = row.computed.forward != row.printed.forward || row.computed.backward != row.printed.backward ||
                         row.computed.update != row.printed.update;
    table["rows"].push_back(
        {models::model_name(row.model), row.task, row.computed.forward, row.computed.backward, row.computed.update,
         differs ? fmt::format("{}, {}, {}", row.printed.forward, row.printed.backward, row.printed.update)
                 : "the same"});
  }
  table["notes"] = {
      "Weights used for one sample forward and backward, and parameters updated; biases and activations are "
      "not counted.",
      "The printed backward entry of modular-shared on MNIST leaves out the weights of the Boolean modules."};
  return table;
}

ordered_json drawn_figure(const Findings& findings, const Figure& figure) {
  const bool heatmap = figure.kind == Figure::Kind::kHeatmap;
  const bool lines = figure.kind == Figure::Kind::kLines;
  const std::string panel = panel_axis(figure);
  const std::vector<const Cell*> cells = figure_cells(findings, figure);
  ordered_json json = empty_figure(figure, heatmap ? "heatmap" : lines ? "lines" : "bars");
  json["x"] = axis_json(findings, cells, figure.x, lines && !figure.even, AxisRole::kPosition);
  json["y"] = axis_json(findings, cells, figure.y, false, AxisRole::kPosition);
  json["panel"] = axis_json(findings, cells, panel, false, AxisRole::kPanel);
  json["row"] = axis_json(findings, cells, figure.row, false, AxisRole::kPanel);
  json["series"] = axis_json(findings, cells, figure.series, false, AxisRole::kPanel);
  for (const std::string& name : figure.measures) {
    json["measures"].push_back(measure_json(*experiments::find_measure(name)));
  }
  if (!heatmap) {
    json["baseline"] = baseline_json(findings, cells, figure);
  }
  for (const FigurePoint& point :
       figure_points(findings, cells, {figure.x, figure.y, panel, figure.row, figure.series})) {
    ordered_json row;
    row["x"] = axis_number(point.key[0]);
    if (!figure.y.empty()) {
      row["y"] = axis_number(point.key[1]);
    }
    for (const auto& [name, axis, at] :
         {std::tuple{"panel", &panel, 2}, std::tuple{"row", &figure.row, 3}, std::tuple{"series", &figure.series, 4}}) {
      if (!axis->empty()) {
        row[name] = panel_text(findings, *axis, point.key[static_cast<std::size_t>(at)]);
      }
    }
    row["values"] = point_json(point.cells, figure.measures);
    row["chosen"] = chosen_json(point.cells);
    json["rows"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

ordered_json figure_data(const Findings& findings, studies::Store& store) {
  ordered_json figures = ordered_json::array();
  StoredCurves curves(store);
  for (const Figure& figure : findings.study().figures) {
    if (figure.kind == Figure::Kind::kFlopTable) {
      ordered_json json = empty_figure(figure, "table");
      json["table"] = flop_table_json();
      figures.push_back(std::move(json));
    } else if (figure.kind == Figure::Kind::kVotes) {
      figures.push_back(vote_figure(findings, figure));
    } else if (figure.kind == Figure::Kind::kCurves) {
      figures.push_back(curve_figure(findings, figure, curves));
    } else {
      figures.push_back(drawn_figure(findings, figure));
    }
  }
  return figures;
}

}  // namespace modlab::report

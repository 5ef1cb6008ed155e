#include "report/figure_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "io/json_text.h"
#include "measures/flops.h"
#include "models/training_settings.h"
#include "report/tables.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Figure;
using studies::Findings;

// Single runs behind a mean are worth showing while they can be told apart.
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

// What stands above a panel: names speak for themselves, numbers need their axis.
std::string panel_text(const Findings& findings, const std::string& axis, const std::string& value) {
  if (axis == studies::kRestarts) {
    return "best of " + value;
  }
  const settings::Setting* setting = setting_of(findings, axis);
  return setting == nullptr ? value : setting->panel_text(value);
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

enum class Role { kPosition, kPanel };

ordered_json axis_json(const Findings& findings, const std::vector<const Cell*>& cells, const std::string& axis,
                       bool continuous, Role role) {
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
    json["order"].push_back(role == Role::kPanel ? ordered_json(panel_text(findings, axis, value))
                                                 : axis_number(value));
  }
  return json;
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

ordered_json point_json(const std::vector<const Cell*>& cells, const std::vector<std::string>& measures_shown) {
  ordered_json values = ordered_json::object();
  for (const std::string& name : measures_shown) {
    const studies::UnitValues units = studies::unit_values(cells, name);
    if (units.empty()) {
      continue;
    }
    const measures::MeanWithErrors mean = studies::combine_units(units);
    ordered_json& json = values[name];
    json["mean"] = io::number_or_null(mean.mean);
    json["within"] = io::number_or_null(mean.error_within);
    json["between"] = io::number_or_null(mean.error_between);
    json["n"] = mean.count;
    if (units.size() <= kMaxRunsShown) {
      for (const auto& [unit, value] : units) {
        json["runs"].push_back(io::number_or_null(value));
      }
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

// What guessing reaches on the very rows that an accuracy is about: a line along x in every panel. It may change along
// x, since what is left for testing is not the same at every ratio.
ordered_json baseline_json(const Findings& findings, const std::vector<const Cell*>& cells, const Figure& figure) {
  ordered_json lines = ordered_json::array();
  for (const std::string& name : figure.measures) {
    const experiments::Measure& measure = *experiments::find_measure(name);
    if (!measure.is_accuracy()) {
      continue;
    }
    std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<const Cell*>>> panels;
    for (const Cell* cell : cells) {
      panels[{figure.panel.empty() ? "" : findings.value(*cell, figure.panel),
              figure.row.empty() ? "" : findings.value(*cell, figure.row)}][findings.value(*cell, figure.x)]
          .push_back(cell);
    }
    for (const auto& [place, points] : panels) {
      const auto& [panel, row] = place;
      ordered_json line;
      line["measure"] = name;
      line["panel"] = nullptr;
      line["row"] = nullptr;
      if (!figure.panel.empty()) {
        line["panel"] = panel_text(findings, figure.panel, panel);
      }
      if (!figure.row.empty()) {
        line["row"] = panel_text(findings, figure.row, row);
      }
      line["points"] = ordered_json::array();
      for (const auto& [x, here] : points) {
        const studies::UnitValues rates = studies::unit_values(here, measure.chance);
        if (!rates.empty()) {
          line["points"].push_back({{"x", axis_number(x)}, {"value", studies::combine_units(rates).mean}});
        }
      }
      if (!line["points"].empty()) {
        lines.push_back(std::move(line));
      }
    }
  }
  return lines;
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

ordered_json empty_figure(const Figure& figure, const char* kind) {
  ordered_json json;
  json["id"] = figure.id;
  json["paper"] = figure.paper;
  json["title"] = figure.title;
  json["about"] = figure.about;
  json["kind"] = kind;
  for (const char* axis : {"x", "y", "panel", "row", "series"}) {
    json[axis] = nullptr;
  }
  for (const char* list : {"measures", "baseline", "rows"}) {
    json[list] = ordered_json::array();
  }
  return json;
}

ordered_json drawn_figure(const Findings& findings, const Figure& figure) {
  const bool heatmap = figure.kind == Figure::Kind::kHeatmap;
  const bool lines = figure.kind == Figure::Kind::kLines;
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells(figure.tune)) {
    if (findings.matches(cell, figure.where)) {
      cells.push_back(&cell);
    }
  }
  ordered_json json = empty_figure(figure, heatmap ? "heatmap" : lines ? "lines" : "bars");
  json["x"] = axis_json(findings, cells, figure.x, lines, Role::kPosition);
  json["y"] = axis_json(findings, cells, figure.y, false, Role::kPosition);
  json["panel"] = axis_json(findings, cells, figure.panel, false, Role::kPanel);
  json["row"] = axis_json(findings, cells, figure.row, false, Role::kPanel);
  json["series"] = axis_json(findings, cells, figure.series, false, Role::kPanel);
  for (const std::string& name : figure.measures) {
    json["measures"].push_back(measure_json(*experiments::find_measure(name)));
  }
  if (!heatmap) {
    json["baseline"] = baseline_json(findings, cells, figure);
  }

  const std::vector<std::string> axes = {figure.x, figure.y, figure.panel, figure.row, figure.series};
  std::map<std::vector<std::string>, std::vector<const Cell*>> points;
  std::vector<std::vector<std::string>> order;
  for (const Cell* cell : cells) {
    std::vector<std::string> key;
    for (const std::string& axis : axes) {
      key.push_back(axis.empty() ? "" : findings.value(*cell, axis));
    }
    std::vector<const Cell*>& point = points[key];
    if (point.empty()) {
      order.push_back(key);
    }
    point.push_back(cell);
  }
  for (const std::vector<std::string>& key : order) {
    const std::vector<const Cell*>& point = points.at(key);
    ordered_json row;
    row["x"] = axis_number(key[0]);
    if (!figure.y.empty()) {
      row["y"] = axis_number(key[1]);
    }
    for (const auto& [name, axis, at] : {std::tuple{"panel", &figure.panel, 2}, std::tuple{"row", &figure.row, 3},
                                         std::tuple{"series", &figure.series, 4}}) {
      if (!axis->empty()) {
        row[name] = panel_text(findings, *axis, key[static_cast<std::size_t>(at)]);
      }
    }
    row["values"] = point_json(point, figure.measures);
    row["chosen"] = chosen_json(point);
    json["rows"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

ordered_json figure_data(const Findings& findings) {
  ordered_json figures = ordered_json::array();
  for (const Figure& figure : findings.study().figures) {
    if (figure.kind == Figure::Kind::kFlopTable) {
      ordered_json json = empty_figure(figure, "table");
      json["table"] = flop_table_json();
      figures.push_back(std::move(json));
    } else {
      figures.push_back(drawn_figure(findings, figure));
    }
  }
  return figures;
}

}  // namespace modlab::report

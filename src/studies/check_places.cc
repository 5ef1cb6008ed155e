#include "studies/check_places.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/text.h"

namespace modlab::studies {
namespace {

// What stands for nothing where logarithms are taken: counts begin at 1, and of others it is too little to be measured.
double least_of(const experiments::Measure& measure) {
  constexpr double kLeastPercent = 1e-3;
  constexpr double kLeast = 1e-9;
  return experiments::find_measure(measure.name)->log ? 1 : measure.unit == "%" ? kLeastPercent : kLeast;
}

}  // namespace

Cells cells_of(const CheckContext& context, const Selector& side) {
  Cells cells;
  for (const Cell& cell : context.findings.cells(context.claim.tune)) {
    if (context.findings.matches(cell, side) && context.findings.matches(cell, context.where)) {
      cells.push_back(&cell);
    }
  }
  return cells;
}

std::vector<std::string> key_axes(const CheckContext& context) {
  std::vector<std::string> axes;
  for (const std::string& axis : context.claim.over) {
    const bool named =
        std::ranges::any_of(context.check.sides, [&](const Selector& side) { return side.contains(axis); });
    if (!named && !context.check.best.contains(axis)) {
      axes.push_back(axis);
    }
  }
  return axes;
}

std::map<std::string, Cells> by_axes(const Findings& findings, const Cells& cells,
                                     const std::vector<std::string>& axes) {
  std::map<std::string, Cells> groups;
  for (const Cell* cell : cells) {
    std::string key;
    for (const std::string& axis : axes) {
      key += findings.value(*cell, axis) + "\n";
    }
    groups[key].push_back(cell);
  }
  return groups;
}

std::map<double, Cells> along(const CheckContext& context, const Selector& side) {
  std::map<double, Cells> groups;
  for (const Cell* cell : cells_of(context, side)) {
    if (const auto x = parse_real(context.findings.value(*cell, context.check.along)); x) {
      groups[*x].push_back(cell);
    }
  }
  return groups;
}

UnitValues measured(const CheckPlace& place, bool each_counts) {
  UnitValues values;
  if (each_counts) {
    for (std::size_t at = 0; at < place.cells.size(); ++at) {
      for (const auto& [unit, value] : unit_values({place.cells[at]}, place.measure->name)) {
        values[{unit.split, unit.seed, at}] = value;
      }
    }
  } else {
    values = unit_values(place.cells, place.measure->name);
  }
  if (place.measure->log) {
    const double least = least_of(*place.measure);
    for (auto& [unit, value] : values) {
      value = std::log10(std::max(value, least));
    }
  }
  return values;
}

Draws draws_at(const std::vector<CheckPlace>& places) {
  Draws draws;
  draws.has_splits = std::ranges::any_of(places, [](const CheckPlace& place) {
    return std::ranges::any_of(place.cells, [](const Cell* cell) {
      return std::ranges::any_of(cell->splits, [](const Cell::Split& split) { return !split.name.empty(); });
    });
  });
  const bool each_counts = !draws.has_splits && std::ranges::all_of(places, [&](const CheckPlace& place) {
    return place.cells.size() == places.front().cells.size();
  });
  for (std::size_t at = 0; at < places.size(); ++at) {
    for (const auto& [unit, value] : measured(places[at], each_counts)) {
      const auto found = draws.units.try_emplace(unit, places.size(), std::numeric_limits<double>::quiet_NaN()).first;
      found->second[at] = value;
    }
  }
  if (!draws.has_splits) {
    std::erase_if(draws.units, [](const auto& entry) {
      return std::ranges::any_of(entry.second, [](double value) { return std::isnan(value); });
    });
  }
  return draws;
}

double mean_of_places(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double difference_of_places(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  return mean_of_places(values.first(half)) - mean_of_places(values.subspan(half));
}

}  // namespace modlab::studies

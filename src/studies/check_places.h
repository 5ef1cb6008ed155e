#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "studies/check.h"

// Which cells a check looks at, and what was measured there.
namespace modlab::studies {

using Cells = std::vector<const Cell*>;

// Those of one side.
Cells cells_of(const CheckContext& context, const Selector& side);

// Axes on which the sides are matched: the shared ones but those that a side names.
std::vector<std::string> key_axes(const CheckContext& context);
// By their values on these axes.
std::map<std::string, Cells> by_axes(const Findings& findings, const Cells& cells,
                                     const std::vector<std::string>& axes);

// The cells of one side by the check's numeric axis.
std::map<double, Cells> along(const CheckContext& context, const Selector& side);

// A place that a check looks at: a measure of some cells taken together.
struct CheckPlace {
  Cells cells;
  const experiments::Measure* measure = nullptr;
};

// By unit, as logarithms where the measure spans orders of magnitude. `each_counts`: a run of each cell is a unit of
// its own, instead of all with one split and seed.
UnitValues measured(const CheckPlace& place, bool each_counts);

// What the units have at some places. On a split each place has the seeds that it has. Where nothing is drawn but
// seeds, each run is a trial of its own, unless places are made of different numbers of cells: then the runs with one
// seed are taken together.
Draws draws_at(const std::vector<CheckPlace>& places);

double mean_of_places(std::span<const double> values);
// Of the first half minus the second.
double difference_of_places(std::span<const double> values);

}  // namespace modlab::studies

#include "studies/votes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace modlab::studies {
namespace {

// Errors are ratios of whole numbers; equal ones may differ in the last bit after averaging.
constexpr double kEqualShare = 1e-9;

bool is_equal(double one, double other) {
  return std::abs(one - other) <= kEqualShare * std::max(std::abs(one), std::abs(other));
}

std::string key_of(const Findings& findings, const Cell& cell, const std::vector<std::string>& axes) {
  std::string key;
  for (const std::string& axis : axes) {
    key += findings.value(cell, axis) + "\n";
  }
  return key;
}

}  // namespace

void Votes::add(const Votes& others) {
  won.resize(std::max(won.size(), others.won.size()));
  for (std::size_t side = 0; side < others.won.size(); ++side) {
    won[side] += others.won[side];
  }
  tied += others.tied;
  contests += others.contests;
}

Contests::Contests(const Findings& findings, const std::vector<std::vector<const Cell*>>& sides,
                   const std::vector<std::string>& axes, const std::vector<std::string>& measures)
    : sides_(sides.size()) {
  // [place][side]
  std::map<std::string, std::vector<std::vector<const Cell*>>> places;
  draws_.has_splits = false;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const Cell* cell : sides[side]) {
      auto& place = places[key_of(findings, *cell, axes)];
      place.resize(sides.size());
      place[side].push_back(cell);
      draws_.has_splits = draws_.has_splits || std::ranges::any_of(cell->splits, [](const Cell::Split& split) {
                            return !split.name.empty();
                          });
    }
  }
  std::vector<UnitValues> columns;
  for (const auto& [key, cells_of_side] : places) {
    for (const std::string& measure : measures) {
      std::vector<UnitValues> values;
      for (const std::vector<const Cell*>& cells : cells_of_side) {
        values.push_back(unit_values(cells, measure));
      }
      if (std::ranges::none_of(values, &UnitValues::empty)) {
        std::ranges::move(values, std::back_inserter(columns));
        higher_is_better_.push_back(experiments::find_measure(measure)->higher_is_better);
        break;
      }
    }
  }
  for (std::size_t at = 0; at < columns.size(); ++at) {
    for (const auto& [unit, value] : columns[at]) {
      draws_.units.try_emplace(unit, columns.size(), std::numeric_limits<double>::quiet_NaN()).first->second[at] =
          value;
    }
  }
}

Votes Contests::count(std::span<const double> numbers) const {
  Votes votes{std::vector<int>(sides_, 0), 0, static_cast<int>(higher_is_better_.size())};
  for (std::size_t contest = 0; contest < higher_is_better_.size(); ++contest) {
    const std::span<const double> here = numbers.subspan(contest * sides_, sides_);
    const auto best = higher_is_better_[contest] ? std::ranges::max_element(here) : std::ranges::min_element(here);
    if (std::ranges::count_if(here, [&](double number) { return is_equal(number, *best); }) > 1) {
      ++votes.tied;
    } else {
      ++votes.won[static_cast<std::size_t>(best - here.begin())];
    }
  }
  return votes;
}

std::vector<Votes> Contests::by_split() const {
  std::vector<Votes> votes;
  for (const std::vector<double>& numbers : means_by_split(draws_)) {
    votes.push_back(count(numbers));
  }
  return votes;
}

Statistic Contests::lead(std::size_t side, std::size_t other) const {
  return [this, side, other](std::span<const double> numbers) {
    const Votes votes = count(numbers);
    return 100.0 * (votes.won[side] - votes.won[other]) / votes.contests;
  };
}

}  // namespace modlab::studies

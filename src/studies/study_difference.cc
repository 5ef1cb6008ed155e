#include "studies/study_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "studies/study_plan.h"

namespace modlab::studies {
namespace {

// A list that is read at a glance.
std::string values_text(const std::vector<std::string>& values) {
  constexpr std::size_t kMost = 6;
  if (values.empty()) {
    return "nothing";
  }
  if (values.size() <= kMost) {
    return join_text(values, ", ");
  }
  return fmt::format("{} values from {} to {}", values.size(), values.front(), values.back());
}

std::string was_and_is(const std::string& name, const std::string& was, const std::string& is) {
  return fmt::format("{} was {} and is {}", name, was, is);
}

std::vector<std::string> names_of(const std::vector<Grid>& grids) {
  std::vector<std::string> names;
  std::ranges::transform(grids, std::back_inserter(names), &Grid::series);
  return names;
}

std::string values_of(const Grid& grid, const std::string& setting) {
  const auto found = std::ranges::find(grid.parameters, setting, &Choices::name);
  return found == grid.parameters.end() ? "not set" : values_text(found->values);
}

// Several grids may have one series: the first of them is compared with the first, the second with the second.
const Grid* counterpart(const std::vector<Grid>& grids, const std::string& series, std::ptrdiff_t number) {
  for (const Grid& grid : grids) {
    if (grid.series == series && number-- == 0) {
      return &grid;
    }
  }
  return nullptr;
}

// Settings whose values differ; said once where all grids changed alike.
void compare_settings(const std::vector<Grid>& was, const std::vector<Grid>& is, std::vector<std::string>& parts) {
  std::map<std::string, std::vector<std::string>> series_of_change;
  std::size_t compared = 0;
  for (auto grid = is.begin(); grid != is.end(); ++grid) {
    const Grid* before =
        counterpart(was, grid->series,
                    std::count_if(is.begin(), grid, [&](const Grid& other) { return other.series == grid->series; }));
    if (before == nullptr) {
      continue;
    }
    ++compared;
    std::set<std::string> settings;
    for (const Grid* side : {before, &*grid}) {
      for (const Choices& choice : side->parameters) {
        settings.insert(choice.name);
      }
    }
    for (const std::string& name : settings) {
      const std::string old_values = values_of(*before, name);
      if (const std::string values = values_of(*grid, name); values != old_values) {
        series_of_change[was_and_is(name, old_values, values)].push_back(grid->series);
      }
    }
  }
  for (const auto& [change, series] : series_of_change) {
    parts.push_back(series.size() == compared ? change : fmt::format("in {}, {}", join_text(series, ", "), change));
  }
}

}  // namespace

std::string study_difference(const Study& was, const std::string& was_preset, const Study& is,
                             const std::string& is_preset) {
  std::vector<std::string> parts;
  if (was_preset != is_preset) {
    parts.push_back(
        was_and_is("preset", was_preset.empty() ? "none" : was_preset, is_preset.empty() ? "none" : is_preset));
  }
  const std::vector<Grid> old_grids = preset_grids(was, was_preset);
  const std::vector<Grid> grids = preset_grids(is, is_preset);
  if (names_of(old_grids) != names_of(grids)) {
    parts.push_back(was_and_is("series", values_text(names_of(old_grids)), values_text(names_of(grids))));
  }
  compare_settings(old_grids, grids, parts);
  if (was.analysis.tune != is.analysis.tune) {
    parts.push_back(was_and_is("tune", values_text(was.analysis.tune), values_text(is.analysis.tune)));
  }
  if (was.analysis.restarts != is.analysis.restarts) {
    parts.emplace_back("numbers of restarts are others");
  }
  if (was.analysis.ties != is.analysis.ties) {
    parts.emplace_back("ties are decided in another way");
  }
  if (was.analysis.snapshot != is.analysis.snapshot) {
    parts.push_back(was_and_is("snapshot", was.analysis.snapshot, is.analysis.snapshot));
  }
  if (was.keep != is.keep) {
    parts.emplace_back("it keeps more or less of each run");
  }
  if (was.figures != is.figures || was.claims != is.claims) {
    parts.emplace_back("figures or claims are others");
  }
  return join_text(parts, "; ");
}

}  // namespace modlab::studies

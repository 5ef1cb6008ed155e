#include "studies/asked_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "studies/study_plan.h"

namespace modlab::studies {
namespace {

using settings::Setting;

// Runs that share all but splits and seeds count once.
std::vector<const settings::Values*> different_rows(const std::vector<experiments::Run>& runs) {
  std::vector<const settings::Values*> rows;
  for (const experiments::Run& run : runs) {
    if (rows.empty() || rows.back()->row() != run.values.row()) {
      rows.push_back(&run.values);
    }
  }
  return rows;
}

// "depth2 and depth3": what the runs have for their task, or their model.
std::string names_of(Setting::Role role, const std::vector<const settings::Values*>& rows) {
  std::vector<std::string> names;
  for (const settings::Values* values : rows) {
    for (std::size_t at = 0; at < values->size(); ++at) {
      if (values->setting_at(at).role == role && std::ranges::find(names, values->text_at(at)) == names.end()) {
        names.push_back(values->text_at(at));
      }
    }
  }
  return join_text(names, " and ");
}

}  // namespace

std::vector<experiments::Run> asked_runs(const std::vector<Choices>& choices, const std::vector<std::string>& asked,
                                         const std::function<std::string(const std::string& name)>& written) {
  std::vector<experiments::Run> runs = all_combinations(choices);
  const std::vector<const settings::Values*> rows = different_rows(runs);
  for (const std::string& name : asked) {
    const bool is_used = std::ranges::any_of(rows, [&](const settings::Values* values) { return values->has(name); });
    if (is_used || runs.empty()) {
      continue;
    }
    const std::span<const Setting> own = runs.front().kind->settings();
    const auto found = std::ranges::find(own, name, &Setting::name);
    throw ConfigError(found == own.end()
                          ? fmt::format("{} means nothing to task {}; leave it out", written(name),
                                        names_of(Setting::Role::kTask, rows))
                          : fmt::format("{} means nothing to model {} ({} have it); leave it out", written(name),
                                        names_of(Setting::Role::kModel, rows), found->of));
  }
  return runs;
}

}  // namespace modlab::studies

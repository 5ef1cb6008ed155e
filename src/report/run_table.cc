#include "report/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/text.h"
#include "io/csv_file.h"

namespace modlab::report {
namespace {

using experiments::Run;

// Settings that some run has a value for, in the order of the list of settings. `differ` leaves out those that are the
// same in all runs that have them.
std::vector<std::string> speaking_settings(const std::vector<const Run*>& runs, bool differ) {
  std::set<std::string> speaking;
  std::unordered_set<const settings::Values::Row*> seen;
  for (const Run* run : runs) {
    if (!seen.insert(run->values.row()).second) {
      continue;  // differs in splits and seeds alone, which always speak
    }
    for (std::size_t at = 0; at < run->values.size(); ++at) {
      if (run->values.speaks_at(at)) {
        speaking.insert(run->values.setting_at(at).name);
      }
    }
  }
  const auto differs = [&](const std::string& name) {
    std::string first;
    return std::ranges::any_of(runs, [&](const Run* run) {
      const std::string here = run->values.text(name);
      first = first.empty() ? here : first;
      return !here.empty() && here != first;
    });
  };
  std::vector<std::string> names;
  for (const std::string& name : experiments::setting_names()) {
    if (speaking.contains(name) && (!differ || differs(name))) {
      names.push_back(name);
    }
  }
  return names;
}

std::string settings_cells(const Run& run, const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& name : settings) {
    text += "," + io::csv_cell(run.values.text(name));
  }
  return text;
}

}  // namespace

std::string run_table(std::span<const RunRow> rows) {
  std::vector<const Run*> runs;
  std::ranges::transform(rows, std::back_inserter(runs), &RunRow::run);
  const std::vector<std::string> settings = speaking_settings(runs, false);
  std::set<std::string_view> there;
  for (const RunRow& row : rows) {
    for (const auto& [name, number] : *row.numbers) {
      there.insert(name);
    }
  }
  std::vector<std::string> measures;
  for (const experiments::Measure& measure : experiments::all_measures()) {
    if (there.contains(measure.name)) {
      measures.push_back(measure.name);
    }
  }
  std::vector<std::string> names = {"run", "id"};
  names.insert(names.end(), settings.begin(), settings.end());
  names.emplace_back("diverged");
  names.insert(names.end(), measures.begin(), measures.end());
  std::string text = join_text(names, ",") + "\n";
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const RunRow& row = rows[number];
    text += fmt::format("{},{}{},{}", number, row.run->id(), settings_cells(*row.run, settings), row.diverged ? 1 : 0);
    for (const std::string& measure : measures) {
      const auto found = row.numbers->find(measure);
      text += "," + (found == row.numbers->end() ? "" : io::csv_cell(found->second));
    }
    text += "\n";
  }
  return text;
}

RunKeys::RunKeys(const std::vector<Run>& runs) {
  std::vector<const Run*> all;
  std::ranges::transform(runs, std::back_inserter(all), [](const Run& run) { return &run; });
  settings_ = speaking_settings(all, true);
}

std::string RunKeys::header() const {
  return "run,id" + std::string(settings_.empty() ? "" : ",") + join_text(settings_, ",");
}

std::string RunKeys::start(std::size_t number, const Run& run) const {
  return fmt::format("{},{}{}", number, run.id(), settings_cells(run, settings_));
}

}  // namespace modlab::report

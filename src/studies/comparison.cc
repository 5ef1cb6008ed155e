#include "studies/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::studies {
namespace {

using settings::Setting;

std::string value_of(const experiments::Run& run, const std::string& setting) {
  return run.values.has(setting) ? run.values.text(setting) : "";
}

// The settings in which the runs differ, in the order in which kinds have them.
std::vector<const Setting*> varying_settings(std::span<const ComparedRun> runs) {
  std::vector<const Setting*> varying;
  for (const std::string& name : experiments::setting_names()) {
    const Setting* setting = experiments::find_setting(name);
    if (setting->role != Setting::Role::kFact && !setting->sets_others &&
        std::ranges::any_of(runs, [&](const ComparedRun& run) {
          return value_of(*run.run, name) != value_of(*runs.front().run, name);
        })) {
      varying.push_back(setting);
    }
  }
  return varying;
}

const Setting& compared_setting(const std::vector<const Setting*>& varying, const std::string& name) {
  const Setting* chosen = nullptr;
  if (!name.empty()) {
    chosen = experiments::find_setting(name);
    if (chosen == nullptr) {
      throw ConfigError(
          fmt::format("--compare: there is no setting '{}'{}", name, did_you_mean(name, experiments::setting_names())));
    }
    if (std::ranges::find(varying, chosen) == varying.end()) {
      throw ConfigError(fmt::format("--compare: all runs have the same {}; give it several values", chosen->name));
    }
  }
  for (const Setting* setting : varying) {
    if (!name.empty() || setting->is_replicate()) {
      continue;
    }
    // The model is what most comparisons are about; what follows from it is not.
    if (chosen == nullptr || setting->role == Setting::Role::kModel) {
      chosen = setting;
    }
  }
  if (chosen == nullptr || chosen->is_replicate()) {
    throw ConfigError(
        "--compare: there is nothing to compare; give a setting several values, such as --model dense,modular");
  }
  return *chosen;
}

// Numbers for equal texts, in the order in which they come.
class Numbering {
 public:
  std::uint64_t of(const std::string& text) { return numbers_.emplace(text, numbers_.size()).first->second; }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

}  // namespace

std::vector<Comparison> compare_runs(std::span<const ComparedRun> runs, const std::string& setting_name) {
  const std::vector<const Setting*> varying = varying_settings(runs);
  const Setting& compared = compared_setting(varying, setting_name);
  const bool is_model = compared.role == Setting::Role::kModel;
  // Settings that only some models have tell models apart once more, unless they differ within one.
  const auto tells = [&](const Setting& setting) {
    if (std::ranges::all_of(runs, [&](const ComparedRun& run) { return run.run->values.has(setting.name); })) {
      return true;
    }
    std::map<std::string, std::string> of_model;
    return !is_model && std::ranges::any_of(runs, [&](const ComparedRun& run) {
      const std::string value = value_of(*run.run, setting.name);
      return of_model.emplace(value_of(*run.run, "model"), value).first->second != value;
    });
  };
  struct Place {
    std::string where;
    std::vector<std::string> values;  // in the order of the runs
    std::map<std::string, std::map<Unit, double>> units;
    const experiments::Measure* measure = nullptr;
    bool has_splits = false;
    std::string drawn;
  };
  std::map<std::string, Place> places;
  std::vector<std::string> order;
  Numbering splits;
  Numbering seeds;
  for (const ComparedRun& run : runs) {
    std::vector<std::string> where;
    std::string split;
    std::string seed;
    for (const Setting* setting : varying) {
      const std::string text = value_of(*run.run, setting->name);
      if (setting->role == Setting::Role::kSplit) {
        split += text + ",";
      } else if (setting->role == Setting::Role::kSeed) {
        seed += text + ",";
      } else if (setting != &compared && tells(*setting)) {
        where.push_back(setting->name + " " + text);
      }
    }
    const std::string key = join_text(where, ", ");
    const auto [found, is_new] = places.emplace(key, Place{});
    Place& place = found->second;
    if (is_new) {
      place.where = key;
      order.push_back(key);
    }
    const std::string headline = run.run->kind->parts().headline;
    const std::string value = value_of(*run.run, compared.name);
    if (const auto number = run.numbers->find(headline); number != run.numbers->end()) {
      if (std::ranges::find(place.values, value) == place.values.end()) {
        place.values.push_back(value);
      }
      place.measure = experiments::find_measure(headline);
      place.units[value][{splits.of(split), seeds.of(seed)}] = number->second;
    }
    place.drawn = run.run->kind->split_word();
    for (const Setting& setting : run.run->kind->settings()) {
      place.has_splits = place.has_splits || setting.role == Setting::Role::kSplit;
    }
  }
  std::vector<Comparison> comparisons;
  for (const std::string& key : order) {
    const Place& place = places.at(key);
    for (std::size_t at = 1; at < place.values.size(); ++at) {
      Draws draws;
      draws.has_splits = place.has_splits;
      const std::map<Unit, double>& reference = place.units.at(place.values.front());
      for (const auto& [unit, number] : place.units.at(place.values[at])) {
        if (const auto paired = reference.find(unit); paired != reference.end()) {
          draws.units[unit] = {number - paired->second};
        }
      }
      std::optional<Evidence> evidence =
          evidence_of(draws, [](std::span<const double> values) { return values.front(); });
      if (evidence) {
        evidence->drawn = place.drawn;
        comparisons.push_back({place.values[at], place.values.front(), place.where, place.measure, *evidence});
      }
    }
  }
  return comparisons;
}

}  // namespace modlab::studies

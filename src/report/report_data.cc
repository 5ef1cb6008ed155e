#include "report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "io/json_text.h"
#include "report/figure_data.h"
#include "report/galleries.h"
#include "report/tables.h"
#include "studies/check_text.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Findings;

// What some runs of a study have come to.
struct Count {
  studies::RunSet planned;
  int done = 0;
  std::set<std::string> settings;
};

// What the work took. Runs that share most of it all know how long it took.
struct Effort {
  int diverged = 0;
  double seconds = 0;
  double trainings = 0;
  std::size_t shares = 0;
  bool counts_trainings = false;
};

Effort effort_of(const Findings& findings) {
  Effort effort;
  studies::RunSet seen;
  std::set<std::pair<const experiments::Experiment*, std::uint64_t>> shares;
  for (const studies::Record& record : findings.records()) {
    const experiments::Run& run = record.run->run;
    if (!seen.insert(run.number).second) {
      continue;
    }
    const studies::ResultTable::Row& row = record.table->row(record.row);
    effort.diverged += row.diverged ? 1 : 0;
    if (!shares.emplace(run.kind, run.kind->share_key(run)).second) {
      continue;
    }
    effort.seconds += row.seconds;
    if (const std::string measure = run.kind->parts().trainings; !measure.empty()) {
      const double trainings = record.measure(measure);
      effort.trainings += std::isnan(trainings) ? 0 : trainings;
      effort.counts_trainings = true;
      ++effort.shares;
    }
  }
  return effort;
}

ordered_json overview_json(const Findings& findings, studies::Store& store) {
  const studies::StudyPlan& plan = findings.plan();
  std::vector<Count> counts(plan.series.size());
  studies::RunSet all;
  int done = 0;
  const settings::Values::Row* last = nullptr;
  for (const studies::PlannedRun& run : plan.runs) {
    Count& count = counts[run.series];
    const bool is_done = findings.table().find(run.number()).has_value();
    if (count.planned.insert(run.number()).second) {
      count.done += is_done ? 1 : 0;
    }
    if (run.run.values.row() != last) {
      last = run.run.values.row();
      std::string settings;
      for (const std::string& name : findings.study().analysis.tune) {
        settings += plan.value(run, name) + "\n";
      }
      count.settings.insert(settings);
    }
    done += all.insert(run.number()).second && is_done ? 1 : 0;
  }
  const Effort effort = effort_of(findings);
  const std::vector<studies::Origin> origins = store.origins();
  std::vector<std::string> machines;
  std::vector<std::string> networks;
  for (const studies::Origin& origin : origins) {
    if (!origin.machine.empty() && std::ranges::find(machines, origin.machine) == machines.end()) {
      machines.push_back(origin.machine);
    }
    if (!origin.networks.empty()) {
      networks.push_back(origin.networks);
    }
  }
  ordered_json json;
  json["planned"] = all.size();
  json["done"] = done;
  json["diverged"] = effort.diverged;
  json["core_seconds"] = effort.seconds;
  json["trainings"] = effort.counts_trainings ? ordered_json(effort.trainings) : ordered_json(nullptr);
  json["carvings"] = effort.counts_trainings ? ordered_json(effort.shares) : ordered_json(nullptr);
  json["threads"] = nullptr;
  json["machine"] = networks.empty() ? join_text(machines, "; ")
                                     : fmt::format("networks of {}, judged only", join_text(networks, ", "));
  json["given"] = !networks.empty();
  json["overrides"] = store.study().overrides;
  json["shard"] = store.study().shard.is_whole() ? "" : store.study().shard.text();
  json["missing"] = ordered_json::array();
  json["series"] = ordered_json::array();
  for (std::size_t series = 0; series < counts.size(); ++series) {
    const Count& count = counts[series];
    if (count.done < static_cast<int>(count.planned.size())) {
      json["missing"].push_back(
          {{"series", plan.series[series]}, {"planned", count.planned.size()}, {"done", count.done}});
    }
    json["series"].push_back(
        {{"name", plan.series[series]}, {"runs", count.planned.size()}, {"settings", count.settings.size()}});
  }
  return json;
}

ordered_json tasks_json(const studies::StudyPlan& plan) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, facts] : plan.tasks()) {
    list.push_back(facts.page);
  }
  return list;
}

// A number of a check as the page shows it; null where nothing is known.
ordered_json shown(const studies::CheckResult& check, double value) {
  return io::number_or_null(check.is_factor && std::isfinite(value) ? std::pow(10, value) : value);
}

ordered_json judgement_json(const studies::CheckResult& check, const studies::Judgement& judgement) {
  return {{"verdict", studies::verdict_text(judgement.verdict)},
          {"too_few", judgement.too_few},
          {"estimate", shown(check, judgement.mean)},
          {"low", shown(check, judgement.low)},
          {"high", shown(check, judgement.high)},
          {"p", judgement.p_wrong},
          {"population", judgement.population},
          {"interval", studies::interval_text(judgement, check.is_factor)}};
}

ordered_json check_json(const studies::CheckResult& check) {
  ordered_json json;
  json["text"] = check.text;
  json["expectation"] = check.expectation;
  json["expected_low"] = shown(check, check.expected.low);
  json["expected_high"] = shown(check, check.expected.high);
  json["verdict"] = studies::verdict_text(check.verdict);
  json["general"] = check.judgement ? judgement_json(check, *check.judgement) : ordered_json(nullptr);
  json["here"] = check.here ? judgement_json(check, *check.here) : ordered_json(nullptr);
  json["difference"] = check.is_difference;
  json["unit"] = check.is_factor ? "×" : check.unit;
  json["splits"] = check.splits;
  json["seeds"] = check.seeds;
  json["covered"] = check.covered;
  json["note"] = check.note;
  return json;
}

ordered_json claims_json(const std::vector<studies::ClaimResult>& claims) {
  ordered_json list = ordered_json::array();
  for (const studies::ClaimResult& result : claims) {
    ordered_json json;
    json["id"] = result.claim->id;
    json["figure"] = result.claim->figure;
    json["text"] = result.claim->text;
    json["verdict"] = studies::verdict_text(result.verdict);
    json["here"] = result.here ? ordered_json(studies::verdict_text(*result.here)) : ordered_json(nullptr);
    json["reason"] = result.reason;
    json["checks"] = ordered_json::array();
    for (const studies::CheckResult& check : result.checks) {
      json["checks"].push_back(check_json(check));
    }
    list.push_back(std::move(json));
  }
  return list;
}

ordered_json chosen_json(const Findings& findings) {
  ordered_json list = ordered_json::array();
  const CellNames names(findings);
  for (const studies::Cell& cell : findings.cells()) {
    const std::string name = names.name(cell);
    for (const studies::Cell::Split& split : cell.splits) {
      list.push_back({{"series", findings.value(cell, "series")},
                      {"cell", name},
                      {"split", split_json(split)},
                      {"settings", split.settings},
                      {"validation", split.validation},
                      {"tied", split.tied}});
    }
  }
  return list;
}

}  // namespace

ordered_json report_data(const Findings& findings, const std::vector<studies::ClaimResult>& claims,
                         studies::Store& store) {
  const studies::Study& study = findings.study();
  const studies::Preset* preset = studies::find_preset(study, store.study().preset);
  ordered_json json;
  json["study"] = study.name;
  json["title"] = study.title;
  json["about"] = study.about;
  json["paper"] = study.paper;
  json["preset"] = store.study().preset;
  json["preset_about"] = preset == nullptr ? "" : preset->about;
  json["version"] = MODLAB_VERSION;
  json["overview"] = overview_json(findings, store);
  json["tasks"] = tasks_json(findings.plan());
  json["level"] = measures::kLevel;
  json["drawn"] = findings.split_word();
  json["claims"] = claims_json(claims);
  json["figures"] = figure_data(findings, store);
  json.update(galleries(findings, store));
  json["chosen"] = chosen_json(findings);
  return json;
}

}  // namespace modlab::report

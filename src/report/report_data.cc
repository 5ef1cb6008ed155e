#include "report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "core/text.h"
#include "report/figure_data.h"
#include "report/gallery.h"
#include "report/gallery_sculpted.h"
#include "report/tables.h"
#include "studies/check_text.h"
#include "studies/run_sculpted.h"
#include "tasks/graph_svg.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Findings;

ordered_json overview_json(const Findings& findings, studies::Store& store) {
  const studies::StudyPlan& plan = findings.plan();
  const std::unordered_map<std::string, studies::RunResult> results = store.results();
  struct Count {
    std::set<std::string> planned;
    int done = 0;
    std::set<std::string> settings;
  };
  std::vector<Count> counts(plan.series.size());
  std::set<std::string> all;
  int done = 0;
  int diverged = 0;
  double seconds = 0;
  double trainings = 0;
  std::set<std::string> carvings;
  for (const studies::PlannedRun& run : plan.runs) {
    Count& count = counts[run.series];
    const auto found = results.find(run.id);
    const bool is_done = found != results.end();
    if (count.planned.insert(run.id).second) {
      count.done += is_done ? 1 : 0;
    }
    std::string settings;
    for (const std::string& name : findings.study().analysis.tune) {
      settings += plan.value(run, name) + "\n";
    }
    count.settings.insert(settings);
    if (all.insert(run.id).second && is_done) {
      ++done;
      diverged += found->second.diverged ? 1 : 0;
      // Runs that share a trial all know how long it took.
      if (!plan.is_sculpted() || carvings.insert(studies::carving_id(run.spec)).second) {
        seconds += found->second.seconds;
        const auto of_trial = found->second.sculpted.find("trainings");
        trainings += of_trial == found->second.sculpted.end() ? 0 : of_trial->second;
      }
    }
  }
  ordered_json json;
  json["planned"] = all.size();
  json["done"] = done;
  json["diverged"] = diverged;
  json["core_seconds"] = seconds;
  json["trainings"] = plan.is_sculpted() ? ordered_json(trainings) : ordered_json(nullptr);
  json["carvings"] = plan.is_sculpted() ? ordered_json(carvings.size()) : ordered_json(nullptr);
  json["threads"] = nullptr;
  json["machine"] = store.study().machine;
  json["given"] = store.study().holds_given();
  json["overrides"] = store.study().overrides;
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
  for (const auto& [name, suite] : plan.suites) {
    ordered_json gates = ordered_json::array();
    for (const tasks::Task& task : suite.tasks) {
      if (!task.graph) {
        continue;
      }
      for (const auto& level : task.graph->levels) {
        for (const tasks::Gate& gate : level) {
          gates.push_back(gate.name + " = " + tasks::gate_text(*task.graph, gate));
        }
      }
    }
    list.push_back({{"name", name},
                    {"about", suite.about},
                    {"inputs", suite.inputs()},
                    {"outputs", suite.outputs()},
                    {"base_rate", 100 * tasks::always_zero_accuracy(suite)},
                    {"gates", gates},
                    {"picture", plan.is_sculpted() ? ordered_json(tasks::graph_svg(suite)) : ordered_json(nullptr)}});
  }
  return list;
}

ordered_json check_json(const studies::CheckResult& check) {
  ordered_json json;
  json["text"] = check.text;
  json["verdict"] = studies::verdict_text(check.verdict);
  const auto shown = [&](double value) { return check.is_factor ? std::pow(10, value) : value; };
  if (check.interval) {
    json["estimate"] = shown(check.interval->estimate);
    json["low"] = shown(check.interval->low);
    json["high"] = shown(check.interval->high);
    json["p"] = check.p ? ordered_json(*check.p) : ordered_json(nullptr);
  } else {
    for (const char* name : {"estimate", "low", "high", "p"}) {
      json[name] = nullptr;
    }
  }
  json["unit"] = check.is_factor ? "×" : check.unit;
  json["n"] = check.runs;
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
                      {"split", split.split_seed},
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
  json["preset"] = store.study().preset;
  json["preset_about"] = preset == nullptr ? "" : preset->about;
  json["version"] = MODLAB_VERSION;
  json["overview"] = overview_json(findings, store);
  json["tasks"] = tasks_json(findings.plan());
  json["claims"] = claims_json(claims);
  json["figures"] = figure_data(findings);
  json["gallery"] = gallery(findings, store);
  json["sculpted"] = gallery_sculpted(findings, store);
  json["chosen"] = chosen_json(findings);
  return json;
}

}  // namespace modlab::report

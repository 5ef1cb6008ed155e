#include "report/gallery_masks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "report/gallery.h"
#include "report/some_evenly.h"
#include "report/stored_masks.h"
#include "report/tables.h"
#include "tasks/task_cache.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Findings;
using studies::Record;

constexpr std::size_t kMostMaskedCells = 24;

// From the least shared to the most. A dense network that did not learn was not masked, and networks with one target
// share nothing: their order is that of the plan.
std::vector<const Record*> masked_runs(const Cell& cell) {
  std::vector<const Record*> runs;
  for (const Cell::Split& split : cell.splits) {
    std::ranges::copy_if(split.runs, std::back_inserter(runs),
                         [](const Record* record) { return !std::isnan(record->measure("unmasked_accuracy")); });
  }
  std::ranges::stable_sort(runs, {}, [](const Record* record) {
    const double shared = record->measure("iou");
    return std::isnan(shared) ? -std::numeric_limits<double>::infinity() : shared;
  });
  return runs;
}

// What inputs and outputs are called; those of tasks that are no files have no names.
void add_unit_names(const experiments::Run& run, ordered_json& json) {
  json["inputs"] = ordered_json::array();
  json["outputs"] = ordered_json::array();
  if (experiments::owner_of(run.values.text("task")) != nullptr) {
    return;
  }
  const tasks::Task& task = tasks::cached_task(run.values.text("task"))->tasks.front();
  json["inputs"] = task.input_names;
  json["outputs"] = task.output_names;
}

ordered_json masked_network(const Record& record, const char* rank, studies::Store& store) {
  const experiments::Run& run = record.run->run;
  ordered_json masks = stored_masks(run, store);
  if (masks.is_null()) {
    return nullptr;
  }
  ordered_json json = {{"id", run.id()}, {"rank", rank}, {"settings", drawn_text(run)}};
  add_unit_names(run, json);
  json.update(masks);
  return json;
}

}  // namespace

ordered_json gallery_masks(const experiments::Experiment& kind, const Findings& findings, studies::Store& store) {
  std::vector<const Cell*> shown;
  for (const Cell& cell : findings.cells()) {
    if (cell.example->run.kind == &kind && findings.matches(cell, findings.study().gallery)) {
      shown.push_back(&cell);
    }
  }
  const CellNames names(findings);
  ordered_json cells = ordered_json::array();
  for (const Cell* cell : some_evenly(shown, kMostMaskedCells)) {
    const std::vector<const Record*> runs = masked_runs(*cell);
    ordered_json json;
    json["task"] = findings.value(*cell, "task");
    json["series"] = findings.value(*cell, "series");
    json["cell"] = json["series"].get<std::string>() + ", " + names.name(*cell);
    json["runs"] = runs.size();
    json["networks"] = ordered_json::array();
    std::set<std::size_t> seen;
    const std::size_t last = runs.empty() ? 0 : runs.size() - 1;
    // The median comes first: where there are few runs it is the one to see.
    for (const auto& [rank, at] : {std::pair{"median", last / 2}, {"least", std::size_t{0}}, {"most", last}}) {
      if (runs.empty() || !seen.insert(at).second) {
        continue;
      }
      if (ordered_json network = masked_network(*runs[at], rank, store); !network.is_null()) {
        json["networks"].push_back(std::move(network));
      }
    }
    cells.push_back(std::move(json));
  }
  return cells;
}

}  // namespace modlab::report

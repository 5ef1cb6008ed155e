#include "report/gallery.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/errors.h"
#include "experiments/training/training_text.h"
#include "report/some_evenly.h"
#include "report/tables.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using studies::Cell;
using studies::Findings;
using studies::Record;

constexpr std::size_t kMaxCells = 24;
constexpr int kCurvePoints = 160;

// Some points of a curve, evenly by epochs, and the best one: what it reached must be in the picture. `known` are the
// epochs that there are.
std::set<std::size_t> points_to_draw(const std::vector<int>& known, int best) {
  std::set<std::size_t> chosen;
  const auto choose = [&](int epoch) {
    const auto place = std::ranges::lower_bound(known, epoch);
    chosen.insert(static_cast<std::size_t>(place - known.begin()));
  };
  const int last = known.back();
  for (const int epoch : {best, last}) {
    choose(epoch);
  }
  const int step = std::max(1, last / kCurvePoints);
  for (int epoch = 1; epoch <= last; epoch += step) {
    choose(epoch);
  }
  return chosen;
}

// The name of a part in the page: what is tested on is the test.
std::string page_name(const NetworkGallery& gallery, std::size_t part) {
  return part == 2 ? "test" : gallery.parts[part];
}

// The epoch of the best snapshot, which must be one of the run's.
std::size_t best_epoch(const std::map<std::string, experiments::Numbers>& snapshots, std::size_t epochs,
                       const std::string& id, const std::string& source) {
  const auto best = snapshots.find("best");
  const double epoch =
      best != snapshots.end() && best->second.contains("best_epoch") ? best->second.at("best_epoch") : 0;
  if (!(epoch >= 1 && epoch <= static_cast<double>(epochs) && epoch == std::floor(epoch))) {
    throw FormatError(fmt::format("{}: run {} has no epoch {}; the store is damaged", source, id, epoch));
  }
  return static_cast<std::size_t>(epoch);
}

void add_curve(studies::Store& store, const experiments::Run& run, const NetworkGallery& gallery, ordered_json& json) {
  const auto epochs = run.values.get("epochs").get<std::size_t>();
  const std::map<std::string, experiments::Numbers> snapshots = store.snapshots(run.id());
  const std::size_t best = best_epoch(snapshots, epochs, run.id(), store.path());
  json["best_epoch"] = best;
  ordered_json& curve = json["curve"] = {{"epochs", ordered_json::array()}};
  for (std::size_t part = 0; part < gallery.parts.size(); ++part) {
    curve[page_name(gallery, part)] = ordered_json::array();
  }
  const std::optional<std::string> stored = store.blob(run.id(), "curve");
  if (!stored) {
    return;
  }
  const experiments::StoredAccuracies accuracies =
      experiments::stored_accuracies(run, snapshots, *stored, gallery.parts.size(), gallery.parts[2], store.path());
  for (const std::size_t point : points_to_draw(accuracies.epochs, static_cast<int>(best))) {
    curve["epochs"].push_back(accuracies.epochs[point]);
    for (std::size_t part = 0; part < gallery.parts.size(); ++part) {
      curve[page_name(gallery, part)].push_back(std::round(10 * accuracies.parts[part][point]) / 10);
    }
  }
}

std::vector<const Cell*> gallery_cells(const Findings& findings, const NetworkGallery& gallery) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    if (cell.example->run.kind == gallery.kind && gallery.is_shown(cell.example->run) &&
        findings.matches(cell, findings.study().gallery)) {
      cells.push_back(&cell);
    }
  }
  return some_evenly(cells, kMaxCells);
}

}  // namespace

std::string drawn_text(const experiments::Run& run) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < run.values.size(); ++at) {
    if (const settings::Setting& setting = run.values.setting_at(at); setting.is_replicate()) {
      parts.push_back(fmt::format("{} {}", setting.role == settings::Setting::Role::kSplit ? "split" : setting.name,
                                  run.values.text_at(at)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

ordered_json gallery_of_networks(const Findings& findings, studies::Store& store, const NetworkGallery& gallery) {
  const experiments::Parts names_of_parts = gallery.kind->parts();
  const CellNames names(findings);
  ordered_json networks = ordered_json::array();
  for (const Cell* cell : gallery_cells(findings, gallery)) {
    std::vector<std::pair<const Record*, const Cell::Split*>> runs;
    for (const Cell::Split& split : cell->splits) {
      for (const Record* record : split.runs) {
        runs.emplace_back(record, &split);
      }
    }
    std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
      const double first = a.first->measure(names_of_parts.headline);
      const double second = b.first->measure(names_of_parts.headline);
      return first != second ? first > second
                             : a.first->measure(names_of_parts.cost) < b.first->measure(names_of_parts.cost);
    });
    const std::pair<const char*, std::size_t> ranks[] = {
        {"best", 0}, {"median", runs.size() / 2}, {"worst", runs.size() - 1}};
    std::set<std::size_t> shown;
    for (const auto& [rank, at] : ranks) {
      if (!shown.insert(at).second) {
        continue;
      }
      const auto& [record, split] = runs[at];
      const experiments::Run& run = record->run->run;
      ordered_json json;
      json["id"] = run.id();
      json["cell"] = findings.value(*cell, "series") + ", " + names.name(*cell);
      json["rank"] = rank;
      json["series"] = findings.value(*cell, "series");
      json["task"] = run.values.text("task");
      json["settings"] = split->settings + (split->settings.empty() ? "" : ", ") + drawn_text(run);
      for (std::size_t part = 0; part < gallery.parts.size(); ++part) {
        json["accuracy"][page_name(gallery, part)] = record->measure(gallery.parts[part] + "_accuracy");
      }
      const double edits = record->measure("edit_distance");
      json["edit_distance"] = edits == edits ? ordered_json(edits) : ordered_json(nullptr);
      add_curve(store, run, gallery, json);
      gallery.add(run, json);
      networks.push_back(std::move(json));
    }
  }
  return networks;
}

}  // namespace modlab::report

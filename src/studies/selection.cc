#include "studies/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::studies {
namespace {

// Accuracies are ratios of small whole numbers; equal ones may differ in the last bit after averaging.
constexpr double kEqual = 1e-9;

// One configuration on one split.
struct Candidate {
  std::vector<const Record*> runs;
  double validation = 0;
  double loss = 0;
  double cost = 0;

  void finish() {
    for (const Record* record : runs) {
      validation += (std::isnan(record->validation) ? 0 : record->validation) / static_cast<double>(runs.size());
      // A run that diverged must not win by a loss that is no number.
      const double run_loss = std::isfinite(record->loss) ? record->loss : std::numeric_limits<double>::max() / 1e3;
      loss += run_loss / static_cast<double>(runs.size());
      cost += (std::isnan(record->cost) ? 0 : record->cost) / static_cast<double>(runs.size());
    }
  }
};

bool better(const Candidate& a, const Candidate& b, Ties ties) {
  if (std::abs(a.validation - b.validation) > kEqual) {
    return a.validation > b.validation;
  }
  if (ties == Ties::kFirst) {
    return false;
  }
  const double first = ties == Ties::kLoss ? a.loss - b.loss : a.cost - b.cost;
  const double second = ties == Ties::kLoss ? a.cost - b.cost : a.loss - b.loss;
  return first != 0 ? first < 0 : second < 0;
}

// Axes of a plan, sorted into what a configuration is made of, what a cell is, and what was drawn.
struct Axes {
  std::vector<std::string> tuned;
  std::vector<std::string> fixed;
  std::vector<std::string> splits;
};

Axes sort_axes(const StudyPlan& plan, const std::vector<std::string>& tune) {
  Axes axes;
  for (const std::string& name : plan.axes) {
    const settings::Setting::Role role = experiments::find_setting(name)->role;
    if (role != settings::Setting::Role::kSplit && role != settings::Setting::Role::kSeed) {
      (std::ranges::find(tune, name) != tune.end() ? axes.tuned : axes.fixed).push_back(name);
    }
  }
  // A split is drawn also where no grid names it.
  for (const std::string& name : experiments::setting_names()) {
    if (experiments::find_setting(name)->role == settings::Setting::Role::kSplit) {
      axes.splits.push_back(name);
    }
  }
  return axes;
}

std::string key_of(const StudyPlan& plan, const PlannedRun& run, const std::vector<std::string>& axes) {
  std::string key;
  for (const std::string& axis : axes) {
    key += plan.value(run, axis) + '\n';
  }
  return key;
}

// The tuned axes on which the runs of each series differ; all of them where a series has one configuration.
std::vector<std::vector<std::string>> axes_to_show(const StudyPlan& plan, const std::vector<std::string>& tuned) {
  std::vector<const PlannedRun*> first(plan.series.size(), nullptr);
  std::vector<std::set<std::size_t>> varying(plan.series.size());
  const settings::Values::Row* last = nullptr;
  for (const PlannedRun& run : plan.runs) {
    if (run.run.values.row() == last) {
      continue;  // differs in splits and seeds alone
    }
    last = run.run.values.row();
    const PlannedRun*& example = first[run.series];
    example = example == nullptr ? &run : example;
    for (std::size_t axis = 0; axis < tuned.size(); ++axis) {
      if (plan.value(run, tuned[axis]) != plan.value(*example, tuned[axis])) {
        varying[run.series].insert(axis);
      }
    }
  }
  std::vector<std::vector<std::string>> shown;
  for (const std::set<std::size_t>& axes : varying) {
    std::vector<std::string>& list = shown.emplace_back();
    std::ranges::transform(axes, std::back_inserter(list), [&](std::size_t axis) { return tuned[axis]; });
    list = list.empty() ? tuned : list;
  }
  return shown;
}

std::string settings_text(const StudyPlan& plan, const PlannedRun& run, const std::vector<std::string>& axes) {
  std::vector<std::string> parts;
  for (const std::string& axis : axes) {
    if (const std::string value = plan.value(run, axis); !value.empty()) {
      parts.push_back(fmt::format("{} {}", axis, value));
    }
  }
  return join_text(parts, ", ");
}

// "40", or "40, 3" where several things were drawn for a run of its kind.
std::string split_name(const StudyPlan& plan, const PlannedRun& run, const std::vector<std::string>& splits) {
  std::vector<std::string> drawn;
  for (const std::string& axis : splits) {
    if (std::string value = plan.value(run, axis); !value.empty()) {
      drawn.push_back(std::move(value));
    }
  }
  return join_text(drawn, ", ");
}

// A whole number as it is; where there are several of them, something that equals for equal texts.
std::uint64_t number_of(const std::string& text) {
  const std::optional<long long> number = parse_integer(text);
  return number ? static_cast<std::uint64_t>(*number) : std::hash<std::string>()(text);
}

// Where the runs of a row have what merely repeats a training.
std::vector<std::size_t> seed_places(const settings::Values& values) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values.setting_at(at).role == settings::Setting::Role::kSeed) {
      places.push_back(at);
    }
  }
  return places;
}

std::uint64_t seed_of(const settings::Values& values, const std::vector<std::size_t>& places) {
  if (places.size() == 1) {
    if (const nlohmann::json value = values.value_at(places.front()); value.is_number_unsigned()) {
      return value.get<std::uint64_t>();
    }
  }
  std::string seeds;
  for (const std::size_t place : places) {
    seeds += values.text_at(place) + ",";
  }
  return number_of(seeds);
}

// A value of a run that its kind must have.
double required(const ResultTable& table, std::size_t row, const std::string& measure, const PlannedRun& run,
                const std::string& source) {
  if (measure.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::optional<std::size_t> column = table.column(measure);
  const double value = column ? table.at(row, *column) : std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(value) && !table.row(row).diverged) {
    throw FormatError(fmt::format("{}: run {} has no {}; the store is damaged", source, run.id(), measure));
  }
  return value;
}

// Keeps the order in which keys first appear.
template <typename Value>
class Groups {
 public:
  Value& at(const std::string& key) {
    const auto [found, is_new] = index_.emplace(key, values_.size());
    if (is_new) {
      values_.emplace_back();
    }
    return values_[found->second];
  }
  std::vector<Value>& values() { return values_; }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Value> values_;
};

struct SplitCandidates {
  std::string name;
  Groups<Candidate> candidates;
};
struct CellCandidates {
  const PlannedRun* example = nullptr;
  Groups<SplitCandidates> splits;
};

constexpr std::size_t kMostDraws = 100;

// The cell of the best of `count` runs each; without splits that have fewer.
Cell best_of(const Cell& cell, std::size_t count) {
  const auto is_better = [](const Record* a, const Record* b) {
    return a->validation != b->validation ? a->validation > b->validation : a->loss < b->loss;
  };
  Cell winners{.example = cell.example, .splits = {}, .restarts = static_cast<int>(count)};
  for (const Cell::Split& split : cell.splits) {
    std::vector<const Record*> runs = split.runs;
    std::ranges::sort(runs, {}, &Record::seed);
    Cell::Split won = split;
    won.are_winners = true;
    won.runs.clear();
    for (std::size_t first = 0; first + count <= runs.size() && won.runs.size() < kMostDraws; first += count) {
      won.runs.push_back(*std::min_element(runs.begin() + static_cast<std::ptrdiff_t>(first),
                                           runs.begin() + static_cast<std::ptrdiff_t>(first + count), is_better));
    }
    if (!won.runs.empty()) {
      winners.splits.push_back(std::move(won));
    }
  }
  return winners;
}

}  // namespace

double Record::measure(const std::string& name) const {
  const std::optional<std::size_t> column = table->column(name);
  return column ? table->at(row, *column) : std::numeric_limits<double>::quiet_NaN();
}

StudyResults::StudyResults(Store& store, const std::string& snapshot)
    : best(store.results("best")), is_best(snapshot == "best") {
  if (!is_best) {
    other = store.results(snapshot);
  }
}

std::vector<Record> load_records(const StudyResults& results, const StudyPlan& plan, const std::string& source) {
  std::map<const experiments::Experiment*, experiments::Parts> parts;
  std::vector<Record> records;
  const settings::Values::Row* last = nullptr;
  std::vector<std::size_t> seeds;
  for (const PlannedRun& run : plan.runs) {
    const std::optional<std::size_t> best = results.best.find(run.number());
    const std::optional<std::size_t> row = results.shown().find(run.number());
    if (!best || !row) {
      continue;
    }
    if (run.run.values.row() != last) {
      last = run.run.values.row();
      seeds = seed_places(run.run.values);
    }
    auto known = parts.find(run.run.kind);
    if (known == parts.end()) {
      known = parts.emplace(run.run.kind, run.run.kind->parts()).first;
    }
    const experiments::Parts& names = known->second;
    records.push_back({&run, &results.shown(), *row, required(results.best, *best, names.validation, run, source),
                       required(results.best, *best, names.loss, run, source),
                       required(results.best, *best, names.cost, run, source), seed_of(run.run.values, seeds)});
  }
  return records;
}

std::vector<Cell> choose(const StudyPlan& plan, const std::vector<Record>& records,
                         const std::vector<std::string>& tune, Ties ties, const std::vector<int>& restarts) {
  const Axes axes = sort_axes(plan, tune);
  Groups<CellCandidates> cells;
  // Runs of one row differ in splits and seeds alone.
  const settings::Values::Row* last = nullptr;
  CellCandidates* cell = nullptr;
  std::string configuration;
  std::size_t last_series = 0;
  for (const Record& record : records) {
    const PlannedRun& run = *record.run;
    if (run.run.values.row() != last || run.series != last_series) {
      last = run.run.values.row();
      last_series = run.series;
      cell = &cells.at(fmt::format("{}\n", run.series) + key_of(plan, run, axes.fixed));
      cell->example = &run;
      configuration = key_of(plan, run, axes.tuned);
    }
    const std::string name = split_name(plan, run, axes.splits);
    SplitCandidates& split = cell->splits.at(name);
    split.name = name;
    split.candidates.at(configuration).runs.push_back(&record);
  }
  const std::vector<std::vector<std::string>> shown = axes_to_show(plan, axes.tuned);
  std::vector<Cell> chosen;
  for (CellCandidates& candidates_of_cell : cells.values()) {
    Cell result;
    result.example = candidates_of_cell.example;
    for (SplitCandidates& split : candidates_of_cell.splits.values()) {
      std::vector<Candidate>& candidates = split.candidates.values();
      const Candidate* best = &candidates.front();
      for (Candidate& candidate : candidates) {
        candidate.finish();
        if (better(candidate, *best, ties)) {
          best = &candidate;
        }
      }
      const auto tied = std::ranges::count_if(candidates, [&](const Candidate& candidate) {
        return std::abs(candidate.validation - best->validation) <= kEqual;
      });
      result.splits.push_back({split.name, number_of(split.name), best->runs,
                               settings_text(plan, *best->runs.front()->run, shown[result.example->series]),
                               best->validation, static_cast<int>(candidates.size()), static_cast<int>(tied)});
    }
    if (restarts.empty()) {
      chosen.push_back(std::move(result));
      continue;
    }
    for (const int count : restarts) {
      if (Cell winners = best_of(result, static_cast<std::size_t>(count)); !winners.splits.empty()) {
        chosen.push_back(std::move(winners));
      }
    }
  }
  return chosen;
}

}  // namespace modlab::studies

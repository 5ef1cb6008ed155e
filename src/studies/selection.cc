#include "studies/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "core/text.h"
#include "models/population.h"
#include "models/settings.h"
#include "tasks/image_samples.h"

namespace modlab::studies {
namespace {

// Accuracies are ratios of small whole numbers; equal ones may differ in the last bit after averaging.
constexpr double kEqual = 1e-9;

// One configuration on one split.
struct Candidate {
  std::vector<const Record*> runs;
  double validation = 0;
  double loss = 0;
  double updates = 0;

  void finish() {
    for (const Record* record : runs) {
      validation += record->validation_accuracy / static_cast<double>(runs.size());
      // A run that diverged must not win by a loss that is no number.
      const double run_loss =
          std::isfinite(record->validation_loss) ? record->validation_loss : std::numeric_limits<double>::max() / 1e3;
      loss += run_loss / static_cast<double>(runs.size());
      updates += record->updates / static_cast<double>(runs.size());
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
  const double first = ties == Ties::kLoss ? a.loss - b.loss : a.updates - b.updates;
  const double second = ties == Ties::kLoss ? a.updates - b.updates : a.loss - b.loss;
  return first != 0 ? first < 0 : second < 0;
}

// Positions in StudyPlan::axes, sorted into what a configuration is made of and what a cell is.
struct Axes {
  std::vector<std::size_t> tuned;
  std::vector<std::size_t> fixed;
};

Axes sort_axes(const StudyPlan& plan, const std::vector<std::string>& tune) {
  Axes axes;
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const std::string& name = plan.axes[axis];
    if (name == "seed" || name == "split_seed") {
      continue;
    }
    (std::ranges::find(tune, name) != tune.end() ? axes.tuned : axes.fixed).push_back(axis);
  }
  return axes;
}

std::string key_of(const PlannedRun& run, const std::vector<std::size_t>& axes) {
  std::string key;
  for (const std::size_t axis : axes) {
    key += run.values[axis] + '\n';
  }
  return key;
}

// The tuned axes on which the runs of each series differ; all of them where a series has one configuration.
std::vector<std::vector<std::size_t>> axes_to_show(const StudyPlan& plan, const std::vector<std::size_t>& tuned) {
  std::vector<const PlannedRun*> first(plan.series.size(), nullptr);
  std::vector<std::set<std::size_t>> varying(plan.series.size());
  for (const PlannedRun& run : plan.runs) {
    const PlannedRun*& example = first[run.series];
    example = example == nullptr ? &run : example;
    for (const std::size_t axis : tuned) {
      if (run.values[axis] != example->values[axis]) {
        varying[run.series].insert(axis);
      }
    }
  }
  std::vector<std::vector<std::size_t>> shown;
  for (const std::set<std::size_t>& axes : varying) {
    shown.push_back(axes.empty() ? tuned : std::vector(axes.begin(), axes.end()));
  }
  return shown;
}

std::string settings_text(const StudyPlan& plan, const PlannedRun& run, const std::vector<std::size_t>& axes) {
  std::vector<std::string> parts;
  for (const std::size_t axis : axes) {
    if (!run.values[axis].empty()) {
      parts.push_back(plan.axes[axis] + " " + run.values[axis]);
    }
  }
  return join_text(parts, ", ");
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

// The accuracy of always saying 0 on the combinations that a run's split keeps for the test.
double unseen_base(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  const tasks::TruthTable& table = suite.tasks.front().table;
  const std::vector<int> unseen = tasks::split_combinations(*suite.images(), spec.ratio, spec.split_seed).unseen;
  double zeros = 0;
  for (const int row : unseen) {
    for (int output = 0; output < table.outputs; ++output) {
      zeros += tasks::output_bit(table, row, output) ? 0 : 1;
    }
  }
  return 100 * zeros / (static_cast<double>(unseen.size()) * table.outputs);
}

struct SplitCandidates {
  std::uint32_t split_seed = 0;
  Groups<Candidate> candidates;
};
struct CellCandidates {
  const PlannedRun* example = nullptr;
  Groups<SplitCandidates> splits;
};

}  // namespace

std::vector<Record> load_records(Store& store, const StudyPlan& plan, SnapshotKind snapshot) {
  const std::unordered_map<std::string, RunResult> results = store.results();
  std::vector<Record> records;
  // Counts depend on few of the settings, and a study has many runs.
  std::unordered_map<std::string, measures::FlopCount> flops;
  for (const PlannedRun& run : plan.runs) {
    const auto found = results.find(run.id);
    if (found == results.end()) {
      continue;
    }
    const RunResult& result = found->second;
    const tasks::TaskSuite& suite = plan.suite_of(run.spec);
    models::RunSpec shape = run.spec;
    shape.seed = 0;
    shape.split_seed = 0;
    const auto [count, is_new] =
        flops.emplace(models::block_key(shape) + fmt::format("/{}", shape.density), measures::FlopCount{});
    if (is_new) {
      count->second = measures::count_flops(run.spec, suite);
    }
    const MeasuredRun measured{run,
                               result.at(snapshot),
                               count->second,
                               result.rows.train,
                               run.spec.on_images ? unseen_base(run.spec, suite) : 0,
                               result.sculpted};
    Record record;
    record.run = &run;
    record.rows = result.rows;
    record.best_epoch = result.best.epoch;
    const PartResult& validation = result.best.parts[static_cast<std::size_t>(engine::Part::kValidation)];
    record.validation_accuracy = validation.accuracy;
    record.validation_loss = validation.loss;
    record.updates = measures::updates_to_epoch(result.best.epoch, result.rows.train, run.spec.batch_size,
                                                measures::Counting::kPaper);
    for (const Measure& measure : all_measures()) {
      record.values.push_back(measure.value(measured));
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<Cell> choose(const StudyPlan& plan, const std::vector<Record>& records,
                         const std::vector<std::string>& tune, Ties ties) {
  const Axes axes = sort_axes(plan, tune);
  Groups<CellCandidates> cells;
  for (const Record& record : records) {
    const PlannedRun& run = *record.run;
    CellCandidates& cell = cells.at(fmt::format("{}\n", run.series) + key_of(run, axes.fixed));
    cell.example = &run;
    SplitCandidates& split = cell.splits.at(std::to_string(run.spec.split_seed));
    split.split_seed = run.spec.split_seed;
    split.candidates.at(key_of(run, axes.tuned)).runs.push_back(&record);
  }
  const std::vector<std::vector<std::size_t>> shown = axes_to_show(plan, axes.tuned);
  std::vector<Cell> chosen;
  for (CellCandidates& cell : cells.values()) {
    Cell& result = chosen.emplace_back();
    result.example = cell.example;
    for (SplitCandidates& split : cell.splits.values()) {
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
      result.splits.push_back({split.split_seed, best->runs,
                               settings_text(plan, *best->runs.front()->run, shown[cell.example->series]),
                               best->validation, static_cast<int>(candidates.size()), static_cast<int>(tied)});
    }
  }
  return chosen;
}

}  // namespace modlab::studies

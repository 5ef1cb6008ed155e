#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "bench/methods.h"
#include "bench/ours.h"
#include "bench/rivals.h"
#include "bench/work.h"
#include "cli/bench_suite.h"
#include "measures/statistics.h"

namespace modlab::cli {
namespace {

using bench::SculptWork;
using bench::SpentTime;
using bench::TrialNumbers;
using nlohmann::ordered_json;

constexpr int kSculptRepeats = 3;

// PyTorch's trials, whole ones or what their first unit steps took.
struct RivalTrials {
  SpentTime per_trial;
  SpentTime per_training;
  std::vector<TrialNumbers> learned;  // none if only first steps were taken

  bool is_extrapolated() const { return learned.empty(); }
};

struct SculptRow {
  SculptWork work;
  bench::SculptTiming ours;
  SpentTime alone;  // one trial without others beside it
  std::optional<RivalTrials> torch;
};

measures::MeanWithErrors mean_of(const std::vector<TrialNumbers>& trials, double TrialNumbers::*number) {
  std::vector<double> values;
  for (const TrialNumbers& trial : trials) {
    values.push_back(trial.*number);
  }
  return measures::combine({values});
}

// Whole trials where one takes less than two minutes; otherwise the first unit step of the grid, and the trainings of
// one of our trials. As on our side the best time of a training counts, here the best of all trials.
RivalTrials measure_torch(const SculptWork& work, const bench::SculptTiming& ours, std::string& torch) {
  constexpr double kLongestTrial = 120;
  constexpr int kTrials = 4;
  constexpr int kMostSeeds = 2 * kTrials;
  RivalTrials result;
  const auto sculpt = [&](int seed, std::optional<int> unit_steps) {
    bench::SculptRivalTrial trial = bench::sculpt_rival(work, seed, unit_steps);
    result.per_training.improve(trial.time.per(trial.numbers.trainings));
    torch = torch_text(trial.torch, trial.blas);
    return trial;
  };
  sculpt(0, 1);
  double trainings = mean_of(ours.learned, &TrialNumbers::trainings).mean;
  if (trainings * result.per_training.wall < kLongestTrial) {
    for (int seed = 0; seed < kMostSeeds && result.learned.size() < kTrials; ++seed) {
      if (const bench::SculptRivalTrial trial = sculpt(seed, std::nullopt); trial.learned) {
        result.learned.push_back(trial.numbers);
      }
    }
  }
  if (!result.is_extrapolated()) {
    trainings = mean_of(result.learned, &TrialNumbers::trainings).mean;
  }
  result.per_trial = result.per_training.per(1 / trainings);
  return result;
}

SculptRow measure(const SculptWork& work, const BenchRequest& request, const engine::Kernels<float>& kernels,
                  std::string& torch) {
  SculptRow row{work, bench::time_sculpting(work, request.trials, kSculptRepeats, kernels),
                bench::time_sculpting(work, 1, kSculptRepeats, kernels).per_trial(), std::nullopt};
  if (request.against_torch) {
    row.torch = measure_torch(work, row.ours, torch);
    // Once more behind the rival, so that a busy moment does not decide for one side.
    row.ours.time.improve(bench::time_sculpting(work, request.trials, kSculptRepeats, kernels).time);
  }
  return row;
}

std::optional<double> ratio(const SculptRow& row, SpentTime RivalTrials::*rival, const SpentTime& ours,
                            double SpentTime::*time) {
  return row.torch ? std::optional((*row.torch.*rival).*time / ours.*time) : std::nullopt;
}

ordered_json side_json(const SpentTime& trial, const SpentTime& training, const std::vector<TrialNumbers>& learned) {
  ordered_json object;
  object["seconds_per_trial"] = trial.wall;
  object["us_per_training"] = 1e6 * training.wall;
  object["processor_seconds_per_trial"] = trial.processor;
  object["processor_us_per_training"] = 1e6 * training.processor;
  object["learned"] = ordered_json::array();
  for (const TrialNumbers& numbers : learned) {
    object["learned"].push_back({{"trainings", numbers.trainings}, {"edges", numbers.edges}, {"ties", numbers.ties}});
  }
  return object;
}

ordered_json row_json(const SculptRow& row) {
  ordered_json object;
  object["work"] = row.work.name;
  object["epochs"] = row.work.spec.epochs;
  object["trials"] = row.ours.trials;
  object["ours"] = side_json(row.ours.per_trial(), row.ours.per_training(), row.ours.learned);
  object["ours"]["seconds_alone"] = row.alone.wall;
  if (row.torch) {
    object["torch"] = side_json(row.torch->per_trial, row.torch->per_training, row.torch->learned);
    object["torch"]["extrapolated"] = row.torch->is_extrapolated();
  }
  const auto add_ratios = [&](const std::string& prefix, double SpentTime::*time) {
    object[prefix + "ratio_trial"] = ratio_json(ratio(row, &RivalTrials::per_trial, row.ours.per_trial(), time));
    object[prefix + "ratio_training"] =
        ratio_json(ratio(row, &RivalTrials::per_training, row.ours.per_training(), time));
  };
  add_ratios("", &SpentTime::wall);
  add_ratios("processor_", &SpentTime::processor);
  return object;
}

void print_times_head() {
  constexpr auto kHead = "{:<24} {:>8} {:>9} {:>9}  {:>10} {:>9}  {:>7} {:>9}  {:>7} {:>9}\n";
  fmt::print(kHead, "", "ours: s", "s a trial", "us a", "PyTorch: s", "us a", "times a", "times a", "CPU: a",
             "times a");
  fmt::print(kHead, "work", "a trial", "alone", "training", "a trial", "training", "trial", "training", "trial",
             "training");
}

void print_times(const SculptRow& row) {
  const SpentTime trial = row.ours.per_trial();
  const SpentTime training = row.ours.per_training();
  const auto times = [&](SpentTime RivalTrials::*rival, const SpentTime& ours, double SpentTime::*time) {
    return ratio_text(ratio(row, rival, ours, time));
  };
  fmt::print(
      "{:<24} {:>8.4f} {:>9.4f} {:>9.1f}  {:>10} {:>9}  {:>7} {:>9}  {:>7} {:>9}\n", row.work.name, trial.wall,
      row.alone.wall, 1e6 * training.wall,
      row.torch ? fmt::format("{:.1f}{}", row.torch->per_trial.wall, row.torch->is_extrapolated() ? "*" : "") : "-",
      row.torch ? fmt::format("{:.0f}", 1e6 * row.torch->per_training.wall) : "-",
      times(&RivalTrials::per_trial, trial, &SpentTime::wall),
      times(&RivalTrials::per_training, training, &SpentTime::wall),
      times(&RivalTrials::per_trial, trial, &SpentTime::processor),
      times(&RivalTrials::per_training, training, &SpentTime::processor));
  std::fflush(stdout);
}

// Whether both sides prune as far, in about as many trainings: means and standard errors of trials.
void print_numbers(const std::vector<SculptRow>& rows) {
  constexpr auto kLine = "{:<24} {:<8} {:>6}  {:>15}  {:>14}  {:>14}\n";
  fmt::print("\n");
  fmt::print(kLine, "work", "side", "trials", "trainings", "edges left", "tied networks");
  const auto print_side = [&](const std::string& work, const char* side, const std::vector<TrialNumbers>& trials) {
    const auto text = [&](double TrialNumbers::*number, int digits) {
      const measures::MeanWithErrors mean = mean_of(trials, number);
      return trials.size() < 2 ? fmt::format("{:.{}f}", mean.mean, digits)
                               : fmt::format("{:.{}f} ± {:.{}f}", mean.mean, digits, mean.error_within, digits);
    };
    fmt::print(kLine, work, side, trials.size(), text(&TrialNumbers::trainings, 0), text(&TrialNumbers::edges, 2),
               text(&TrialNumbers::ties, 1));
  };
  for (const SculptRow& row : rows) {
    print_side(row.work.name, "ours", row.ours.learned);
    if (row.torch && !row.torch->is_extrapolated()) {
      print_side("", "PyTorch", row.torch->learned);
    }
  }
}

}  // namespace

int bench_sculpt(const BenchRequest& request) {
  const std::vector<SculptWork> list = chosen_work(bench::sculpt_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const double load = load_average();
  const engine::Kernels<float>& kernels = engine::kernels();
  const methods::SculptSpec& grid = list.front().spec.sculpt;
  if (!request.as_json) {
    fmt::print("{}, one thread; {} trials at once, each of {} x {} pairs of first steps\n\n", kernels.target,
               request.trials, grid.unit_steps.size(), grid.edge_steps.size());
    print_times_head();
  }
  std::string torch;
  std::vector<SculptRow> rows;
  for (const SculptWork& work : list) {
    rows.push_back(measure(work, request, kernels, torch));
    if (!request.as_json) {
      print_times(rows.back());
    }
  }
  if (request.as_json) {
    ordered_json output;
    output["target"] = kernels.target;
    output["rows"] = ordered_json::array();
    for (const SculptRow& row : rows) {
      output["rows"].push_back(row_json(row));
    }
    output["peak_memory_mb"] = bench::peak_memory_mb();
    output["load_average_before"] = load;
    if (!torch.empty()) {
      output["torch"] = torch;
      output["torch_products"] = products_json(kernels.fma_peak_gflops());
    }
    fmt::print("{}\n", output.dump());
    return 0;
  }
  print_numbers(rows);
  fmt::print("\nPeak memory of this process {:.0f} MB. Load average before {:.2f}.\n", bench::peak_memory_mb(), load);
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread, one network at a time: nn.Module, autograd and torch.optim.Adam.\n"
        "times = how many times as long it takes, on the clock and in processor time; on both sides the best time of\n"
        "several counts. * a trial takes more than two minutes: the first unit step alone was measured, and the\n"
        "trainings are those of one of our trials.\n",
        torch);
    fmt::print("{}", products_text(kernels.fma_peak_gflops()));
  }
  return 0;
}

}  // namespace modlab::cli

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "bench/lanes_or_solo.h"
#include "bench/ours.h"
#include "bench/rivals.h"
#include "bench/rules.h"
#include "cli/bench_suite.h"

namespace modlab::cli {
namespace {

using bench::RuleWork;
using bench::SpentTime;
using nlohmann::ordered_json;

constexpr int kRuleNetworks = 2;  // whose mean loss is shown
constexpr int kPeakRepeats = 8;   // on a busy machine some are far too low

// A network on rules: the best times of each side, and how far it learns in as many steps.
struct RuleRow {
  RuleWork work;
  double flops = 0;
  SpentTime ours;
  std::optional<SpentTime> eager, tuned;
  double loss = 0;
  std::optional<double> eager_loss, tuned_loss;

  double gflops() const { return flops / ours.processor * 1e-9; }
};

// In turns, so that a busy moment does not decide for one side.
RuleRow measure_rules(const RuleWork& work, bool against_torch, const engine::Kernels<float>& kernels,
                      std::string& torch) {
  const int rounds = against_torch ? 2 : 1;
  RuleRow row;
  row.work = work;
  row.flops = bench::rule_step_flops(work);
  const auto measure_ours = [&] {
    const bench::RuleTiming timing = bench::time_rule_steps(work, kRuleNetworks, kernels);
    row.ours.improve(timing.step);
    row.loss = timing.loss;
  };
  const auto measure_rival = [&](bool tuned, std::optional<SpentTime>& best, std::optional<double>& loss) {
    const bench::RuleRivalTiming timing = bench::time_rule_rival(work, kRuleNetworks, tuned);
    best = best.value_or(timing.step);
    best->improve(timing.step);
    loss = timing.loss;
    torch = torch_text(timing.torch, timing.blas);
  };
  for (int round = 0; round < rounds; ++round) {
    measure_ours();
    if (against_torch) {
      measure_rival(false, row.eager, row.eager_loss);
      measure_ours();
      measure_rival(true, row.tuned, row.tuned_loss);
    }
  }
  return row;
}

ordered_json rule_row_json(const RuleRow& row, double peak_gflops) {
  ordered_json object;
  object["work"] = row.work.name;
  object["steps"] = row.work.spec.iterations;
  const auto add_times = [&](const std::string& prefix, double SpentTime::*time) {
    object[prefix + "ours_us_per_net_step"] = 1e6 * row.ours.*time;
    object[prefix + "ratio_eager"] = ratio_json(time_ratio(row.eager, row.ours, time));
    object[prefix + "ratio_eager_tuned"] = ratio_json(time_ratio(row.tuned, row.ours, time));
    if (row.eager && row.tuned) {
      object[prefix + "rivals_us_per_net_step"] = {{"eager", 1e6 * *row.eager.*time},
                                                   {"eager-tuned", 1e6 * *row.tuned.*time}};
    }
  };
  add_times("", &SpentTime::wall);
  add_times("processor_", &SpentTime::processor);
  object["flops_per_step"] = row.flops;
  object["gflops"] = row.gflops();
  object["percent_of_peak"] = 100 * row.gflops() / peak_gflops;
  object["loss"] = {
      {"ours", row.loss}, {"eager", ratio_json(row.eager_loss)}, {"eager-tuned", ratio_json(row.tuned_loss)}};
  return object;
}

void print_rule_row(const RuleRow& row, double peak_gflops) {
  const auto us_text = [](const std::optional<SpentTime>& time) {
    return time ? fmt::format("{:.0f}", 1e6 * time->wall) : "-";
  };
  const auto loss_text = [](const std::optional<double>& loss) { return loss ? fmt::format("{:.3f}", *loss) : "-"; };
  const auto times = [&](const std::optional<SpentTime>& rival, double SpentTime::*time) {
    return ratio_text(time_ratio(rival, row.ours, time));
  };
  fmt::print(
      "{:<20} {:>8.0f} {:>8.1f} {:>6.1f} {:>8} {:>8} {:>7} {:>7}   {:>8.0f} {:>7} {:>7}   {:>7.3f} {:>7} {:>7}\n",
      row.work.name, 1e6 * row.ours.wall, row.gflops(), 100 * row.gflops() / peak_gflops, us_text(row.eager),
      us_text(row.tuned), times(row.eager, &SpentTime::wall), times(row.tuned, &SpentTime::wall),
      1e6 * row.ours.processor, times(row.eager, &SpentTime::processor), times(row.tuned, &SpentTime::processor),
      row.loss, loss_text(row.eager_loss), loss_text(row.tuned_loss));
  std::fflush(stdout);
}

// Networks side by side: two threads have two of them in work at any time. Of modular networks on eight rules, which
// are neither small nor large; or of the first, where none of those was asked for.
ordered_json measure_rule_threads(const std::vector<RuleWork>& list, const engine::Kernels<float>& kernels,
                                  bool quiet) {
  constexpr int kRepeats = 3;
  std::vector<RuleWork> chosen = list;
  std::erase_if(chosen, [](const RuleWork& work) { return work.name.find("/modular/8") == std::string::npos; });
  if (chosen.empty()) {
    chosen.push_back(list.front());
  }
  if (!quiet) {
    fmt::print("\n{} networks: seconds\n{:<20} {:>10} {:>11} {:>7}\n", kRuleNetworks, "work", "one thread",
               "two threads", "times");
  }
  ordered_json rows = ordered_json::array();
  for (const RuleWork& work : chosen) {
    double one = 1e30;
    double two = 1e30;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      one = std::min(one, bench::time_rule_threads(work, kRuleNetworks, 1, kernels));
      two = std::min(two, bench::time_rule_threads(work, kRuleNetworks, 2, kernels));
    }
    rows.push_back({{"work", work.name},
                    {"networks", kRuleNetworks},
                    {"seconds_one_thread", one},
                    {"seconds_two_threads", two},
                    {"ratio", one / two}});
    if (!quiet) {
      fmt::print("{:<20} {:>10.3f} {:>11.3f} {:>7.2f}\n", work.name, one, two, one / two);
      std::fflush(stdout);
    }
  }
  return rows;
}

// Lanes of networks, or one network at a time: what was chosen for these families, and by what measurement.
ordered_json measure_lanes(const engine::Kernels<float>& kernels, bool quiet) {
  if (!quiet) {
    fmt::print("\nlayers alone, forward and back: us a network\n{:<26} {:>12} {:>14} {:>7}\n", "work", "one a lane",
               "one at a time", "times");
  }
  ordered_json rows = ordered_json::array();
  for (const bench::LanesOrSolo& layers : bench::time_rule_layers(kernels)) {
    const double ratio = layers.lanes.processor / layers.solo.processor;
    rows.push_back({{"family", layers.family},
                    {"widths", layers.widths},
                    {"rows", layers.rows},
                    {"lanes_us", 1e6 * layers.lanes.processor},
                    {"solo_us", 1e6 * layers.solo.processor},
                    {"ratio", ratio}});
    if (!quiet) {
      fmt::print("{:<26} {:>12.0f} {:>14.0f} {:>7.2f}\n",
                 fmt::format("{} {} x {}", layers.family, layers.rows, fmt::join(layers.widths, "-")),
                 1e6 * layers.lanes.processor, 1e6 * layers.solo.processor, ratio);
      std::fflush(stdout);
    }
  }
  return rows;
}

}  // namespace

int bench_rules(const BenchRequest& request) {
  const std::vector<RuleWork> list = chosen_work(bench::rule_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const auto begin = std::chrono::steady_clock::now();
  const double load = load_average();
  const engine::Kernels<float>& kernels = engine::kernels();
  const models::RuleSpec& spec = list.front().spec;
  if (!request.as_json) {
    fmt::print("{}, one thread; training steps on rule-based data, width {}, batch {}, samples drawn within\n\n",
               kernels.target, spec.width, spec.batch_size);
    constexpr auto kHead = "{:<20} {:>8} {:>8} {:>6} {:>8} {:>8} {:>7} {:>7}   {:>8} {:>7} {:>7}   {:>7} {:>7} {:>7}\n";
    fmt::print(kHead, "", "us", "", "% of", "us", "us", "times", "times", "CPU us", "times", "times", "loss:", "", "");
    fmt::print(kHead, "work", "a step", "GFLOP/s", "peak", "eager", "tuned", "eager", "tuned", "a step", "eager",
               "tuned", "ours", "eager", "tuned");
  }
  std::vector<RuleRow> rows;
  std::string torch;
  double peak_gflops = 0;
  for (int repeat = 0; repeat < kPeakRepeats; ++repeat) {
    peak_gflops = std::max(peak_gflops, kernels.fma_peak_gflops());
  }
  for (const RuleWork& work : list) {
    rows.push_back(measure_rules(work, request.against_torch, kernels, torch));
    if (!request.as_json) {
      print_rule_row(rows.back(), peak_gflops);
    }
  }
  const ordered_json threads = measure_rule_threads(list, kernels, request.as_json);
  const ordered_json lanes = measure_lanes(kernels, request.as_json);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (request.as_json) {
    ordered_json output;
    output["target"] = kernels.target;
    output["peak_gflops"] = peak_gflops;
    output["width"] = spec.width;
    output["batch_size"] = spec.batch_size;
    output["rows"] = ordered_json::array();
    for (const RuleRow& row : rows) {
      output["rows"].push_back(rule_row_json(row, peak_gflops));
    }
    output["threads"] = threads;
    output["lanes"] = lanes;
    output.update(circumstances_json(load, seconds, torch, peak_gflops));
    fmt::print("{}\n", output.dump());
    return 0;
  }
  const auto steps_of = [](const RuleWork& work) { return work.spec.iterations; };
  const int fewest = steps_of(*std::ranges::min_element(list, {}, steps_of));
  const int most = steps_of(*std::ranges::max_element(list, {}, steps_of));
  fmt::print(
      "\nGFLOP/s are those of processor time: three products forward and back for every weight that a token needs, "
      "all\n"
      "inputs of an encoder counted, of an oracle the modules that its tokens ask. FMA peak {:.0f} GFLOP/s.\n"
      "Loss: the mean of {} networks over the last quarter of its steps, {} to {} in all.\n"
      "Peak memory of this process {:.0f} MB. Load average before {:.2f}; took {:.0f} s.\n",
      peak_gflops, kRuleNetworks, fewest, most, bench::peak_memory_mb(), load, seconds);
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread; times = how many times as long it takes for the same step,\n"
        "on the clock and in processor time. eager: nn.Module, autograd, torch.optim.Adam, samples in numpy, all "
        "modules\n"
        "computed; tuned: no needless work, an oracle's needed modules alone, hand-written Adam on flat storage.\n",
        torch);
    fmt::print("{}", products_text(peak_gflops));
  }
  return 0;
}

}  // namespace modlab::cli

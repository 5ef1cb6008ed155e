#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "bench/masks.h"
#include "bench/ours.h"
#include "bench/rivals.h"
#include "cli/bench_suite.h"

namespace modlab::cli {
namespace {

using bench::MaskWork;
using bench::SpentTime;
using nlohmann::ordered_json;

constexpr int kMaskPeakRepeats = 8;  // on a busy machine some are far too low

// One network: the best times of each side for a step of its masks and for one of its weights.
struct MaskRow {
  MaskWork work;
  double flops = 0;
  SpentTime ours, our_weights;
  std::optional<SpentTime> published, tuned, weights, tuned_weights;
  double loss = 0;
  double megabytes = 0;  // the most that this process had so far

  double gflops() const { return flops / ours.processor * 1e-9; }
};

// In turns, so that a busy moment does not decide for one side.
MaskRow measure_masks(const MaskWork& work, bool against_torch, const engine::Kernels<float>& kernels,
                      std::string& torch) {
  MaskRow row;
  row.work = work;
  row.flops = bench::mask_step_flops(work);
  const auto measure_ours = [&] {
    const bench::MaskTiming timing = bench::time_mask_steps(work, bench::kMaskSamples, 1, kernels);
    row.ours.improve(timing.step);
    row.loss = timing.loss;
    row.our_weights.improve(bench::time_weight_steps(work, 1, kernels).step);
  };
  const auto measure_rival = [&](bool of_weights, bool tuned, std::optional<SpentTime>& best) {
    const bench::MaskRivalTiming timing = bench::time_mask_rival(work, of_weights, tuned);
    best = best.value_or(timing.step);
    best->improve(timing.step);
    torch = torch_text(timing.torch, timing.blas);
  };
  for (int round = 0; round < 2; ++round) {
    measure_ours();
    if (against_torch) {
      measure_rival(false, false, row.published);
      measure_rival(true, false, row.weights);
      measure_ours();
      measure_rival(false, true, row.tuned);
      measure_rival(true, true, row.tuned_weights);
    }
  }
  row.megabytes = bench::peak_memory_mb();
  return row;
}

ordered_json mask_row_json(const MaskRow& row, double peak_gflops) {
  ordered_json object;
  object["work"] = row.work.name;
  const auto add_times = [&](const std::string& prefix, double SpentTime::*time) {
    object[prefix + "mask_step_ms"] = 1e3 * row.ours.*time;
    object[prefix + "weight_step_ms"] = 1e3 * row.our_weights.*time;
    object[prefix + "ratio_published"] = ratio_json(time_ratio(row.published, row.ours, time));
    object[prefix + "ratio_tuned"] = ratio_json(time_ratio(row.tuned, row.ours, time));
    object[prefix + "ratio_weights"] = ratio_json(time_ratio(row.weights, row.our_weights, time));
    object[prefix + "ratio_tuned_weights"] = ratio_json(time_ratio(row.tuned_weights, row.our_weights, time));
  };
  add_times("", &SpentTime::wall);
  add_times("processor_", &SpentTime::processor);
  object["flops_per_step"] = row.flops;
  object["gflops"] = row.gflops();
  object["percent_of_peak"] = 100 * row.gflops() / peak_gflops;
  object["loss"] = row.loss;
  object["peak_memory_mb"] = row.megabytes;
  return object;
}

void print_mask_row(const MaskRow& row, double peak_gflops) {
  const auto ms = [](const std::optional<SpentTime>& time) {
    return time ? fmt::format("{:.1f}", 1e3 * time->processor) : "-";
  };
  const auto times = [](const std::optional<SpentTime>& rival, const SpentTime& ours, double SpentTime::*time) {
    return ratio_text(time_ratio(rival, ours, time));
  };
  fmt::print(
      "{:<16} {:>8.1f} {:>8.1f} {:>8.1f} {:>6.1f} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7}   {:>7.1f} {:>7} {:>7} "
      "{:>7.0f}\n",
      row.work.name, 1e3 * row.ours.wall, 1e3 * row.ours.processor, row.gflops(), 100 * row.gflops() / peak_gflops,
      ms(row.published), ms(row.tuned), times(row.published, row.ours, &SpentTime::processor),
      times(row.tuned, row.ours, &SpentTime::processor), times(row.published, row.ours, &SpentTime::wall),
      times(row.tuned, row.ours, &SpentTime::wall), 1e3 * row.our_weights.processor, ms(row.weights),
      ms(row.tuned_weights), row.megabytes);
  std::fflush(stdout);
}

// Of 800x4, or of the first where it was not asked for.
MaskWork work_that_grows(const std::vector<MaskWork>& list) {
  const auto found = std::ranges::find(list, std::string("fnn/800x4"), &MaskWork::name);
  return found == list.end() ? list.front() : *found;
}

ordered_json measure_samples(const MaskWork& work, const engine::Kernels<float>& kernels, bool quiet) {
  ordered_json found = ordered_json::array();
  if (!quiet) {
    fmt::print("\n{}, samples of a mask: CPU ms a step\n", work.name);
  }
  for (const int samples : {1, 2, 4, 8}) {
    const SpentTime step = bench::time_mask_steps(work, samples, 1, kernels).step;
    found.push_back({{"samples", samples}, {"ms", 1e3 * step.wall}, {"processor_ms", 1e3 * step.processor}});
    if (!quiet) {
      fmt::print("{:>4} {:>8.1f}\n", samples, 1e3 * step.processor);
      std::fflush(stdout);
    }
  }
  return found;
}

// Most logits fall far down within a fraction of a mask's training, and then cost next to nothing.
ordered_json measure_near(const std::vector<MaskRow>& rows, const engine::Kernels<float>& kernels, bool quiet) {
  constexpr double kShares[] = {0.1, 0.03, 0.01};
  ordered_json found = ordered_json::array();
  if (!quiet) {
    fmt::print(
        "\nwhere few logits are still near, which is most of a mask's training: CPU ms a step, times publ. and "
        "tuned\n");
  }
  for (const MaskRow& row : rows) {
    ordered_json object = {{"work", row.work.name}};
    std::string text = fmt::format("{:<16}", row.work.name);
    for (const double share : kShares) {
      const SpentTime step = bench::time_mask_steps(row.work, bench::kMaskSamples, 1, kernels, share).step;
      const auto published = ratio_text(time_ratio(row.published, step, &SpentTime::processor));
      const auto tuned = ratio_text(time_ratio(row.tuned, step, &SpentTime::processor));
      object["shares"].push_back({{"near_percent", 100 * share}, {"processor_ms", 1e3 * step.processor}});
      text += fmt::format("   {:>2.0f} %: {:>6.1f} {:>6} {:>6}", 100 * share, 1e3 * step.processor, published, tuned);
    }
    found.push_back(std::move(object));
    if (!quiet) {
      fmt::print("{}\n", text);
      std::fflush(stdout);
    }
  }
  return found;
}

ordered_json measure_mask_threads(const std::vector<MaskWork>& list, const engine::Kernels<float>& kernels,
                                  bool quiet) {
  ordered_json found = ordered_json::array();
  if (!quiet) {
    fmt::print("\nms a step on the clock\n{:<16} {:>10} {:>11} {:>7}\n", "work", "one thread", "two threads", "times");
  }
  for (const MaskWork& work : list) {
    SpentTime one;
    SpentTime two;
    for (int round = 0; round < 3; ++round) {
      one.improve(bench::time_mask_steps(work, bench::kMaskSamples, 1, kernels).step);
      two.improve(bench::time_mask_steps(work, bench::kMaskSamples, 2, kernels).step);
    }
    found.push_back({{"work", work.name}, {"one_ms", 1e3 * one.wall}, {"two_ms", 1e3 * two.wall}});
    if (!quiet) {
      fmt::print("{:<16} {:>10.1f} {:>11.1f} {:>7.2f}\n", work.name, 1e3 * one.wall, 1e3 * two.wall,
                 one.wall / two.wall);
      std::fflush(stdout);
    }
  }
  return found;
}

// Many masks over one small network, a lane each.
ordered_json measure_lanes(bool against_torch, const engine::Kernels<float>& kernels, double peak_gflops, bool quiet) {
  const double ours = bench::time_lane_mask_step(kernels);
  const double at_peak = bench::lane_mask_step_flops() / peak_gflops * 1e-9;
  ordered_json found = {{"us", 1e6 * ours}, {"products_at_peak_us", 1e6 * at_peak}};
  std::string text = fmt::format(
      "\n6-36-36-36-2, {} masks on lanes: {:.1f} CPU us a mask and step, of which products at the FMA peak would be "
      "{:.1f}",
      kernels.lanes, 1e6 * ours, 1e6 * at_peak);
  if (against_torch) {
    const double one = bench::time_lane_mask_rival(0);
    const double stacked = std::min(bench::time_lane_mask_rival(64), bench::time_lane_mask_rival(256));
    found["one_us"] = 1e6 * one;
    found["stacked_us"] = 1e6 * stacked;
    text += fmt::format(
        "; PyTorch one at a time {:.0f} ({:.0f} times), the better of 64 and 256 stacked {:.0f} ({:.1f} times)",
        1e6 * one, one / ours, 1e6 * stacked, stacked / ours);
  }
  if (!quiet) {
    fmt::print("{}.\n", text);
  }
  return found;
}

}  // namespace

int bench_mask(const BenchRequest& request) {
  const std::vector<MaskWork> list = chosen_work(bench::mask_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const engine::Kernels<float>& kernels = engine::kernels();
  const double load = load_average();
  const auto begin = std::chrono::steady_clock::now();
  if (!request.as_json) {
    fmt::print("{}, one thread; training steps of masks, {} samples, batch {}\n\n", kernels.target, bench::kMaskSamples,
               bench::kMaskRows);
    constexpr auto kHead =
        "{:<16} {:>8} {:>8} {:>8} {:>6} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7}   {:>7} {:>7} {:>7} {:>7}\n";
    fmt::print(kHead, "", "ms", "CPU ms", "", "% of", "CPU ms", "CPU ms", "times", "times", "on the", "clock",
               "weights", "", "", "");
    fmt::print(kHead, "work", "a step", "a step", "GFLOP/s", "peak", "publ.", "tuned", "publ.", "tuned", "publ.",
               "tuned", "CPU ms", "eager", "tuned", "MB");
  }
  double peak_gflops = 0;
  for (int repeat = 0; repeat < kMaskPeakRepeats; ++repeat) {
    peak_gflops = std::max(peak_gflops, kernels.fma_peak_gflops());
  }
  std::vector<MaskRow> rows;
  std::string torch;
  for (const MaskWork& work : list) {
    rows.push_back(measure_masks(work, request.against_torch, kernels, torch));
    if (!request.as_json) {
      print_mask_row(rows.back(), peak_gflops);
    }
  }
  const ordered_json near = measure_near(rows, kernels, request.as_json);
  const ordered_json samples = measure_samples(work_that_grows(list), kernels, request.as_json);
  const ordered_json threads = measure_mask_threads(list, kernels, request.as_json);
  const ordered_json lanes = measure_lanes(request.against_torch, kernels, peak_gflops, request.as_json);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (request.as_json) {
    ordered_json output;
    output["target"] = kernels.target;
    output["peak_gflops"] = peak_gflops;
    output["rows"] = ordered_json::array();
    for (const MaskRow& row : rows) {
      output["rows"].push_back(mask_row_json(row, peak_gflops));
    }
    output["near"] = near;
    output["samples"] = samples;
    output["threads"] = threads;
    output["lanes"] = lanes;
    output.update(circumstances_json(load, seconds, torch, peak_gflops));
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print(
      "\nGFLOP/s are those of processor time: three products for every weight, row and step of an LSTM; draws, slopes "
      "and "
      "Adam\ncount nothing. FMA peak {:.0f} GFLOP/s. MB: the most memory of this process so far, weight training "
      "included.\nLoad average before {:.2f}; took {:.0f} s.\n",
      peak_gflops, load, seconds);
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread; times = how many times as long it takes for the same step, in processor time and on the "
        "clock.\n"
        "publ.: two uniform numbers, two logarithms, batched products; tuned: one number, no logarithm, own gradient "
        "and "
        "Adam.\n{}",
        torch, products_text(peak_gflops));
  }
  return 0;
}

}  // namespace modlab::cli

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "bench/ours.h"
#include "bench/rivals.h"
#include "bench/torch_masks.h"
#include "cli/bench_suite.h"

namespace modlab::cli {
namespace {

using bench::SpentTime;
using bench::TorchMaskRivalTiming;
using bench::TorchMaskTiming;
using bench::TorchMaskWork;
using nlohmann::ordered_json;

struct LibtorchRow {
  TorchMaskWork work;
  TorchMaskTiming ours;
  std::optional<TorchMaskRivalTiming> rival;
  bool in_passes = false;  // so the rival is faster
};

void keep_better(TorchMaskTiming& best, const TorchMaskTiming& other) {
  best.step.improve(other.step);
  best.passes.improve(other.passes);
  best.sampler.improve(other.sampler);
  best.masked = other.masked;
  best.loss = other.loss;
}

// In turns, so that a busy moment does not decide for one side. The rival may take all samples in one pass, as
// published, or one after the other: the better of the two counts.
LibtorchRow measure_libtorch(const TorchMaskWork& work, bool against_torch, const engine::Kernels<float>& kernels) {
  LibtorchRow row{work, bench::time_torch_mask_steps(work, kernels), {}};
  for (const bool in_passes : {false, true}) {
    if (against_torch) {
      const TorchMaskRivalTiming rival = bench::time_torch_mask_rival(work, in_passes);
      if (!row.rival || rival.step.processor < row.rival->step.processor) {
        row.rival = rival;
        row.in_passes = in_passes;
      }
    }
    keep_better(row.ours, bench::time_torch_mask_steps(work, kernels));
  }
  return row;
}

double milliseconds(double seconds) { return 1e3 * seconds; }

void print_libtorch_row(const LibtorchRow& row) {
  const TorchMaskTiming& ours = row.ours;
  fmt::print("{:<17} {:>9} {:>9.1f} {:>8.1f} {:>8.2f} {:>7.2f}", row.work.name, ours.masked,
             milliseconds(ours.step.processor), milliseconds(ours.passes.processor),
             milliseconds(ours.sampler.processor), milliseconds(ours.rest()));
  if (row.rival) {
    const TorchMaskRivalTiming& rival = *row.rival;
    const double passes = rival.step.processor - rival.sampler.processor - rival.optimizer.processor;
    fmt::print("   {:>9.1f} {:>8.1f} {:>8.1f} {:>7.1f}   {:>6} {:>8} {:>8} {:>7}", milliseconds(rival.step.processor),
               milliseconds(passes), milliseconds(rival.sampler.processor), milliseconds(rival.optimizer.processor),
               ratio_text(time_ratio(rival.step, ours.step, &SpentTime::processor)),
               ratio_text(passes / ours.passes.processor),
               ratio_text(time_ratio(rival.sampler, ours.sampler, &SpentTime::processor)),
               row.in_passes ? "each" : "one");
  }
  fmt::print("\n");
  std::fflush(stdout);
}

ordered_json libtorch_json(const LibtorchRow& row) {
  ordered_json object = {{"work", row.work.name},
                         {"masked", row.ours.masked},
                         {"ms", milliseconds(row.ours.step.wall)},
                         {"processor_ms", milliseconds(row.ours.step.processor)},
                         {"passes_ms", milliseconds(row.ours.passes.processor)},
                         {"sampler_ms", milliseconds(row.ours.sampler.processor)},
                         {"rest_ms", milliseconds(row.ours.rest())},
                         {"loss", row.ours.loss}};
  if (row.rival) {
    object["rival"] = {{"ms", milliseconds(row.rival->step.wall)},
                       {"processor_ms", milliseconds(row.rival->step.processor)},
                       {"sampler_ms", milliseconds(row.rival->sampler.processor)},
                       {"optimizer_ms", milliseconds(row.rival->optimizer.processor)},
                       {"masked", row.rival->masked},
                       {"loss", row.rival->loss},
                       {"in_passes", row.in_passes}};
    object["ratio"] = *time_ratio(row.rival->step, row.ours.step, &SpentTime::wall);
    object["processor_ratio"] = *time_ratio(row.rival->step, row.ours.step, &SpentTime::processor);
    object["sampler_ratio"] = *time_ratio(row.rival->sampler, row.ours.sampler, &SpentTime::processor);
  }
  return object;
}

}  // namespace

int bench_libtorch(const BenchRequest& request) {
  const std::vector<TorchMaskWork> list = chosen_work(bench::torch_mask_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const engine::Kernels<float>& kernels = engine::kernels();
  const double load = load_average();
  const auto begin = std::chrono::steady_clock::now();
  const double peak_gflops = kernels.fma_peak_gflops();
  if (!request.as_json) {
    fmt::print("{}, one thread; training steps of masks over networks on libtorch, CPU ms\n\n", kernels.target);
    fmt::print("{:<17} {:>9} {:>9} {:>8} {:>8} {:>7}", "work", "weights", "a step", "passes", "sampler", "rest");
    fmt::print("{}\n", !request.against_torch
                           ? ""
                           : fmt::format("   {:>9} {:>8} {:>8} {:>7}   {:>6} {:>8} {:>8} {:>7}", "PyTorch", "passes",
                                         "sampler", "Adam", "times", "passes", "sampler", "pass"));
  }
  std::vector<LibtorchRow> rows;
  std::string torch;
  for (const TorchMaskWork& work : list) {
    rows.push_back(measure_libtorch(work, request.against_torch, kernels));
    if (rows.back().rival) {
      torch = torch_text(rows.back().rival->torch, rows.back().rival->blas);
    }
    if (!request.as_json) {
      print_libtorch_row(rows.back());
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (request.as_json) {
    ordered_json output = {{"target", kernels.target}, {"rows", ordered_json::array()}};
    std::ranges::transform(rows, std::back_inserter(output["rows"]), libtorch_json);
    output.update(circumstances_json(load, seconds, torch, peak_gflops));
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print(
      "\npasses: libtorch, forward and backward, as many as there are samples. sampler: draws of masks and gradients "
      "of "
      "their\nlogits, measured by themselves. rest: clipping, Adam, copies. Load average before {:.2f}; took {:.0f} "
      "s.\n",
      load, seconds);
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread, the published expression (two uniform numbers, two logarithms); times = how many times as "
        "long "
        "it takes.\npass: whether all samples in one pass, as published, or one pass for each is faster there.\n{}",
        torch, products_text(peak_gflops));
  }
  return 0;
}

}  // namespace modlab::cli

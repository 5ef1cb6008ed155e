#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "bench/ours.h"
#include "bench/rivals.h"
#include "bench/work.h"
#include "cli/bench_suite.h"
#include "core/errors.h"

namespace modlab::cli {
namespace {

using bench::Work;
using nlohmann::ordered_json;

constexpr int kEpochs = 1000;

// The rivals: script, networks at once, and epochs that take about a second.
struct Rival {
  const char* name;
  const char* script;
  int ensemble;
  int epochs;
};
constexpr Rival kRivals[] = {{"eager", "eager", 1, 200},
                             {"eager-tuned", "eager_tuned", 1, 300},
                             {"bmm-64", "bmm", 64, 30},
                             {"bmm-512", "bmm", 512, 5},
                             {"vmap-64", "vmap", 64, 15}};

struct Row {
  Work work;
  bench::Timing ours;
  std::array<std::optional<bench::RivalTiming>, std::size(kRivals)> rivals;

  double us_per_step() const { return ours.us_per_net_epoch() / bench::steps_per_epoch(work); }
  double gflops() const { return bench::flops_per_epoch(work) / ours.us_per_net_epoch() * 1e-3; }
  // How many times as long the fastest of the rivals [first, last) takes.
  std::optional<double> ratio(std::size_t first, std::size_t last) const {
    std::optional<double> least;
    for (std::size_t rival = first; rival < last; ++rival) {
      if (rivals[rival] && (!least || rivals[rival]->us_per_net_step < *least)) {
        least = rivals[rival]->us_per_net_step;
      }
    }
    return least ? std::optional(*least / us_per_step()) : std::nullopt;
  }
  std::optional<double> ratio_eager() const { return ratio(0, 1); }
  std::optional<double> ratio_eager_tuned() const { return ratio(1, 2); }
  std::optional<double> ratio_bmm() const { return ratio(2, 4); }
  std::optional<double> ratio_vmap() const { return ratio(4, 5); }
};

bench::Timing measure_ours(const Work& work, const engine::Kernels<float>& kernels) {
  constexpr int kRepeats = 10;
  if (work.step_only) {
    return bench::time_steps(work, kEpochs, kRepeats, kernels);
  }
  // Small networks need more of them for a measurable time.
  const int networks = kernels.lanes * (work.spec.is_mlp() ? 1 : 8);
  return bench::time_loop(work, networks, kEpochs, 1, kRepeats, kernels);
}

ordered_json row_json(const Row& row, double peak_gflops) {
  ordered_json object;
  object["work"] = row.work.name;
  object["ours_us_per_net_step"] = row.us_per_step();
  object["networks_per_second"] = 1e6 / (row.ours.us_per_net_epoch() * kEpochs);
  object["ratio_eager"] = ratio_json(row.ratio_eager());
  object["ratio_eager_tuned"] = ratio_json(row.ratio_eager_tuned());
  object["ratio_bmm"] = ratio_json(row.ratio_bmm());
  object["ratio_vmap"] = ratio_json(row.ratio_vmap());
  object["gflops"] = row.gflops();
  object["percent_of_peak"] = 100 * row.gflops() / peak_gflops;
  if (!row.work.step_only) {
    object["test_accuracy"] = row.ours.test_accuracy;
  }
  for (std::size_t rival = 0; rival < std::size(kRivals); ++rival) {
    if (row.rivals[rival]) {
      object["rivals_us_per_net_step"][kRivals[rival].name] = row.rivals[rival]->us_per_net_step;
    }
  }
  return object;
}

void print_row(const Row& row, double peak_gflops) {
  fmt::print("{:<38} {:>9.0f} {:>9.3f} {:>6.1f} {:>7} {:>7} {:>6} {:>6} {:>7}\n", row.work.name,
             1e6 / (row.ours.us_per_net_epoch() * kEpochs), row.us_per_step(), 100 * row.gflops() / peak_gflops,
             ratio_text(row.ratio_eager()), ratio_text(row.ratio_eager_tuned()), ratio_text(row.ratio_bmm()),
             ratio_text(row.ratio_vmap()),
             row.work.step_only ? std::string("-") : fmt::format("{:.1f} %", row.ours.test_accuracy));
  std::fflush(stdout);
}

// How the whole loop of the paper's shared network grows with networks and threads.
ordered_json measure_growth(const engine::Kernels<float>& kernels, bool quiet) {
  const Work work = bench::standard_work().front();
  ordered_json rows = ordered_json::array();
  if (!quiet) {
    fmt::print("\n{}: growth\n{:>9} {:>8} {:>9} {:>12}\n", work.name, "networks", "threads", "seconds", "networks/s");
  }
  for (const int threads : {1, 2}) {
    for (const int networks : {1, 16, 256, 4096}) {
      const bench::Timing timing = bench::time_loop(work, networks, kEpochs, threads, networks > 1000 ? 1 : 3, kernels);
      rows.push_back({{"networks", networks},
                      {"threads", threads},
                      {"seconds", timing.seconds},
                      {"networks_per_second", networks / timing.seconds}});
      if (!quiet) {
        fmt::print("{:>9} {:>8} {:>9.3f} {:>12.0f}\n", networks, threads, timing.seconds, networks / timing.seconds);
        std::fflush(stdout);
      }
    }
  }
  return rows;
}

}  // namespace

int bench_boolean(const BenchRequest& request) {
  const std::vector<Work> list = chosen_work(bench::standard_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const bool as_json = request.as_json;
  const engine::Kernels<float>& kernels = engine::kernels();
  if (!as_json) {
    fmt::print("{}, one thread; {} epochs of 32 training rows, 64 rows evaluated after each\n\n", kernels.target,
               kEpochs);
    fmt::print("{:<38} {:>9} {:>9} {:>6} {:>7} {:>7} {:>6} {:>6} {:>7}\n", "", "networks", "us a net", "% of", "times",
               "times", "times", "times", "test");
    fmt::print("{:<38} {:>9} {:>9} {:>6} {:>7} {:>7} {:>6} {:>6} {:>7}\n", "work", "a second", "and step", "peak",
               "eager", "tuned", "bmm", "vmap", "acc.");
  }
  std::vector<Row> rows;
  std::string torch;
  double peak_gflops = 0;
  for (const Work& work : list) {
    Row row{work, measure_ours(work, kernels), {}};
    for (std::size_t rival = 0; request.against_torch && rival < std::size(kRivals); ++rival) {
      const int steps = bench::steps_per_epoch(work);
      row.rivals[rival] = bench::time_rival(kRivals[rival].script, work, kRivals[rival].ensemble,
                                            std::max(2, kRivals[rival].epochs / steps));
      if (row.rivals[rival]) {
        torch = torch_text(row.rivals[rival]->torch, row.rivals[rival]->blas);
      }
    }
    // Once more behind the rivals, so that a busy moment does not decide for one side.
    if (request.against_torch) {
      const bench::Timing again = measure_ours(work, kernels);
      row.ours.seconds = std::min(row.ours.seconds, again.seconds);
    }
    // The peak is the best of all measurements: a busy moment must not make a row look better than it is.
    peak_gflops = std::max(peak_gflops, kernels.fma_peak_gflops());
    if (!as_json) {
      print_row(row, peak_gflops);
    }
    rows.push_back(std::move(row));
  }
  const bool everything = request.work.empty();
  const ordered_json growth = everything ? measure_growth(kernels, as_json) : ordered_json(nullptr);
  if (as_json) {
    ordered_json output;
    output["target"] = kernels.target;
    output["peak_gflops"] = peak_gflops;
    output["rows"] = ordered_json::array();
    for (const Row& row : rows) {
      output["rows"].push_back(row_json(row, peak_gflops));
    }
    if (everything) {
      output["growth"] = growth;
    }
    output["peak_memory_mb"] = bench::peak_memory_mb();
    if (!torch.empty()) {
      output["torch"] = torch;
      output["torch_products"] = products_json(peak_gflops);
    }
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print("\nFMA peak {:.0f} GFLOP/s. Peak memory of this process {:.0f} MB.\n", peak_gflops,
             bench::peak_memory_mb());
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread; times = how many times as long it takes for the same step of one network, extrapolated\n"
        "from fewer epochs. eager: plain nn.Module and torch.optim.Adam; tuned: eager with hand-written Adam on flat\n"
        "storage; bmm: the faster of 64 and 512 networks stacked by hand; vmap: functorch, 64 networks.\n",
        torch);
    fmt::print("{}", products_text(peak_gflops));
  }
  return 0;
}

}  // namespace modlab::cli

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "bench/methods.h"
#include "bench/ours.h"
#include "bench/work.h"
#include "cli/bench_suite.h"

namespace modlab::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kDensity = 0.02;
constexpr std::uint64_t kSeed = 0;
constexpr int kDetectRepeats = 3;

void print_row(const bench::DetectWork& work, const bench::DetectTiming& timing) {
  fmt::print("{:<20} {:>8} {:>9.3f} {:>9.3f}  {:<18} {:<18} {:>7}\n", work.name, timing.edges, timing.time.wall,
             timing.time.processor, fmt::format("{}", fmt::join(timing.live, "-")),
             fmt::format("{}", fmt::join(timing.clusters, "-")), timing.modules);
  std::fflush(stdout);
}

}  // namespace

int bench_detect(const BenchRequest& request) {
  const std::vector<bench::DetectWork> list = chosen_work(bench::detect_work(), request);
  const double load = load_average();
  if (!request.as_json) {
    fmt::print("One thread; modules of random networks with {:g} % of all edges, the best of {}\n\n", 100 * kDensity,
               kDetectRepeats);
    fmt::print("{:<20} {:>8} {:>9} {:>9}  {:<18} {:<18} {:>7}\n", "layers", "edges", "seconds", "CPU s", "live units",
               "clusters", "modules");
  }
  ordered_json rows = ordered_json::array();
  for (const bench::DetectWork& work : list) {
    const bench::DetectTiming timing = bench::time_detection(work.widths, kDensity, kSeed, kDetectRepeats);
    rows.push_back({{"work", work.name},
                    {"edges", timing.edges},
                    {"seconds", timing.time.wall},
                    {"processor_seconds", timing.time.processor},
                    {"live_units", timing.live},
                    {"clusters", timing.clusters},
                    {"modules", timing.modules}});
    if (!request.as_json) {
      print_row(work, timing);
    }
  }
  if (request.as_json) {
    ordered_json output;
    output["density"] = kDensity;
    output["seed"] = kSeed;
    output["rows"] = std::move(rows);
    output["peak_memory_mb"] = bench::peak_memory_mb();
    output["load_average_before"] = load;
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print("\nPeak memory of this process {:.0f} MB. Load average before {:.2f}.\n", bench::peak_memory_mb(), load);
  return 0;
}

}  // namespace modlab::cli

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
#include "measures/flops.h"
#include "measures/statistics.h"
#include "models/images/image_blueprint.h"
#include "tasks/mnist_files.h"
#include "tasks/task_file.h"

namespace modlab::cli {
namespace {

using bench::ImageWork;
using nlohmann::ordered_json;

// A network on MNIST: the best times of each side.
struct MnistRow {
  ImageWork work;
  bench::SpentTime ours;
  std::optional<bench::SpentTime> eager, tuned;
  double flops = 0;  // of a step; zero pixels count as any others

  double gflops() const { return flops / ours.wall * 1e-9; }
};

bool is_one_of(std::span<const char* const> names, const ImageWork& work) {
  return std::ranges::any_of(names, [&](const char* name) { return work.name == name; });
}

double flops_per_step(const models::ImageSpec& given) {
  const tasks::TaskSuite suite = tasks::load_task(given.task);
  // An epoch of one batch is one update where exactly those that happen are counted.
  return measures::training_flops(measures::count_flops(models::resolve(given, suite), suite), 1, given.batch_size,
                                  given.batch_size, measures::Counting::kExact);
}

// In turns, so that a busy moment does not decide for one side.
MnistRow measure_mnist(const ImageWork& work, bool against_torch, const engine::Kernels<float>& kernels,
                       std::string& torch) {
  constexpr int kRounds = 4;
  constexpr int kRepeats = 2;
  MnistRow row{work, {}, {}, {}, flops_per_step(work.spec)};
  const auto measure_rival = [&](bool tuned, std::optional<bench::SpentTime>& best) {
    const auto timing =
        against_torch ? bench::time_mnist_rival(work, tasks::cache_folder(tasks::mnist()), tuned) : std::nullopt;
    if (timing) {
      best = best.value_or(timing->step);
      best->improve(timing->step);
      torch = torch_text(timing->torch, timing->blas);
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    row.ours.improve(bench::time_image_steps(work, kRepeats, kernels));
    measure_rival(false, row.eager);
    row.ours.improve(bench::time_image_steps(work, kRepeats, kernels));
    measure_rival(true, row.tuned);
  }
  return row;
}

ordered_json mnist_row_json(const MnistRow& row, double peak_gflops) {
  ordered_json object;
  object["work"] = row.work.name;
  const auto add_times = [&](const std::string& prefix, double bench::SpentTime::*time) {
    object[prefix + "ours_us_per_net_step"] = 1e6 * row.ours.*time;
    object[prefix + "ratio_eager"] = ratio_json(time_ratio(row.eager, row.ours, time));
    object[prefix + "ratio_eager_tuned"] = ratio_json(time_ratio(row.tuned, row.ours, time));
    if (row.eager) {
      object[prefix + "rivals_us_per_net_step"]["eager"] = 1e6 * *row.eager.*time;
    }
    if (row.tuned) {
      object[prefix + "rivals_us_per_net_step"]["eager-tuned"] = 1e6 * *row.tuned.*time;
    }
  };
  add_times("", &bench::SpentTime::wall);
  add_times("processor_", &bench::SpentTime::processor);
  object["flops_per_step"] = row.flops;
  object["gflops"] = row.gflops();
  object["percent_of_peak"] = 100 * row.gflops() / peak_gflops;
  return object;
}

void print_mnist_row(const MnistRow& row, double peak_gflops) {
  const auto us_text = [](const std::optional<bench::SpentTime>& time) {
    return time ? fmt::format("{:.0f}", 1e6 * time->wall) : "-";
  };
  const auto times = [&](const std::optional<bench::SpentTime>& rival, double bench::SpentTime::*time) {
    return ratio_text(time_ratio(rival, row.ours, time));
  };
  fmt::print("{:<20} {:>8.1f} {:>9.1f} {:>6.1f} {:>8} {:>8} {:>7} {:>7}   {:>8.1f} {:>7} {:>7}\n", row.work.name,
             1e6 * row.ours.wall, row.gflops(), 100 * row.gflops() / peak_gflops, us_text(row.eager),
             us_text(row.tuned), times(row.eager, &bench::SpentTime::wall), times(row.tuned, &bench::SpentTime::wall),
             1e6 * row.ours.processor, times(row.eager, &bench::SpentTime::processor),
             times(row.tuned, &bench::SpentTime::processor));
  std::fflush(stdout);
}

// Whole trainings with their evaluations on one thread and on two, in turns.
ordered_json measure_threads(const std::vector<ImageWork>& list, const engine::Kernels<float>& kernels, bool quiet) {
  constexpr const char* kModels[] = {"modular", "modular-shared", "dense"};
  constexpr int kNetworks = 4;
  constexpr int kRepeats = 7;
  ordered_json rows = ordered_json::array();
  for (const ImageWork& work : list) {
    if (!is_one_of(kModels, work)) {
      continue;
    }
    if (!quiet && rows.empty()) {
      fmt::print("\n{} networks, one epoch each: seconds\n{:<20} {:>10} {:>11} {:>7}\n", kNetworks, "work",
                 "one thread", "two threads", "times");
    }
    double one = 1e30;
    double two = 1e30;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      one = std::min(one, bench::time_loop(work, kNetworks, 1, 1, 1, kernels).seconds);
      two = std::min(two, bench::time_loop(work, kNetworks, 1, 2, 1, kernels).seconds);
    }
    rows.push_back({{"work", work.name},
                    {"networks", kNetworks},
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

// A number of the networks of both sides after some epoch.
struct Compared {
  measures::MeanWithErrors ours, torch;

  // In standard errors; infinite where neither side varies.
  double difference() const {
    const double apart = ours.mean - torch.mean;
    return apart == 0 ? 0 : apart / std::hypot(ours.error_within, torch.error_within);
  }
};

struct CurveNumber {
  const char* name;
  std::vector<double> bench::Curve::*values;
  int digits;
};
constexpr CurveNumber kCurveNumbers[] = {{"training_loss", &bench::Curve::training_loss, 4},
                                         {"seen_accuracy", &bench::Curve::seen_accuracy, 2},
                                         {"unseen_accuracy", &bench::Curve::unseen_accuracy, 2}};

Compared compare(const std::vector<bench::Curve>& ours, const std::vector<bench::Curve>& torch,
                 const CurveNumber& number, std::size_t epoch) {
  const auto mean = [&](const std::vector<bench::Curve>& curves) {
    std::vector<double> values;
    for (const bench::Curve& curve : curves) {
      values.push_back((curve.*number.values).at(epoch));
    }
    return measures::combine({values});
  };
  return {mean(ours), mean(torch)};
}

// Whether networks learn the same on both sides: the same data, other initial weights and orders of samples.
ordered_json compare_curves(const std::vector<ImageWork>& list, const engine::Kernels<float>& kernels, bool quiet) {
  constexpr const char* kModels[] = {"modular-shared", "modular-shared-fcms", "dense"};
  constexpr int kSeeds = 16;
  constexpr int kShownEpochs[] = {1, 2, 4, 8, 12};
  ordered_json output;
  output["networks"] = kSeeds;
  output["rows"] = ordered_json::array();
  int count = 0;
  int beyond_two = 0;
  double largest = 0;
  for (ImageWork work : list) {
    if (!is_one_of(kModels, work)) {
      continue;
    }
    work.spec.samples = 300;
    work.spec.epochs = kShownEpochs[std::size(kShownEpochs) - 1];
    if (!quiet) {
      fmt::print("\n{}: {} networks on each side, {} samples a combination; difference in standard errors\n", work.name,
                 kSeeds, work.spec.samples);
      fmt::print("{:<5}  {:>15} {:>15} {:>5}  {:>14} {:>14} {:>5}  {:>14} {:>14} {:>5}\n", "epoch", "loss: ours",
                 "PyTorch", "diff.", "seen %: ours", "PyTorch", "diff.", "unseen %: ours", "PyTorch", "diff.");
      std::fflush(stdout);
    }
    const std::vector<bench::Curve> ours = bench::train_curves(work, kSeeds, 1, kernels);
    std::vector<bench::Curve> torch;
    for (int seed = 0; seed < kSeeds; ++seed) {
      torch.push_back(bench::train_mnist_rival(work, tasks::cache_folder(tasks::mnist()), seed));
    }
    for (int epoch = 1; epoch <= work.spec.epochs; ++epoch) {
      ordered_json row = {{"work", work.name}, {"epoch", epoch}};
      std::string line = fmt::format("{:>5}", epoch);
      for (const CurveNumber& number : kCurveNumbers) {
        const Compared compared = compare(ours, torch, number, static_cast<std::size_t>(epoch - 1));
        const double difference = compared.difference();
        row[number.name] = {{"ours", compared.ours.mean},
                            {"ours_error", compared.ours.error_within},
                            {"torch", compared.torch.mean},
                            {"torch_error", compared.torch.error_within},
                            {"difference", difference}};
        const auto text = [&](const measures::MeanWithErrors& mean) {
          return fmt::format("{:.{}f} ± {:.{}f}", mean.mean, number.digits, mean.error_within, number.digits);
        };
        line += fmt::format("  {0:>{3}} {1:>{3}} {2:>5.1f}", text(compared.ours), text(compared.torch), difference,
                            number.digits > 2 ? 15 : 14);
        ++count;
        beyond_two += std::abs(difference) > 2 ? 1 : 0;
        largest = std::max(largest, std::abs(difference));
      }
      output["rows"].push_back(std::move(row));
      if (!quiet && std::ranges::find(kShownEpochs, epoch) != std::end(kShownEpochs)) {
        fmt::print("{}\n", line);
        std::fflush(stdout);
      }
    }
  }
  output["compared"] = count;
  output["beyond_two_errors"] = beyond_two;
  output["largest_difference"] = largest;
  if (!quiet && count > 0) {
    fmt::print(
        "\nThe largest difference is {:.1f} standard errors; {} of {} numbers (all epochs) differ by more than two.\n"
        "In samples of {} networks from one distribution one in fifteen does, and epochs of a training go together.\n",
        largest, beyond_two, count, kSeeds);
  }
  return output;
}

}  // namespace

int bench_mnist(const BenchRequest& request) {
  const std::vector<ImageWork> list = chosen_work(bench::mnist_work(), request);
  if (request.against_torch) {
    bench::require_torch();
  }
  const auto begin = std::chrono::steady_clock::now();
  double load = 0;
  ::getloadavg(&load, 1);
  const engine::Kernels<float>& kernels = engine::kernels();
  const models::ImageSpec& spec = list.front().spec;
  const bench::PixelShare share = bench::pixel_share(list.front());
  if (!request.as_json) {
    fmt::print("{}, one thread; training steps on pairs of MNIST's digits, batch {}, published sizes\n\n",
               kernels.target, spec.batch_size);
    constexpr auto kHead = "{:<20} {:>8} {:>9} {:>6} {:>8} {:>8} {:>7} {:>7}   {:>8} {:>7} {:>7}\n";
    fmt::print(kHead, "", "us", "GFLOP/s", "% of", "us", "us", "times", "times", "CPU us", "times", "times");
    fmt::print(kHead, "work", "a step", "as dense", "peak", "eager", "tuned", "eager", "tuned", "a step", "eager",
               "tuned");
  }
  std::vector<MnistRow> rows;
  std::string torch;
  double peak_gflops = 0;
  for (const ImageWork& work : list) {
    rows.push_back(measure_mnist(work, request.against_torch, kernels, torch));
    peak_gflops = std::max(peak_gflops, kernels.fma_peak_gflops());
    if (!request.as_json) {
      print_mnist_row(rows.back(), peak_gflops);
    }
  }
  const ordered_json threads = measure_threads(list, kernels, request.as_json);
  const ordered_json curves = request.curves ? compare_curves(list, kernels, request.as_json) : ordered_json(nullptr);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (request.as_json) {
    ordered_json output;
    output["target"] = kernels.target;
    output["peak_gflops"] = peak_gflops;
    output["batch_size"] = spec.batch_size;
    output["samples"] = spec.samples;
    output["nonzero_pixels"] = share.forward;
    output["nonzero_pixel_pairs"] = share.gradient;
    output["rows"] = ordered_json::array();
    for (const MnistRow& row : rows) {
      output["rows"].push_back(mnist_row_json(row, peak_gflops));
    }
    output["threads"] = threads;
    if (request.curves) {
      output["curves"] = curves;
    }
    output.update(circumstances_json(load, seconds, torch, peak_gflops));
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print(
      "\nGFLOP/s are counted as the paper counts a step, every pixel a product; {:.1f} % of the pixels are not zero,\n"
      "and only those are multiplied (in the gradient of weights pairs of neighbours, {:.1f} %).\n"
      "FMA peak {:.0f} GFLOP/s. Peak memory of this process {:.0f} MB. Load average before {:.2f}; took {:.0f} s.\n",
      100 * share.forward, 100 * share.gradient, peak_gflops, bench::peak_memory_mb(), load, seconds);
  if (!torch.empty()) {
    fmt::print(
        "{}, one thread; times = how many times as long it takes for the same step,\n"
        "on the clock and in processor time. eager: nn.Module, autograd and torch.optim.Adam; tuned: batched image\n"
        "modules, no gradient of pixels, hand-written Adam on flat storage.\n",
        torch);
    fmt::print("{}", products_text(peak_gflops));
  }
  return 0;
}

}  // namespace modlab::cli

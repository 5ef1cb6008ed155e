#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/ours.h"
#include "bench/rivals.h"
#include "cli/arguments.h"
#include "cli/bench_suite.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

constexpr int kMostTrials = 10000;

struct Suite {
  std::string_view name;
  int (*measure)(const BenchRequest& request);
};
constexpr Suite kSuites[] = {{"boolean", bench_boolean},  {"mnist", bench_mnist}, {"sculpt", bench_sculpt},
                             {"detect", bench_detect},    {"rules", bench_rules}, {"mask", bench_mask},
                             {"libtorch", bench_libtorch}};

const std::vector<Option>& bench_options() {
  static const std::vector<Option> kOptions = {
      {"against", Arity::kOne, "torch", "also measure PyTorch on the same work (takes some minutes)", {}},
      {"curves",
       Arity::kSwitch,
       "",
       "with mnist and PyTorch: also compare how both learn (takes five minutes more)",
       {}},
      {"trials", Arity::kOne, "N", "with sculpt: networks to sculpt of each work; default: 16", {}},
      {"work", Arity::kOne, "TEXT", "only the work whose name contains this", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_bench_help() {
  print_help(
      "modlab bench: how fast the engine is on this machine, one thread, and against PyTorch\n\n"
      "  modlab bench\n"
      "  modlab bench --against torch --work modular-shared\n"
      "  modlab bench mnist\n"
      "  modlab bench mnist --against torch --curves\n"
      "  modlab bench sculpt --against torch\n"
      "  modlab bench detect\n"
      "  modlab bench rules --against torch --work mlp/\n"
      "  modlab bench mask --against torch --work fnn/\n"
      "  modlab bench libtorch --against torch --work scan/\n\n"
      "  boolean  networks on truth tables, many at once (what is measured where nothing is named)\n"
      "  mnist    networks on pairs of MNIST's digits, one at a time: training steps, and two threads against one\n"
      "  sculpt   whole trials: training, pruning and choosing among all pairs of first steps\n"
      "  detect   finding the modules of large random networks\n"
      "  rules    networks on rule-based data, one at a time: family/model/rules, as in --work rnn/gt-modular\n"
      "  mask     masks over the weights of large networks, one at a time: how it grows with samples and threads\n"
      "  libtorch masks over networks that run on libtorch, on SCAN and CIFAR-10: where a step's time goes\n\n"
      "{}\n"
      "Every figure is measured in this run. On Boolean work PyTorch's are extrapolated from fewer epochs, of long\n"
      "trials from a part of them.\n",
      describe_options(bench_options()));
}

BenchRequest read_request(const Arguments& arguments) {
  const std::vector<std::string>& suites = arguments.positional();
  BenchRequest request;
  request.suite = suites.empty() ? "boolean" : suites.front();
  if (std::ranges::find(kSuites, request.suite, &Suite::name) == std::end(kSuites)) {
    throw ConfigError(fmt::format(
        "bench measures boolean, mnist, sculpt, detect, rules, mask or libtorch, not '{}'; --work chooses among "
        "their work",
        request.suite));
  }
  if (suites.size() > 1) {
    throw ConfigError(fmt::format("bench measures one suite at a time; leave out '{}'", suites[1]));
  }
  const std::string against = arguments.text("against");
  if (!against.empty() && against != "torch") {
    throw ConfigError(fmt::format("--against takes torch, not '{}'", against));
  }
  request.work = arguments.text("work");
  request.against_torch = !against.empty();
  request.curves = arguments.is_on("curves");
  request.as_json = arguments.is_on("json");
  if (request.curves && (request.suite != "mnist" || !request.against_torch)) {
    throw ConfigError("--curves compares trainings on MNIST; try `modlab bench mnist --against torch --curves`");
  }
  if (request.suite == "detect" && request.against_torch) {
    throw ConfigError("PyTorch has no detector to compare with; leave out --against");
  }
  if (arguments.has("trials")) {
    const std::optional<long long> trials = parse_integer(arguments.text("trials"));
    if (request.suite != "sculpt" || !trials || *trials < 1 || *trials > kMostTrials) {
      throw ConfigError(
          fmt::format("--trials is how many networks `modlab bench sculpt` takes, from 1 to {}", kMostTrials));
    }
    request.trials = static_cast<int>(*trials);
  }
  return request;
}

}  // namespace

void refuse_unknown_work(const BenchRequest& request) {
  throw ConfigError(
      fmt::format("no work is named like '{}'; `modlab bench {}` lists all", request.work, request.suite));
}

double load_average() {
  double load = 0;
  ::getloadavg(&load, 1);
  return load;
}

std::string torch_text(const std::string& version, const std::string& blas) {
  return fmt::format("PyTorch {} on {}", version, blas);
}

std::string products_text(double peak_gflops) {
  const bench::RivalProducts& products = bench::rival_products();
  std::string text =
      fmt::format("Its own products of 1024 x 1024: {:.0f} GFLOP/s, {:.0f} % of this machine's {:.0f}, with {}",
                  products.gflops, 100 * products.gflops / peak_gflops, peak_gflops,
                  products.kernels.empty() ? "the kernels it has" : "OPENBLAS_CORETYPE=" + products.kernels);
  if (products.kernels != products.kernels_by_itself) {
    text += fmt::format(" (by itself it takes {}: {:.0f})", products.kernels_by_itself, products.gflops_by_itself);
  }
  return text + (bench::is_fair(products, peak_gflops)
                     ? ".\n"
                     : ".\nThat is less than a third: not a fair rival on this machine, and its ratios say nothing.\n");
}

nlohmann::ordered_json products_json(double peak_gflops) {
  const bench::RivalProducts& products = bench::rival_products();
  return {{"gflops", products.gflops},
          {"kernels", products.kernels},
          {"gflops_by_itself", products.gflops_by_itself},
          {"kernels_by_itself", products.kernels_by_itself},
          {"peak_gflops", peak_gflops},
          {"fair", bench::is_fair(products, peak_gflops)}};
}

nlohmann::ordered_json circumstances_json(double load, double seconds, const std::string& torch, double peak_gflops) {
  nlohmann::ordered_json json;
  json["peak_memory_mb"] = bench::peak_memory_mb();
  json["load_average_before"] = load;
  json["seconds"] = seconds;
  if (!torch.empty()) {
    json["torch"] = torch;
    json["torch_products"] = products_json(peak_gflops);
  }
  return json;
}

std::optional<double> time_ratio(const std::optional<bench::SpentTime>& rival, const bench::SpentTime& ours,
                                 double bench::SpentTime::*time) {
  return rival ? std::optional(*rival.*time / ours.*time) : std::nullopt;
}

std::string ratio_text(const std::optional<double>& ratio) {
  return !ratio ? std::string("-") : *ratio >= 100 ? fmt::format("{:.0f}", *ratio) : fmt::format("{:.1f}", *ratio);
}

nlohmann::ordered_json ratio_json(const std::optional<double>& ratio) {
  return ratio ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json(nullptr);
}

int run_bench(std::span<const std::string> words) {
  const Arguments arguments(words, bench_options());
  if (arguments.has("help")) {
    print_bench_help();
    return 0;
  }
  const BenchRequest request = read_request(arguments);
  return std::ranges::find(kSuites, request.suite, &Suite::name)->measure(request);
}

}  // namespace modlab::cli

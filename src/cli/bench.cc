#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/ours.h"
#include "bench/rivals.h"
#include "bench/work.h"
#include "cli/arguments.h"
#include "cli/bench_suite.h"
#include "cli/verbs.h"
#include "core/errors.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& options() {
  static const std::vector<Option> kOptions = {
      {"against", Arity::kOne, "torch", "also measure PyTorch on the same work (takes some minutes)", {}},
      {"curves",
       Arity::kSwitch,
       "",
       "with mnist and PyTorch: also compare how both learn (takes five minutes more)",
       {}},
      {"work", Arity::kOne, "TEXT", "only the work whose name contains this", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_help() {
  fmt::print(
      "modlab bench: how fast the engine is on this machine, one thread, and against PyTorch\n\n"
      "  modlab bench\n"
      "  modlab bench --against torch --work modular-shared\n"
      "  modlab bench mnist\n"
      "  modlab bench mnist --against torch --curves\n\n"
      "  boolean  networks on truth tables, many at once (what is measured where nothing is named)\n"
      "  mnist    networks on pairs of MNIST's digits, one at a time: training steps, and two threads against one\n\n"
      "{}\n"
      "Every figure is measured in this run. On Boolean work PyTorch's are extrapolated from fewer epochs.\n",
      describe_options(options()));
}

BenchRequest read_request(const Arguments& arguments) {
  const std::vector<std::string>& suites = arguments.positional();
  BenchRequest request;
  request.suite = suites.empty() ? "boolean" : suites.front();
  if (request.suite != "boolean" && request.suite != "mnist") {
    throw ConfigError(
        fmt::format("bench measures boolean or mnist, not '{}'; --work chooses among their work", request.suite));
  }
  if (suites.size() > 1) {
    throw ConfigError(fmt::format("bench measures one of boolean and mnist at a time; leave out '{}'", suites[1]));
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
  return request;
}

}  // namespace

std::vector<bench::Work> chosen_work(std::vector<bench::Work> list, const BenchRequest& request) {
  std::erase_if(list, [&](const bench::Work& work) { return work.name.find(request.work) == std::string::npos; });
  if (list.empty()) {
    throw ConfigError(
        fmt::format("no work is named like '{}'; `modlab bench {}` lists all", request.work, request.suite));
  }
  return list;
}

std::string torch_text(const std::string& version, const std::string& blas) {
  return fmt::format("PyTorch {} on {}", version, blas);
}

std::string ratio_text(const std::optional<double>& ratio) {
  return !ratio ? std::string("-") : *ratio >= 100 ? fmt::format("{:.0f}", *ratio) : fmt::format("{:.1f}", *ratio);
}

nlohmann::ordered_json ratio_json(const std::optional<double>& ratio) {
  return ratio ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json(nullptr);
}

int run_bench(std::span<const std::string> words) {
  const Arguments arguments(words, options());
  if (arguments.has("help")) {
    print_help();
    return 0;
  }
  const BenchRequest request = read_request(arguments);
  return request.suite == "mnist" ? bench_mnist(request) : bench_boolean(request);
}

}  // namespace modlab::cli

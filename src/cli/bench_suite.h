#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "bench/work.h"

// What `modlab bench` is made of: bench.cc reads the command line, there is a file for each suite that it measures.
namespace modlab::cli {

// What was asked for.
struct BenchRequest {
  std::string suite;
  std::string work;  // part of a name; empty: all
  bool against_torch = false;
  bool curves = false;
  int trials = 16;  // of each work to sculpt
  bool as_json = false;
};

int bench_boolean(const BenchRequest& request);
int bench_mnist(const BenchRequest& request);
int bench_sculpt(const BenchRequest& request);
int bench_detect(const BenchRequest& request);
int bench_rules(const BenchRequest& request);
int bench_mask(const BenchRequest& request);
int bench_libtorch(const BenchRequest& request);

[[noreturn]] void refuse_unknown_work(const BenchRequest& request);

// Those of the work that the request names. Throws ConfigError if there are none.
template <typename NamedWork>
std::vector<NamedWork> chosen_work(std::vector<NamedWork> list, const BenchRequest& request) {
  std::erase_if(list, [&](const NamedWork& work) { return work.name.find(request.work) == std::string::npos; });
  if (list.empty()) {
    refuse_unknown_work(request);
  }
  return list;
}

// How many processes wanted a core in the last minute.
double load_average();

std::string torch_text(const std::string& version, const std::string& blas);
// How fast the rival's own products are, with which kernels, and whether that makes it a fair one.
std::string products_text(double peak_gflops);
nlohmann::ordered_json products_json(double peak_gflops);
// Under which everything was measured. `torch` is empty without a rival.
nlohmann::ordered_json circumstances_json(double load, double seconds, const std::string& torch, double peak_gflops);
// How many times as long a rival takes, on the clock or of the processor.
std::optional<double> time_ratio(const std::optional<bench::SpentTime>& rival, const bench::SpentTime& ours,
                                 double bench::SpentTime::*time);
std::string ratio_text(const std::optional<double>& ratio);
nlohmann::ordered_json ratio_json(const std::optional<double>& ratio);

}  // namespace modlab::cli

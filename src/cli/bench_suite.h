#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/work.h"

// What `modlab bench` is made of: bench.cc reads the command line, bench_boolean.cc and bench_mnist.cc measure.
namespace modlab::cli {

// What was asked for.
struct BenchRequest {
  std::string suite;
  std::string work;  // part of a name; empty: all
  bool against_torch = false;
  bool curves = false;
  bool as_json = false;
};

int bench_boolean(const BenchRequest& request);
int bench_mnist(const BenchRequest& request);

// Those of the work that the request names. Throws ConfigError if there are none.
std::vector<bench::Work> chosen_work(std::vector<bench::Work> list, const BenchRequest& request);

std::string torch_text(const std::string& version, const std::string& blas);
std::string ratio_text(const std::optional<double>& ratio);
nlohmann::ordered_json ratio_json(const std::optional<double>& ratio);

}  // namespace modlab::cli

#include "cli/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

constexpr int kMaxThreads = 1024;

}  // namespace

int thread_count(const Arguments& arguments) {
  if (!arguments.has("threads")) {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  const std::optional<long long> threads = parse_integer(arguments.text("threads"));
  if (!threads || *threads < 1 || *threads > kMaxThreads) {
    throw ConfigError(
        fmt::format("threads must be a whole number from 1 to {}, not '{}'", kMaxThreads, arguments.text("threads")));
  }
  return static_cast<int>(*threads);
}

}  // namespace modlab::cli

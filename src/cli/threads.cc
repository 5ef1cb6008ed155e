#include "cli/threads.h"

#include <fmt/format.h>
#include <sched.h>

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
    // Of those that a scheduler has given to this process.
    cpu_set_t own;
    CPU_ZERO(&own);
    return std::max(1, ::sched_getaffinity(0, sizeof(own), &own) == 0
                           ? CPU_COUNT(&own)
                           : static_cast<int>(std::thread::hardware_concurrency()));
  }
  const std::optional<long long> threads = parse_integer(arguments.text("threads"));
  if (!threads || *threads < 1 || *threads > kMaxThreads) {
    throw ConfigError(
        fmt::format("threads must be a whole number from 1 to {}, not '{}'", kMaxThreads, arguments.text("threads")));
  }
  return static_cast<int>(*threads);
}

}  // namespace modlab::cli

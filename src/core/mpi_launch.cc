#include "core/mpi_launch.h"

#include <cstdlib>

#include "core/companion_library.h"
#include "core/errors.h"
#include "core/text.h"

namespace modlab {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  const std::optional<long long> number = text != nullptr ? parse_integer(text) : std::nullopt;
  return number && *number > 0 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

std::optional<int> launched_ranks() {
  if (const std::optional<int> ranks = number_in("OMPI_COMM_WORLD_SIZE")) {
    return ranks;
  }
  return std::getenv("PMIX_RANK") != nullptr ? number_in("SLURM_STEP_NUM_TASKS") : std::nullopt;
}

std::unique_ptr<Link> open_mpi_link() {
  if (!launched_ranks()) {
    throw ConfigError(
        "mpi: no launcher has started this process; start it with one, as in `mpirun -n 8 modlab study run NAME`");
  }
  using Open = Link* (*)();
  const auto open = reinterpret_cast<Open>(function_of_companion("libmodlab_mpi.so", "modlab_open_link",
                                                                 "mpi, which ranks talk to each other by",
                                                                 "`./modlab --mpi` in the clone"));
  return std::unique_ptr<Link>(open());
}

}  // namespace modlab

#include "core/mpi_launch.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/errors.h"
#include "core/text.h"

namespace modlab {
namespace {

constexpr auto kLibrary = "libmodlab_mpi.so";

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
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (program.parent_path() / kLibrary).string();
  if (!std::filesystem::exists(path, error)) {
    throw ConfigError(fmt::format(
        "mpi: {} is not there, which ranks need to talk to each other; `./modlab --mpi` in the clone builds it", path));
  }
  // Plugins of the MPI look for its names among those of the whole program.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  using Open = Link* (*)();
  const auto open = library != nullptr ? reinterpret_cast<Open>(::dlsym(library, "modlab_open_link")) : nullptr;
  if (open == nullptr) {
    const char* reason = ::dlerror();
    throw ConfigError(fmt::format("mpi: {} cannot be loaded ({}); `./modlab --mpi` in the clone builds it again", path,
                                  on_one_line(reason != nullptr ? reason : "no reason given")));
  }
  return std::unique_ptr<Link>(open());
}

}  // namespace modlab

#pragma once

#include <memory>
#include <optional>

#include "core/link.h"

namespace modlab {

// With how many ranks a launcher of MPI (mpirun, or srun with PMIx) has started this process; nothing if none has.
std::optional<int> launched_ranks();

// The other ranks of the job. They are talked to by a library beside the program, which is loaded here: the program
// without it does all that needs no other process. Throws ConfigError if there is no launcher, or no such library.
std::unique_ptr<Link> open_mpi_link();

}  // namespace modlab

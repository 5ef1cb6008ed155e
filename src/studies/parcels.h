#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::studies {

// Runs that are best carried out by one processor: they share their work, or are trained side by side. What a study is
// cut into for several machines.
struct Parcel {
  std::vector<std::uint32_t> runs;  // places in the list
  double effort = 0;                // as in Experiment
};

// All of the runs, the largest parcels first. The same on every machine.
std::vector<Parcel> make_parcels(std::span<const experiments::Run> runs);

}  // namespace modlab::studies

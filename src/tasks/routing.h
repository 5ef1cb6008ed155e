#pragma once

#include <string>
#include <vector>

namespace modlab::tasks {

// What a network of slots by level reads: the truth derived from a function graph, or what a network has learned. A
// slot of the truth lists what is needed, which may be less than a module reads.
struct Routing {
  std::vector<std::vector<std::vector<int>>> inputs;  // [level][slot][position]: candidate of the level below
  std::vector<std::vector<int>> modules;              // [level][slot]: member of the shared pool; empty without a pool
  std::vector<int> outputs;                           // the slot that each output reads
  // Whether `outputs` counts the slots of all levels, lowest level first, and not those of the last level alone.
  bool outputs_from_all_levels = false;
};

// "L1: (0,1),(2,3); L2: (0,1); out: (0)", the form in which the published routing tables are written.
std::string wiring_text(const Routing& routing);
// "L1: 0,0; L2: 1": the pool member of each slot.
std::string modules_text(const Routing& routing);

}  // namespace modlab::tasks

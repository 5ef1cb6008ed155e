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

// "L1: (1,2),(3,4); L2: (1,2); out: (1)": which values of the level below each slot reads, counted from 1.
std::string wiring_text(const Routing& routing);
// "L1: 1,1; L2: 2": the pool member of each slot.
std::string modules_text(const Routing& routing);

}  // namespace modlab::tasks

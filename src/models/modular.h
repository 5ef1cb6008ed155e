#pragma once

#include <memory>
#include <vector>

#include "engine/network.h"

namespace modlab::models {

// Hierarchically modular networks: levels of slots, each slot a small MLP that reads `fan_in` values of the level
// below, chosen by a selection vector. With a pool, the slots of all levels share its modules and choose one each;
// without, every slot has its own. A selection vector picks the slots that are the outputs. Any of the three kinds of
// selection can be known (fixed) instead of learned: with all of them known this is the paper's FC or FCMS network.
struct ModularShape {
  int inputs = 0;
  int outputs = 0;
  int tasks = 1;
  int fan_in = 2;
  std::vector<int> levels;         // slots on each level
  int pool = 0;                    // shared modules; 0: every slot has its own
  std::vector<int> module_widths;  // fan_in, hidden layers, 1
  bool outputs_from_all = false;   // outputs may read every level, not only the last
  bool known_inputs = false;
  bool known_modules = false;
  bool known_outputs = false;
  bool noise_per_sample = false;

  int slots() const;
  // Values that the modules of a level read: all there are, if a level has fewer than modules have inputs. The inputs
  // beyond them are 0.
  int picks(std::size_t level) const;
  int output_candidates() const { return outputs_from_all ? slots() : levels.back(); }
};

template <typename T>
std::unique_ptr<engine::Network<T>> make_modular(const ModularShape& shape, const engine::Kernels<T>& kernels);

// Where the selection vectors of a modular network lie in its parameters.
struct SelectionPlaces {
  std::vector<std::size_t> inputs;   // of each level, [task][candidate][slot]
  std::vector<std::size_t> members;  // module selection of each level, [task][member][slot]; empty without a pool
  std::size_t outputs = 0;           // [task][candidate]
};

struct ModularLayout : SelectionPlaces {
  engine::Layout layout;
  std::vector<std::size_t> modules;  // parameters of each slot's own module, or of each pool member
};

ModularLayout modular_layout(const ModularShape& shape);

}  // namespace modlab::models

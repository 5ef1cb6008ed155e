#pragma once

#include <vector>

#include "engine/solo/parameters.h"
#include "models/rules/rule_route.h"

namespace modlab::models {

// Modules of two layers where the rule itself chooses one: the rows of each module are gathered, and no other module is
// computed for them. What a layer of all modules would add are products with zero, so that the numbers are the same, to
// the last bit.
template <typename T>
class OracleModules {
 public:
  // First layers are slices of modules.layer0 or, where modules read different things, module0.layer0 and so on.
  OracleModules(const RuleShape& shape, const engine::Layout& layout, int inputs, int units, int outputs,
                const engine::solo::Kernels<T>& kernels);

  void make_room(int rows);

  // Which module answers each row, before forward.
  void find_modules(const RuleBatch& batch);
  // `z`: [row][input], what the row's own module reads. Gives [row][output].
  const T* forward(engine::solo::Parameters<T>& parameters, const T* z);
  // Gives the gradient of z.
  const T* backward(engine::solo::Parameters<T>& parameters, const T* doutputs);

  const T* values() const { return outputs_.data(); }
  const T* gates() const { return gates_.data(); }
  // As it was found last.
  int module_of(int row) const { return route_[row]; }

 private:
  // The rows that one module answers, and what they hold.
  struct Group {
    std::vector<int> rows;
    AlignedVector<T> z, hidden, outputs;
    AlignedVector<T> first, second, bias;  // the module's own weights, taken from those of all
  };

  int inputs() const { return inputs_; }
  int units() const { return units_; }
  // Hidden units, and a one for the bias.
  int mixed() const { return units() + 1; }
  void take_weights(engine::solo::Parameters<T>& parameters, int module, Group& group) const;
  void add_gradients(engine::solo::Parameters<T>& parameters, int module);

  RuleShape shape_;
  int inputs_;
  int units_;  // hidden ones of a module
  int outputs_of_module_;
  std::vector<std::size_t> own_;  // a first layer of each module, or none
  std::size_t first_;
  std::size_t second_;
  const engine::solo::Kernels<T>& kernels_;
  RuleRoute route_;
  std::vector<Group> groups_;
  AlignedVector<T> outputs_, gates_, dz_;
  // Of one group.
  AlignedVector<T> doutputs_, dhidden_, dz_group_, turned_;
  AlignedVector<T> dfirst_, dbias_;
};

}  // namespace modlab::models

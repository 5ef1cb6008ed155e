#pragma once

#include <vector>

#include "engine/solo/parameters.h"
#include "models/rules/rule_samples.h"
#include "models/rules/rule_shape.h"

namespace modlab::models {

// The modules of the family kMlp where the rule itself chooses one: the rows of each module are gathered, and no other
// module is computed for them. What a layer of all modules would add are products with zero, so that the numbers are
// the same, to the last bit.
template <typename T>
class OracleModules {
 public:
  OracleModules(const RuleShape& shape, const engine::Layout& layout, const engine::solo::Kernels<T>& kernels);

  void make_room(int rows);

  // `z`: [row][input]. Gives [row][second width].
  const T* forward(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, const T* z);
  // Gives the gradient of z.
  const T* backward(engine::solo::Parameters<T>& parameters, const T* doutputs);

  const T* values() const { return outputs_.data(); }
  const T* gates() const { return gates_.data(); }

 private:
  // The rows that one module answers, and what they hold.
  struct Group {
    std::vector<int> rows;
    AlignedVector<T> z, hidden, outputs;
    AlignedVector<T> first, second, bias;  // the module's own weights, taken from those of all
  };

  int inputs() const { return 3 * shape_.width; }
  int units() const { return module_units(shape_); }
  // Hidden units, and a one for the bias.
  int mixed() const { return units() + 1; }
  void take_weights(engine::solo::Parameters<T>& parameters, int module, Group& group) const;
  void add_gradients(engine::solo::Parameters<T>& parameters, int module);

  RuleShape shape_;
  std::size_t first_;
  std::size_t second_;
  const engine::solo::Kernels<T>& kernels_;
  std::vector<Group> groups_;
  AlignedVector<T> outputs_, gates_, dz_;
  // Of one group.
  AlignedVector<T> doutputs_, dhidden_, dz_group_, turned_;
  AlignedVector<T> dfirst_, dsecond_, dbias_;
};

}  // namespace modlab::models

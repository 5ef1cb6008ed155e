#include "models/rules/rule_network.h"

namespace modlab::models {

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_network(const RuleShape& shape, const engine::solo::Kernels<T>& kernels) {
  switch (shape.family) {
    case tasks::RuleFamily::kMlp:
      return make_rule_mlp<T>(shape, kernels);
    case tasks::RuleFamily::kMha:
      return make_rule_mha<T>(shape, kernels);
    case tasks::RuleFamily::kRnn:
      break;
  }
  return make_rule_rnn<T>(shape, kernels);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_network(const RuleShape&, const engine::solo::Kernels<float>&);
template std::unique_ptr<RuleNetwork<double>> make_rule_network(const RuleShape&, const engine::solo::Kernels<double>&);

}  // namespace modlab::models

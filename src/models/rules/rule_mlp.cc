#include <algorithm>
#include <optional>
#include <vector>

#include "models/rules/gated_layer.h"
#include "models/rules/oracle_modules.h"
#include "models/rules/rule_gate.h"
#include "models/rules/rule_network.h"
#include "models/rules/rule_stack.h"
#include "models/rules/scored_modules.h"

namespace modlab::models {
namespace {

using engine::solo::padded;

// Two numbers and their rule are encoded one by one, a core works on all three, and what it makes of them is decoded.
// The rule has few values: it is encoded once for each of them.
template <typename T>
class RuleMlp : public RuleNetwork<T> {
 public:
  RuleMlp(const RuleShape& shape, const engine::solo::Kernels<T>& kernels, bool all_modules)
      : shape_(shape),
        kernels_(kernels),
        layout_(rule_layout(shape)),
        parameters_(layout_, {}),
        encoder_x_(stack_of(layout_, "encoder_x", {1, shape.width, shape.width}, 1, kernels)),
        encoder_c_(
            stack_of(layout_, "encoder_c", {shape.rules, shape.width, shape.width}, padded(shape.rules), kernels)),
        decoder_(stack_of(layout_, "decoder", {shape.second_width(), shape.width, shape.outputs},
                          padded(shape.second_width()), kernels)),
        of_rules_(encoder_c_.make_use(shape.rules)),
        every_rule_(every_rule<T>(shape.rules)) {
    if (!shape.has_modules()) {
      core_.emplace(stack_of(layout_, "core", {3 * shape.width, shape.second_width(), shape.second_width()},
                             padded(3 * shape.width), kernels));
      return;
    }
    if (shape.model == RuleModel::kGtModular && !all_modules) {
      oracle_.emplace(shape, layout_, 3 * shape.width, module_units(shape), shape.second_width(), kernels);
      return;
    }
    first_ = tensor_of(layout_, "modules.layer0.weight");
    if (shape.model == RuleModel::kScorer) {
      scored_.emplace(shape, layout_, kernels);
      return;
    }
    modules_.emplace(shape, layout_, module_units(shape), shape.second_width(), kernels);
    if (shape.model == RuleModel::kModularOp) {
      gate_.emplace(LayerStack<T>({shape.width, shape.modules}, {tensor_of(layout_, "gate.weight")},
                                  padded(shape.width), kernels),
                    shape.rules);
    }
  }

  const engine::Layout& layout() const override { return layout_; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }
  const T* gates() const override {
    return modules_ ? modules_->gates() : oracle_ ? oracle_->gates() : scored_ ? scored_->gates() : nullptr;
  }

  const T* forward(const RuleBatch& batch) override {
    make_room(batch.rows());
    for (std::size_t which = 0; which < 2; ++which) {
      for (int row = 0; row < rows_; ++row) {
        x_[which][static_cast<std::size_t>(row)] =
            static_cast<T>(batch.data[static_cast<std::size_t>(row) * batch.columns + which]);
      }
      encoder_x_.forward(parameters_, x_[which].data(), rows_, of_x_[which]);
    }
    encoder_c_.forward(parameters_, every_rule_.data(), shape_.rules, of_rules_);
    for (int row = 0; row < rows_; ++row) {
      T* z = z_.data() + static_cast<std::ptrdiff_t>(row) * padded(3 * shape_.width);
      for (int part = 0; part < 3; ++part) {
        std::copy_n(code(batch, row, part, &LayerStack<T>::Use::y), shape_.width, z + part * shape_.width);
      }
    }
    if (oracle_) {
      oracle_->find_modules(batch);
    }
    const T* core = oracle_                ? oracle_->forward(parameters_, z_.data())
                    : shape_.has_modules() ? forward_modules(batch)
                                           : forward_core();
    return decoder_.forward(parameters_, core, rows_, of_decoder_);
  }

  void backward(const RuleBatch& batch, const T* dsaid) override {
    encoder_x_.begin_backward(parameters_);
    encoder_c_.begin_backward(parameters_);
    decoder_.begin_backward(parameters_);
    std::ranges::fill(of_rules_.dy.back(), T{0});
    std::copy_n(dsaid, of_decoder_.dy.back().size(), of_decoder_.dy.back().begin());
    decoder_.backward(parameters_, core_values(), false, true, rows_, of_decoder_);
    const T* dz = oracle_                ? oracle_->backward(parameters_, of_decoder_.dx.data())
                  : shape_.has_modules() ? backward_modules(batch)
                                         : backward_core();
    for (int row = 0; row < rows_; ++row) {
      const T* from = dz + static_cast<std::ptrdiff_t>(row) * padded(3 * shape_.width);
      for (int part = 0; part < 3; ++part) {
        T* to = code(batch, row, part, &LayerStack<T>::Use::dy);
        for (int unit = 0; unit < shape_.width; ++unit) {
          // Rows share the code of their rule; a number's code is its own.
          to[unit] = (part == 2 ? to[unit] : T{0}) + from[part * shape_.width + unit];
        }
      }
    }
    for (std::size_t which = 0; which < 2; ++which) {
      encoder_x_.backward(parameters_, x_[which].data(), false, false, rows_, of_x_[which]);
    }
    encoder_c_.backward(parameters_, every_rule_.data(), false, false, shape_.rules, of_rules_);
  }

 private:
  // Codes, or their gradients, of a row's two numbers and of its rule.
  T* code(const RuleBatch& batch, int row, int part, std::vector<AlignedVector<T>> LayerStack<T>::Use::*which) {
    typename LayerStack<T>::Use& use = part < 2 ? of_x_[static_cast<std::size_t>(part)] : of_rules_;
    const std::ptrdiff_t place = part < 2 ? row : batch.said[static_cast<std::size_t>(row)];
    return (use.*which).back().data() + place * padded(shape_.width);
  }

  void make_room(int rows) {
    if (rows == rows_) {
      return;
    }
    rows_ = rows;
    for (std::size_t which = 0; which < 2; ++which) {
      x_[which].resize(static_cast<std::size_t>(rows));
      of_x_[which] = encoder_x_.make_use(rows);
    }
    z_.assign(static_cast<std::size_t>(rows) * padded(3 * shape_.width), T{0});
    dz_.assign(z_.size(), T{0});
    of_decoder_ = decoder_.make_use(rows);
    if (modules_) {
      modules_->make_room(rows);
    } else if (oracle_) {
      oracle_->make_room(rows);
    } else if (scored_) {
      scored_->make_room(rows);
      hidden_.assign(static_cast<std::size_t>(rows) * padded(hidden()), T{0});
    } else {
      of_core_ = core_->make_use(rows);
    }
  }

  const T* core_values() const {
    return modules_  ? modules_->values()
           : oracle_ ? oracle_->values()
           : scored_ ? scored_->values()
                     : of_core_.y.back().data();
  }

  int hidden() const { return module_units(shape_) * shape_.modules; }

  const T* forward_core() { return core_->forward(parameters_, z_.data(), rows_, of_core_); }

  const T* backward_core() {
    core_->begin_backward(parameters_);
    of_core_.dy.back() = of_decoder_.dx;
    core_->backward(parameters_, z_.data(), false, true, rows_, of_core_);
    return of_core_.dx.data();
  }

  // All modules' hidden units are one layer.
  const T* forward_modules(const RuleBatch& batch) {
    kernels_.layer_forward({.x = z_.data(),
                            .x_stride = padded(3 * shape_.width),
                            .weights = parameters_.values(first_),
                            .bias = parameters_.values(first_ + 1),
                            .y = modules_ ? modules_->hidden_values() : hidden_.data(),
                            .rows = rows_,
                            .in = 3 * shape_.width,
                            .out = hidden(),
                            .relu = true});
    if (scored_) {
      return scored_->forward(parameters_, batch, hidden_.data());
    }
    const T* rule_scores = gate_ ? gate_->forward(parameters_, of_rules_.y.back().data()) : nullptr;
    return modules_->forward(parameters_, batch, rule_scores);
  }

  const T* backward_modules(const RuleBatch& batch) {
    T* asked = gate_ ? gate_->begin_backward(parameters_) : nullptr;
    const T* dhidden = scored_ ? scored_->backward(parameters_, hidden_.data(), of_decoder_.dx.data())
                               : modules_->backward(parameters_, batch, of_decoder_.dx.data(), asked);
    if (gate_) {
      const AlignedVector<T>& dcodes = gate_->backward(parameters_, of_rules_.y.back().data(), true);
      std::ranges::copy(dcodes, of_rules_.dy.back().begin());
    }
    kernels_.layer_weight_gradient({.x = z_.data(),
                                    .x_stride = padded(3 * shape_.width),
                                    .dy = dhidden,
                                    .weights = parameters_.gradients(first_),
                                    .bias = parameters_.gradients(first_ + 1),
                                    .rows = rows_,
                                    .in = 3 * shape_.width,
                                    .out = hidden()});
    turn_weights(kernels_, parameters_.values(first_), 3 * shape_.width, hidden(), turned_);
    kernels_.layer_input_gradient({.dy = dhidden,
                                   .transposed = turned_.data(),
                                   .x = nullptr,
                                   .dx = dz_.data(),
                                   .rows = rows_,
                                   .in = 3 * shape_.width,
                                   .out = hidden()});
    return dz_.data();
  }

  using Use = typename LayerStack<T>::Use;

  RuleShape shape_;
  const engine::solo::Kernels<T>& kernels_;
  engine::Layout layout_;
  engine::solo::Parameters<T> parameters_;
  LayerStack<T> encoder_x_, encoder_c_, decoder_;
  std::optional<LayerStack<T>> core_;  // of the monolithic network
  std::optional<GatedLayer<T>> modules_;
  std::optional<OracleModules<T>> oracle_;
  std::optional<ScoredModules<T>> scored_;
  std::optional<RuleGate<T>> gate_;
  std::size_t first_ = 0;

  int rows_ = 0;
  AlignedVector<T> x_[2];
  Use of_x_[2], of_rules_, of_core_, of_decoder_;
  AlignedVector<T> every_rule_;
  AlignedVector<T> z_, dz_, turned_;
  AlignedVector<T> hidden_;  // of modules that are scored
};

}  // namespace

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mlp(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules) {
  return std::make_unique<RuleMlp<T>>(shape, kernels, all_modules);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_mlp(const RuleShape&, const engine::solo::Kernels<float>&, bool);
template std::unique_ptr<RuleNetwork<double>> make_rule_mlp(const RuleShape&, const engine::solo::Kernels<double>&,
                                                            bool);

}  // namespace modlab::models

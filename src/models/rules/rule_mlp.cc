#include <algorithm>
#include <vector>

#include "models/rules/gates.h"
#include "models/rules/rule_network.h"
#include "models/rules/rule_stack.h"

namespace modlab::models {
namespace {

using engine::solo::padded;

// Two numbers and their rule are encoded one by one, a core works on all three, and what it makes of them is decoded.
// The rule has few values: it is encoded once for each of them, and so is the gate that sees it alone.
template <typename T>
class RuleMlp : public RuleNetwork<T> {
 public:
  RuleMlp(const RuleShape& shape, const engine::solo::Kernels<T>& kernels)
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
        every_rule_(static_cast<std::size_t>(shape.rules) * padded(shape.rules)) {
    for (int rule = 0; rule < shape.rules; ++rule) {
      every_rule_[static_cast<std::size_t>(rule) * padded(shape.rules) + rule] = 1;
    }
    if (!shape.has_modules()) {
      core_.push_back(stack_of(layout_, "core", {3 * shape.width, shape.second_width(), shape.second_width()},
                               padded(3 * shape.width), kernels));
      return;
    }
    first_ = tensor_of(layout_, "modules.layer0.weight");
    second_ = tensor_of(layout_, "modules.layer1.weight");
    scores_ = tensor_of(layout_, "scores.weight");
    if (shape.model == RuleModel::kModularOp) {
      gate_.push_back(LayerStack<T>({shape.width, shape.modules}, {tensor_of(layout_, "gate.weight")},
                                    padded(shape.width), kernels));
      of_gate_ = gate_.front().make_use(shape.rules);
      rule_gates_.resize(static_cast<std::size_t>(shape.rules) * padded(shape.modules));
    }
  }

  const engine::Layout& layout() const override { return layout_; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }
  const T* gates() const override { return shape_.has_modules() ? gates_.data() : nullptr; }

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
    const T* core =
        shape_.has_modules() ? forward_modules(batch) : core_.front().forward(parameters_, z_.data(), rows_, of_core_);
    return decoder_.forward(parameters_, core, rows_, of_decoder_);
  }

  void backward(const RuleBatch& batch, const T* dsaid) override {
    begin_backward();
    std::copy_n(dsaid, of_decoder_.dy.back().size(), of_decoder_.dy.back().begin());
    const T* core = shape_.has_modules() ? mixture_.data() : of_core_.y.back().data();
    decoder_.backward(parameters_, core, false, true, rows_, of_decoder_);
    const T* dz = nullptr;
    if (shape_.has_modules()) {
      dz = backward_modules(batch, of_decoder_.dx.data());
    } else {
      of_core_.dy.back() = of_decoder_.dx;
      core_.front().backward(parameters_, z_.data(), false, true, rows_, of_core_);
      dz = of_core_.dx.data();
    }
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
  int hidden() const { return module_units(shape_) * shape_.modules; }
  int mixed() const { return hidden() + shape_.modules; }

  // Codes, or their gradients, of a row's two numbers and of its rule.
  T* code(const RuleBatch& batch, int row, int part, std::vector<AlignedVector<T>> LayerStack<T>::Use::*which) {
    typename LayerStack<T>::Use& use = part < 2 ? of_x_[static_cast<std::size_t>(part)] : of_rules_;
    const std::ptrdiff_t place = part < 2 ? row : batch.rules[static_cast<std::size_t>(row)];
    return (use.*which).back().data() + place * padded(shape_.width);
  }

  void make_room(int rows) {
    if (rows == rows_) {
      return;
    }
    rows_ = rows;
    const auto by = [&](int units) { return static_cast<std::size_t>(rows) * padded(units); };
    for (std::size_t which = 0; which < 2; ++which) {
      x_[which].resize(static_cast<std::size_t>(rows));
      of_x_[which] = encoder_x_.make_use(rows);
    }
    z_.assign(by(3 * shape_.width), T{0});
    of_decoder_ = decoder_.make_use(rows);
    if (!shape_.has_modules()) {
      of_core_ = core_.front().make_use(rows);
      return;
    }
    hidden_.assign(by(hidden()), T{0});
    dhidden_.assign(by(hidden()), T{0});
    gates_.assign(by(shape_.modules), T{0});
    dgates_.assign(static_cast<std::size_t>(padded(shape_.modules)), T{0});
    mixed_.assign(by(mixed()), T{0});
    dmixed_.assign(by(mixed()), T{0});
    mixture_.assign(by(shape_.second_width()), T{0});
    dz_.assign(by(3 * shape_.width), T{0});
  }

  // All modules' hidden units are one layer. Weighed by the gates they are the inputs of one more, for a sum over
  // modules of gate times output is a sum over their units; the gates themselves are the inputs of the biases.
  const T* forward_modules(const RuleBatch& batch) {
    kernels_.layer_forward({.x = z_.data(),
                            .x_stride = padded(3 * shape_.width),
                            .weights = parameters_.values(first_),
                            .bias = parameters_.values(first_ + 1),
                            .y = hidden_.data(),
                            .rows = rows_,
                            .in = 3 * shape_.width,
                            .out = hidden(),
                            .relu = true});
    choose_gates(batch);
    const int units = module_units(shape_);
    for (int row = 0; row < rows_; ++row) {
      const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
      const T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * padded(shape_.modules);
      T* weighed = mixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
      for (int module = 0; module < shape_.modules; ++module) {
        for (int unit = module * units; unit < (module + 1) * units; ++unit) {
          weighed[unit] = gate[module] * h[unit];
        }
        weighed[hidden() + module] = gate[module];
      }
    }
    kernels_.layer_forward({.x = mixed_.data(),
                            .x_stride = padded(mixed()),
                            .weights = parameters_.values(second_),
                            .bias = nullptr,
                            .y = mixture_.data(),
                            .rows = rows_,
                            .in = mixed(),
                            .out = shape_.second_width(),
                            .relu = false});
    return mixture_.data();
  }

  void choose_gates(const RuleBatch& batch) {
    const int stride = padded(shape_.modules);
    if (shape_.model == RuleModel::kModular) {
      const int units = module_units(shape_);
      const T* weights = parameters_.values(scores_);
      const T* biases = parameters_.values(scores_ + 1);
      for (int row = 0; row < rows_; ++row) {
        const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
        for (int module = 0; module < shape_.modules; ++module) {
          T score = biases[module];
          for (int unit = module * units; unit < (module + 1) * units; ++unit) {
            score += weights[unit] * h[unit];
          }
          gates_[static_cast<std::size_t>(row) * stride + module] = score;
        }
      }
      softmax_rows(kernels_, gates_.data(), rows_, shape_.modules);
      return;
    }
    if (shape_.model == RuleModel::kModularOp) {
      const T* scores = gate_.front().forward(parameters_, of_rules_.y.back().data(), shape_.rules, of_gate_);
      std::copy_n(scores, rule_gates_.size(), rule_gates_.begin());
      softmax_rows(kernels_, rule_gates_.data(), shape_.rules, shape_.modules);
    }
    for (int row = 0; row < rows_; ++row) {
      T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * stride;
      const int rule = batch.rules[static_cast<std::size_t>(row)];
      if (shape_.model == RuleModel::kModularOp) {
        std::copy_n(rule_gates_.data() + static_cast<std::ptrdiff_t>(rule) * stride, stride, gate);
      } else {
        std::fill_n(gate, stride, T{0});
        gate[rule % shape_.modules] = 1;
      }
    }
  }

  void begin_backward() {
    encoder_x_.begin_backward(parameters_);
    encoder_c_.begin_backward(parameters_);
    decoder_.begin_backward(parameters_);
    std::ranges::fill(of_rules_.dy.back(), T{0});
    for (LayerStack<T>& core : core_) {
      core.begin_backward(parameters_);
    }
    for (LayerStack<T>& gate : gate_) {
      gate.begin_backward(parameters_);
      std::ranges::fill(of_gate_.dy.back(), T{0});
    }
    if (shape_.has_modules()) {
      turn_weights(parameters_.values(first_), 3 * shape_.width, hidden(), first_turned_);
      turn_weights(parameters_.values(second_), mixed(), shape_.second_width(), second_turned_);
    }
  }

  const T* backward_modules(const RuleBatch& batch, const T* dmixture) {
    kernels_.layer_weight_gradient({.x = mixed_.data(),
                                    .x_stride = padded(mixed()),
                                    .dy = dmixture,
                                    .weights = parameters_.gradients(second_),
                                    .bias = nullptr,
                                    .rows = rows_,
                                    .in = mixed(),
                                    .out = shape_.second_width()});
    kernels_.layer_input_gradient({.dy = dmixture,
                                   .transposed = second_turned_.data(),
                                   .x = nullptr,
                                   .dx = dmixed_.data(),
                                   .rows = rows_,
                                   .in = mixed(),
                                   .out = shape_.second_width()});
    backward_gates(batch);
    kernels_.layer_weight_gradient({.x = z_.data(),
                                    .x_stride = padded(3 * shape_.width),
                                    .dy = dhidden_.data(),
                                    .weights = parameters_.gradients(first_),
                                    .bias = parameters_.gradients(first_ + 1),
                                    .rows = rows_,
                                    .in = 3 * shape_.width,
                                    .out = hidden()});
    kernels_.layer_input_gradient({.dy = dhidden_.data(),
                                   .transposed = first_turned_.data(),
                                   .x = nullptr,
                                   .dx = dz_.data(),
                                   .rows = rows_,
                                   .in = 3 * shape_.width,
                                   .out = hidden()});
    return dz_.data();
  }

  // From what the weighed units get to the units themselves and to the gates.
  void backward_gates(const RuleBatch& batch) {
    const int units = module_units(shape_);
    const int stride = padded(shape_.modules);
    const bool has_scores = shape_.model == RuleModel::kModular;
    const T* weights = has_scores ? parameters_.values(scores_) : nullptr;
    for (int row = 0; row < rows_; ++row) {
      const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
      const T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * stride;
      const T* d = dmixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
      T* dh = dhidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
      for (int module = 0; module < shape_.modules; ++module) {
        T sum = d[hidden() + module];
        for (int unit = module * units; unit < (module + 1) * units; ++unit) {
          sum += d[unit] * h[unit];
          dh[unit] = gate[module] * d[unit];
        }
        dgates_[static_cast<std::size_t>(module)] = sum;
      }
      if (has_scores) {
        softmax_gradient(gate, dgates_.data(), shape_.modules, dgates_.data());
        T* dweights = parameters_.gradients(scores_);
        T* dbiases = parameters_.gradients(scores_ + 1);
        for (int module = 0; module < shape_.modules; ++module) {
          const T dscore = dgates_[static_cast<std::size_t>(module)];
          dbiases[module] += dscore;
          for (int unit = module * units; unit < (module + 1) * units; ++unit) {
            dweights[unit] += dscore * h[unit];
            dh[unit] += dscore * weights[unit];
          }
        }
      } else if (shape_.model == RuleModel::kModularOp) {
        // Rows of one rule have one gate: what they ask of it is added up first.
        T* asked = of_gate_.dy.back().data() +
                   static_cast<std::ptrdiff_t>(batch.rules[static_cast<std::size_t>(row)]) * stride;
        for (int module = 0; module < shape_.modules; ++module) {
          asked[module] += dgates_[static_cast<std::size_t>(module)];
        }
      }
      for (int unit = 0; unit < hidden(); ++unit) {
        dh[unit] = h[unit] > 0 ? dh[unit] : T{0};
      }
    }
    if (shape_.model == RuleModel::kModularOp) {
      for (int rule = 0; rule < shape_.rules; ++rule) {
        T* asked = of_gate_.dy.back().data() + static_cast<std::ptrdiff_t>(rule) * stride;
        softmax_gradient(rule_gates_.data() + static_cast<std::ptrdiff_t>(rule) * stride, asked, shape_.modules, asked);
      }
      gate_.front().backward(parameters_, of_rules_.y.back().data(), false, true, shape_.rules, of_gate_);
      AlignedVector<T>& dcodes = of_rules_.dy.back();
      for (std::size_t place = 0; place < dcodes.size(); ++place) {
        dcodes[place] += of_gate_.dx[place];
      }
    }
  }

  using Use = typename LayerStack<T>::Use;

  RuleShape shape_;
  const engine::solo::Kernels<T>& kernels_;
  engine::Layout layout_;
  engine::solo::Parameters<T> parameters_;
  LayerStack<T> encoder_x_, encoder_c_, decoder_;
  std::vector<LayerStack<T>> core_, gate_;  // none or one
  std::size_t first_ = 0, second_ = 0, scores_ = 0;

  int rows_ = 0;
  AlignedVector<T> x_[2];
  Use of_x_[2], of_rules_, of_core_, of_gate_, of_decoder_;
  AlignedVector<T> every_rule_;  // [rule][rule]: 1 on the diagonal
  AlignedVector<T> z_, dz_;
  AlignedVector<T> hidden_, dhidden_, mixed_, dmixed_, mixture_;
  AlignedVector<T> gates_, dgates_, rule_gates_;
  AlignedVector<T> first_turned_, second_turned_;
};

}  // namespace

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mlp(const RuleShape& shape, const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<RuleMlp<T>>(shape, kernels);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_mlp(const RuleShape&, const engine::solo::Kernels<float>&);
template std::unique_ptr<RuleNetwork<double>> make_rule_mlp(const RuleShape&, const engine::solo::Kernels<double>&);

}  // namespace modlab::models

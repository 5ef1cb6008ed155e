#include <array>
#include <optional>
#include <vector>

#include "models/rules/attention.h"
#include "models/rules/gated_layer.h"
#include "models/rules/rule_gate.h"
#include "models/rules/rule_network.h"
#include "models/rules/rule_stack.h"

namespace modlab::models {
namespace {

using engine::solo::padded;

// Tokens are encoded, look at each other once, and are decoded. Beside what its heads find a token sees itself, by a
// path of its own. The monolithic network puts all of it together; a module has two heads and a part of that path, and
// the gates of the token that asks weigh the modules.
template <typename T>
class RuleMha : public RuleNetwork<T> {
 public:
  RuleMha(const RuleShape& shape, const engine::solo::Kernels<T>& kernels)
      : shape_(shape),
        kernels_(kernels),
        head_(head_width(shape)),
        heads_(2 * shape.modules),
        inputs_(shape.data_columns + shape.rules),
        layout_(rule_layout(shape)),
        parameters_(layout_, {}),
        encoder_(stack_of(layout_, "encoder", {inputs_, shape.width, shape.width}, padded(inputs_), kernels)),
        decoder_(stack_of(layout_, "decoder", {shape.width, shape.width, shape.outputs}, padded(shape.width), kernels)),
        attention_(heads_, head_, kernels),
        every_rule_(every_rule<T>(shape.rules)) {
    const std::array<const char*, 4> names = {"query", "key", "value", "self"};
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      paths_[path].tensor = tensor_of(layout_, std::string(names[path]) + ".weight");
      paths_[path].units = path < 3 ? shape.second_width() : head_ * (shape.has_modules() ? shape.modules : 1);
    }
    if (!shape.has_modules()) {
      const int joined = shape.second_width() + head_;
      core_.emplace(stack_of(layout_, "core", {joined, 2 * shape.width, shape.width}, padded(joined), kernels));
      parts_.resize(1);
      parts_.front().units = joined;
      return;
    }
    const int units = module_units_behind_heads(shape);
    modules_.emplace(shape, layout_, units, shape.width, kernels);
    parts_.resize(static_cast<std::size_t>(shape.modules));
    for (std::size_t module = 0; module < parts_.size(); ++module) {
      parts_[module].units = 3 * head_;
      parts_[module].tensor = tensor_of(layout_, "module" + std::to_string(module) + ".layer0.weight");
    }
    if (shape.model == RuleModel::kModularOp) {
      gate_.emplace(stack_of(layout_, "gate", {shape.rules, head_, shape.modules}, padded(shape.rules), kernels),
                    shape.rules, shape.modules, kernels);
    }
  }

  const engine::Layout& layout() const override { return layout_; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }
  const T* gates() const override { return modules_ ? modules_->gates() : nullptr; }

  const T* forward(const RuleBatch& batch) override {
    make_room(batch);
    read_tokens(batch, shape_.data_columns, shape_.rules, x_);
    const T* codes = encoder_.forward(parameters_, x_.data(), rows_, of_encoder_);
    for (Path& path : paths_) {
      kernels_.layer_forward({.x = codes,
                              .x_stride = padded(shape_.width),
                              .weights = parameters_.values(path.tensor),
                              .bias = parameters_.values(path.tensor + 1),
                              .y = path.y.data(),
                              .rows = rows_,
                              .in = shape_.width,
                              .out = path.units,
                              .relu = false});
    }
    const T* found = attention_.forward(paths_[0].y.data(), paths_[1].y.data(), paths_[2].y.data());
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      join(part, found, paths_[3].y.data());
    }
    return decoder_.forward(parameters_, modules_ ? forward_modules(batch) : forward_core(), rows_, of_decoder_);
  }

  void backward(const RuleBatch& batch, const T* dsaid) override {
    encoder_.begin_backward(parameters_);
    decoder_.begin_backward(parameters_);
    std::copy_n(dsaid, of_decoder_.dy.back().size(), of_decoder_.dy.back().begin());
    decoder_.backward(parameters_, modules_ ? modules_->values() : of_core_.y.back().data(), false, true, rows_,
                      of_decoder_);
    if (modules_) {
      backward_modules(batch);
    } else {
      backward_core();
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      take_apart(part);
    }
    attention_.backward(paths_[0].y.data(), paths_[1].y.data(), paths_[2].y.data(), dfound_.data(), paths_[0].dy.data(),
                        paths_[1].dy.data(), paths_[2].dy.data());
    AlignedVector<T>& dcodes = of_encoder_.dy.back();
    std::ranges::fill(dcodes, T{0});
    for (Path& path : paths_) {
      kernels_.layer_weight_gradient({.x = of_encoder_.y.back().data(),
                                      .x_stride = padded(shape_.width),
                                      .dy = path.dy.data(),
                                      .weights = parameters_.gradients(path.tensor),
                                      .bias = parameters_.gradients(path.tensor + 1),
                                      .rows = rows_,
                                      .in = shape_.width,
                                      .out = path.units});
      turn_weights(parameters_.values(path.tensor), shape_.width, path.units, turned_);
      kernels_.layer_input_gradient({.dy = path.dy.data(),
                                     .transposed = turned_.data(),
                                     .x = nullptr,
                                     .dx = dcode_.data(),
                                     .rows = rows_,
                                     .in = shape_.width,
                                     .out = path.units});
      for (std::size_t place = 0; place < dcodes.size(); ++place) {
        dcodes[place] += dcode_[place];
      }
    }
    encoder_.backward(parameters_, x_.data(), false, false, rows_, of_encoder_);
  }

 private:
  // A layer that reads the codes: queries, keys, values, and the path on which a token sees itself.
  struct Path {
    std::size_t tensor = 0;
    int units = 0;
    AlignedVector<T> y, dy;  // [row][unit]
  };
  // What one module reads, or all of it: heads, then the token itself.
  struct Part {
    std::size_t tensor = 0;
    int units = 0;
    AlignedVector<T> x, dx;  // [row][unit]
  };

  static std::ptrdiff_t at(int row, int units) { return static_cast<std::ptrdiff_t>(row) * padded(units); }

  void make_room(const RuleBatch& batch) {
    if (batch.rows() == rows_ && batch.length == length_) {
      return;
    }
    rows_ = batch.rows();
    length_ = batch.length;
    const auto by = [&](int units) { return static_cast<std::size_t>(at(rows_, units)); };
    x_.assign(by(inputs_), T{0});
    of_encoder_ = encoder_.make_use(rows_);
    of_decoder_ = decoder_.make_use(rows_);
    attention_.make_room(batch.samples, batch.length);
    for (Path& path : paths_) {
      path.y.assign(by(path.units), T{0});
      path.dy.assign(by(path.units), T{0});
    }
    for (Part& part : parts_) {
      part.x.assign(by(part.units), T{0});
      part.dx.assign(by(part.units), T{0});
    }
    dfound_.assign(by(shape_.second_width()), T{0});
    dcode_.assign(by(shape_.width), T{0});
    if (modules_) {
      modules_->make_room(rows_);
      hidden_.assign(by(module_units_behind_heads(shape_)), T{0});
    } else {
      of_core_ = core_->make_use(rows_);
    }
  }

  int found_units() const { return modules_ ? 2 * head_ : shape_.second_width(); }

  void join(std::size_t part, const T* found, const T* self) {
    for (int row = 0; row < rows_; ++row) {
      T* x = parts_[part].x.data() + at(row, parts_[part].units);
      const auto number = static_cast<std::ptrdiff_t>(part);
      std::copy_n(found + at(row, shape_.second_width()) + number * found_units(), found_units(), x);
      std::copy_n(self + at(row, paths_[3].units) + number * head_, head_, x + found_units());
    }
  }

  void take_apart(std::size_t part) {
    for (int row = 0; row < rows_; ++row) {
      const T* dx = parts_[part].dx.data() + at(row, parts_[part].units);
      const auto number = static_cast<std::ptrdiff_t>(part);
      std::copy_n(dx, found_units(), dfound_.data() + at(row, shape_.second_width()) + number * found_units());
      std::copy_n(dx + found_units(), head_, paths_[3].dy.data() + at(row, paths_[3].units) + number * head_);
    }
  }

  const T* forward_core() { return core_->forward(parameters_, parts_.front().x.data(), rows_, of_core_); }

  void backward_core() {
    core_->begin_backward(parameters_);
    of_core_.dy.back() = of_decoder_.dx;
    core_->backward(parameters_, parts_.front().x.data(), false, true, rows_, of_core_);
    parts_.front().dx = of_core_.dx;
  }

  const T* forward_modules(const RuleBatch& batch) {
    const int units = module_units_behind_heads(shape_);
    for (std::size_t module = 0; module < parts_.size(); ++module) {
      const Part& part = parts_[module];
      kernels_.layer_forward({.x = part.x.data(),
                              .x_stride = padded(part.units),
                              .weights = parameters_.values(part.tensor),
                              .bias = parameters_.values(part.tensor + 1),
                              .y = hidden_.data(),
                              .rows = rows_,
                              .in = part.units,
                              .out = units,
                              .relu = true});
      for (int row = 0; row < rows_; ++row) {
        std::copy_n(
            hidden_.data() + at(row, units), units,
            modules_->hidden_values() + at(row, modules_->hidden()) + static_cast<std::ptrdiff_t>(module) * units);
      }
    }
    const T* rule_gates = gate_ ? gate_->forward(parameters_, every_rule_.data()) : nullptr;
    return modules_->forward(parameters_, batch, rule_gates);
  }

  void backward_modules(const RuleBatch& batch) {
    const int units = module_units_behind_heads(shape_);
    T* asked = gate_ ? gate_->begin_backward(parameters_) : nullptr;
    const T* dhidden = modules_->backward(parameters_, batch, of_decoder_.dx.data(), asked);
    if (gate_) {
      gate_->backward(parameters_, every_rule_.data(), false);
    }
    for (std::size_t module = 0; module < parts_.size(); ++module) {
      Part& part = parts_[module];
      for (int row = 0; row < rows_; ++row) {
        std::copy_n(dhidden + at(row, modules_->hidden()) + static_cast<std::ptrdiff_t>(module) * units, units,
                    hidden_.data() + at(row, units));
      }
      kernels_.layer_weight_gradient({.x = part.x.data(),
                                      .x_stride = padded(part.units),
                                      .dy = hidden_.data(),
                                      .weights = parameters_.gradients(part.tensor),
                                      .bias = parameters_.gradients(part.tensor + 1),
                                      .rows = rows_,
                                      .in = part.units,
                                      .out = units});
      turn_weights(parameters_.values(part.tensor), part.units, units, turned_);
      kernels_.layer_input_gradient({.dy = hidden_.data(),
                                     .transposed = turned_.data(),
                                     .x = nullptr,
                                     .dx = part.dx.data(),
                                     .rows = rows_,
                                     .in = part.units,
                                     .out = units});
    }
  }

  using Use = typename LayerStack<T>::Use;

  RuleShape shape_;
  const engine::solo::Kernels<T>& kernels_;
  int head_;
  int heads_;
  int inputs_;
  engine::Layout layout_;
  engine::solo::Parameters<T> parameters_;
  LayerStack<T> encoder_, decoder_;
  Attention<T> attention_;
  std::optional<LayerStack<T>> core_;  // of the monolithic network
  std::optional<GatedLayer<T>> modules_;
  std::optional<RuleGate<T>> gate_;
  std::array<Path, 4> paths_;
  std::vector<Part> parts_;

  int rows_ = 0;
  int length_ = 0;
  AlignedVector<T> every_rule_;
  AlignedVector<T> x_;
  Use of_encoder_, of_decoder_, of_core_;
  AlignedVector<T> dfound_, dcode_, hidden_, turned_;
};

}  // namespace

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mha(const RuleShape& shape, const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<RuleMha<T>>(shape, kernels);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_mha(const RuleShape&, const engine::solo::Kernels<float>&);
template std::unique_ptr<RuleNetwork<double>> make_rule_mha(const RuleShape&, const engine::solo::Kernels<double>&);

}  // namespace modlab::models

#include <array>
#include <optional>
#include <vector>

#include "core/array_room.h"
#include "models/rules/attention.h"
#include "models/rules/gated_layer.h"
#include "models/rules/oracle_modules.h"
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
  RuleMha(const RuleShape& shape, const engine::solo::Kernels<T>& kernels, bool all_modules)
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
    if (shape.model == RuleModel::kGtModular && !all_modules) {
      oracle_.emplace(shape, layout_, 3 * head_, units, shape.width, kernels);
      parts_.resize(1);
      parts_.front().units = 3 * head_;
      return;
    }
    modules_.emplace(shape, layout_, units, shape.width, kernels);
    parts_.resize(static_cast<std::size_t>(shape.modules));
    for (std::size_t module = 0; module < parts_.size(); ++module) {
      parts_[module].units = 3 * head_;
      parts_[module].tensor = tensor_of(layout_, "module" + std::to_string(module) + ".layer0.weight");
    }
    if (shape.model == RuleModel::kModularOp) {
      gate_.emplace(stack_of(layout_, "gate", {shape.rules, head_, shape.modules}, padded(shape.rules), kernels),
                    shape.rules);
    }
  }

  const engine::Layout& layout() const override { return layout_; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }
  const T* gates() const override { return modules_ ? modules_->gates() : oracle_ ? oracle_->gates() : nullptr; }

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
    const T* core = oracle_    ? forward_oracle(batch, found)
                    : modules_ ? forward_modules(batch, found)
                               : forward_core(found);
    return decoder_.forward(parameters_, core, rows_, of_decoder_);
  }

  void backward(const RuleBatch& batch, const T* dsaid) override {
    encoder_.begin_backward(parameters_);
    decoder_.begin_backward(parameters_);
    std::copy_n(dsaid, of_decoder_.dy.back().size(), of_decoder_.dy.back().begin());
    const T* core = oracle_ ? oracle_->values() : modules_ ? modules_->values() : of_core_.y.back().data();
    decoder_.backward(parameters_, core, false, true, rows_, of_decoder_);
    if (oracle_) {
      backward_oracle();
    } else if (modules_) {
      backward_modules(batch);
    } else {
      backward_core();
    }
    attention_.backward(dfound_.data(), paths_[0].dy.data(), paths_[1].dy.data(), paths_[2].dy.data());
    for (Path& path : paths_) {
      kernels_.layer_weight_gradient({.x = of_encoder_.y.back().data(),
                                      .x_stride = padded(shape_.width),
                                      .dy = path.dy.data(),
                                      .weights = parameters_.gradients(path.tensor),
                                      .bias = parameters_.gradients(path.tensor + 1),
                                      .rows = rows_,
                                      .in = shape_.width,
                                      .out = path.units});
      turn_weights(kernels_, parameters_.values(path.tensor), shape_.width, path.units, turned_);
      kernels_.layer_input_gradient({.dy = path.dy.data(),
                                     .transposed = turned_.data(),
                                     .x = nullptr,
                                     .dx = of_encoder_.dy.back().data(),
                                     .rows = rows_,
                                     .in = shape_.width,
                                     .out = path.units,
                                     .add = &path != &paths_.front()});
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
    T* x = nullptr;  // [row][unit]
    T* dx = nullptr;
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
      room_.add(part.x, by(part.units));
      room_.add(part.dx, by(part.units));
    }
    room_.make();
    dfound_.assign(by(shape_.second_width()), T{0});
    if (modules_) {
      modules_->make_room(rows_);
      hidden_.assign(by(module_units_behind_heads(shape_)), T{0});
    } else if (oracle_) {
      oracle_->make_room(rows_);
    } else {
      of_core_ = core_->make_use(rows_);
    }
  }

  int found_units() const { return shape_.has_modules() ? 2 * head_ : shape_.second_width(); }

  void join(std::size_t part, const T* found, const T* self) {
    const auto number = static_cast<std::ptrdiff_t>(part);
    T* x = parts_[part].x;
    copy_columns(found + number * found_units(), at(1, shape_.second_width()), rows_, found_units(), x,
                 at(1, parts_[part].units));
    copy_columns(self + number * head_, at(1, paths_[3].units), rows_, head_, x + found_units(),
                 at(1, parts_[part].units));
  }

  void take_apart(std::size_t part) {
    const auto number = static_cast<std::ptrdiff_t>(part);
    const T* dx = parts_[part].dx;
    copy_columns(dx, at(1, parts_[part].units), rows_, found_units(), dfound_.data() + number * found_units(),
                 at(1, shape_.second_width()));
    copy_columns(dx + found_units(), at(1, parts_[part].units), rows_, head_, paths_[3].dy.data() + number * head_,
                 at(1, paths_[3].units));
  }

  // A row's own module reads its own two heads, and what it does not read is asked nothing.
  const T* forward_oracle(const RuleBatch& batch, const T* found) {
    oracle_->find_modules(batch);
    T* x = parts_.front().x;
    for (int row = 0; row < rows_; ++row, x += at(1, 3 * head_)) {
      const std::ptrdiff_t module = oracle_->module_of(row);
      std::copy_n(found + at(row, shape_.second_width()) + module * 2 * head_, 2 * head_, x);
      std::copy_n(paths_[3].y.data() + at(row, paths_[3].units) + module * head_, head_, x + 2 * head_);
    }
    return oracle_->forward(parameters_, parts_.front().x);
  }

  void backward_oracle() {
    const T* dx = oracle_->backward(parameters_, of_decoder_.dx.data());
    std::ranges::fill(dfound_, T{0});
    std::ranges::fill(paths_[3].dy, T{0});
    for (int row = 0; row < rows_; ++row, dx += at(1, 3 * head_)) {
      const std::ptrdiff_t module = oracle_->module_of(row);
      std::copy_n(dx, 2 * head_, dfound_.data() + at(row, shape_.second_width()) + module * 2 * head_);
      std::copy_n(dx + 2 * head_, head_, paths_[3].dy.data() + at(row, paths_[3].units) + module * head_);
    }
  }

  const T* forward_core(const T* found) {
    join(0, found, paths_[3].y.data());
    return core_->forward(parameters_, parts_.front().x, rows_, of_core_);
  }

  void backward_core() {
    core_->begin_backward(parameters_);
    of_core_.dy.back() = of_decoder_.dx;
    core_->backward(parameters_, parts_.front().x, false, true, rows_, of_core_);
    std::ranges::copy(of_core_.dx, parts_.front().dx);
    take_apart(0);
  }

  const T* forward_modules(const RuleBatch& batch, const T* found) {
    const int units = module_units_behind_heads(shape_);
    for (std::size_t module = 0; module < parts_.size(); ++module) {
      join(module, found, paths_[3].y.data());
      const Part& part = parts_[module];
      kernels_.layer_forward({.x = part.x,
                              .x_stride = padded(part.units),
                              .weights = parameters_.values(part.tensor),
                              .bias = parameters_.values(part.tensor + 1),
                              .y = hidden_.data(),
                              .rows = rows_,
                              .in = part.units,
                              .out = units,
                              .relu = true});
      copy_columns(hidden_.data(), at(1, units), rows_, units,
                   modules_->hidden_values() + static_cast<std::ptrdiff_t>(module) * units, at(1, modules_->hidden()));
    }
    const T* rule_scores = gate_ ? gate_->forward(parameters_, every_rule_.data()) : nullptr;
    return modules_->forward(parameters_, batch, rule_scores);
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
      copy_columns(dhidden + static_cast<std::ptrdiff_t>(module) * units, at(1, modules_->hidden()), rows_, units,
                   hidden_.data(), at(1, units));
      kernels_.layer_weight_gradient({.x = part.x,
                                      .x_stride = padded(part.units),
                                      .dy = hidden_.data(),
                                      .weights = parameters_.gradients(part.tensor),
                                      .bias = parameters_.gradients(part.tensor + 1),
                                      .rows = rows_,
                                      .in = part.units,
                                      .out = units});
      turn_weights(kernels_, parameters_.values(part.tensor), part.units, units, turned_);
      kernels_.layer_input_gradient({.dy = hidden_.data(),
                                     .transposed = turned_.data(),
                                     .x = nullptr,
                                     .dx = part.dx,
                                     .rows = rows_,
                                     .in = part.units,
                                     .out = units});
      take_apart(module);
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
  std::optional<OracleModules<T>> oracle_;
  std::optional<RuleGate<T>> gate_;
  std::array<Path, 4> paths_;
  std::vector<Part> parts_;
  ArrayRoom<T> room_;  // of the parts

  int rows_ = 0;
  int length_ = 0;
  AlignedVector<T> every_rule_;
  AlignedVector<T> x_;
  Use of_encoder_, of_decoder_, of_core_;
  AlignedVector<T> dfound_, hidden_, turned_;
};

}  // namespace

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mha(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules) {
  return std::make_unique<RuleMha<T>>(shape, kernels, all_modules);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_mha(const RuleShape&, const engine::solo::Kernels<float>&, bool);
template std::unique_ptr<RuleNetwork<double>> make_rule_mha(const RuleShape&, const engine::solo::Kernels<double>&,
                                                            bool);

}  // namespace modlab::models

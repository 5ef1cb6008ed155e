#include "models/rules/rule_shape.h"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.h"

namespace modlab::models {
namespace {

using engine::Rate;
using tasks::RuleFamily;

class LayoutMaker {
 public:
  explicit LayoutMaker(const RuleShape& shape) : shape_(shape) {}

  engine::Layout make() {
    switch (shape_.family) {
      case RuleFamily::kMlp:
        add_mlp();
        break;
      case RuleFamily::kMha:
        add_mha();
        break;
      case RuleFamily::kRnn:
        add_rnn();
        break;
    }
    return std::move(layout_);
  }

 private:
  // `spread`: the inputs that decide how far initial weights are spread, where these are not all of them.
  void add_weight(const std::string& name, int in, int out, int spread = 0) {
    layout_.add(name + ".weight", {out, in}, Rate::kFunctional, spread > 0 ? spread : in, out);
  }
  void add_bias(const std::string& name, int units, int spread) {
    layout_.add(name + ".bias", {units}, Rate::kFunctional, spread, units);
  }
  void add_layer(const std::string& name, int in, int out) {
    add_weight(name, in, out);
    add_bias(name, out, in);
  }
  // Two layers with a ReLU between them.
  void add_mlp2(const std::string& name, int in, int hidden, int out) {
    add_layer(name + ".layer0", in, hidden);
    add_layer(name + ".layer1", hidden, out);
  }
  // What was added since then makes gates, which have a learning rate of their own.
  void make_gates(std::size_t since) {
    for (std::size_t tensor = since; tensor < layout_.tensors.size(); ++tensor) {
      layout_.tensors[tensor].rate = Rate::kModule;
    }
  }

  void add_mlp() {
    const int e = shape_.width;
    const int d = shape_.second_width();
    const int modules = shape_.modules;
    add_mlp2("encoder_x", 1, e, e);
    add_mlp2("encoder_c", shape_.rules, e, e);
    if (!shape_.has_modules()) {
      add_mlp2("core", 3 * e, d, d);
    } else {
      const int units = module_units(shape_);
      add_layer("modules.layer0", 3 * e, units * modules);
      add_weight("modules.layer1", units * modules + modules, d, units);
      const std::size_t before_gates = layout_.tensors.size();
      add_scores(units);
      if (shape_.model == RuleModel::kModularOp) {
        add_layer("gate", e, modules);
      } else if (shape_.model == RuleModel::kScorer) {
        add_mlp2("scorer", d + shape_.data_columns + shape_.rules, e, 1);
      }
      make_gates(before_gates);
    }
    add_mlp2("decoder", d, e, shape_.outputs);
  }

  // One more output of each module: how well it fits.
  void add_scores(int units) {
    if (shape_.model == RuleModel::kModular) {
      layout_.add("scores.weight", {units * shape_.modules}, Rate::kFunctional, units, 1);
      layout_.add("scores.bias", {shape_.modules}, Rate::kFunctional, units, 1);
    }
  }

  void add_mha() {
    const int e = shape_.width;
    const int a = shape_.second_width();
    const int head = head_width(shape_);
    add_mlp2("encoder", shape_.data_columns + shape_.rules, e, e);
    for (const char* name : {"query", "key", "value"}) {
      add_layer(name, e, a);
    }
    if (!shape_.has_modules()) {
      add_layer("self", e, head);
      add_mlp2("core", a + head, 2 * e, e);
    } else {
      const int units = module_units_behind_heads(shape_);
      add_layer("self", e, head * shape_.modules);
      for (int module = 0; module < shape_.modules; ++module) {
        add_layer(fmt::format("module{}.layer0", module), 3 * head, units);
      }
      add_weight("modules.layer1", units * shape_.modules + shape_.modules, e, units);
      const std::size_t before_gates = layout_.tensors.size();
      add_scores(units);
      if (shape_.model == RuleModel::kModularOp) {
        add_mlp2("gate", shape_.rules, head, shape_.modules);
      }
      make_gates(before_gates);
    }
    add_mlp2("decoder", e, e, shape_.outputs);
  }

  void add_rnn() {
    const int e = shape_.width;
    const int h = shape_.has_modules() ? shared_state(shape_) : shape_.second_width();
    add_mlp2("encoder", shape_.data_columns + shape_.rules, e, e);
    if (!shape_.has_modules()) {
      add_weight("cell.input", e, 4 * h, h);
      add_weight("cell.state", h, 4 * h, h);
      add_bias("cell.input", 4 * h, h);
      add_bias("cell.state", 4 * h, h);
    } else {
      for (int module = 0; module < shape_.modules; ++module) {
        add_weight(fmt::format("module{}.input", module), e, 4 * h);
        add_weight(fmt::format("module{}.state", module), h, 4 * h);
      }
      if (shape_.model == RuleModel::kModular) {
        layout_.add("scores.weight", {shape_.modules, 8 * h}, Rate::kModule, 8 * h, 1);
        // The published code has these and never uses them.
        layout_.add("scores.bias", {shape_.modules}, Rate::kFrozen, 8 * h, 1);
      } else if (shape_.model == RuleModel::kModularOp) {
        const std::size_t before_gates = layout_.tensors.size();
        add_weight("gate.layer0", shape_.rules, h);
        add_weight("gate.layer1", h, shape_.modules);
        make_gates(before_gates);
      }
    }
    add_mlp2("decoder", h, h, shape_.outputs);
  }

  const RuleShape& shape_;
  engine::Layout layout_;
};

}  // namespace

int RuleShape::second_width() const { return kSecondWidth * width; }

int module_units(const RuleShape& shape) { return shape.second_width() / shape.modules; }

// Two heads for each module.
int head_width(const RuleShape& shape) { return shape.second_width() / (2 * shape.modules); }

// As many weights behind the heads as the monolithic network has there.
int module_units_behind_heads(const RuleShape& shape) {
  const double e = shape.width;
  const double a = shape.second_width();
  const double r = shape.modules;
  return static_cast<int>(2 * e * (2 * r * (a + e) + a) / (r * (3 * a + 2 * r * e)));
}

// As many weights in all cells and the decoder's first layer as in the monolithic network's.
int shared_state(const RuleShape& shape) {
  const double e = shape.width;
  const double h = shape.second_width();
  const double r = shape.modules;
  const double linear = 4 * r * e + 1;
  const double square = 4 * r + 1;
  return static_cast<int>((-linear + std::sqrt(linear * linear + 4 * square * (5 * h * h + h * (4 * e + 1)))) /
                          (2 * square));
}

RuleShape rule_shape(const tasks::RuleTaskSettings& task, RuleModel model, int modules, int width) {
  RuleShape shape;
  shape.family = task.family;
  shape.model = model;
  shape.rules = task.rules;
  shape.modules = modules;
  shape.width = width;
  shape.data_columns = task.data_columns();
  shape.outputs = task.outputs();
  if (model == RuleModel::kScorer && shape.family != RuleFamily::kMlp) {
    throw ConfigError("modular-scorer is a model of rules-mlp alone");
  }
  const int units = shape.family == RuleFamily::kMlp   ? module_units(shape)
                    : shape.family == RuleFamily::kMha ? std::min(head_width(shape), module_units_behind_heads(shape))
                                                       : shared_state(shape);
  if (shape.family == RuleFamily::kMha && shape.second_width() % (2 * modules) != 0) {
    throw ConfigError(
        fmt::format("two attention heads for each of {} modules do not divide {} units; take another width", modules,
                    shape.second_width()));
  }
  const bool needs_units = shape.has_modules() || shape.family == RuleFamily::kMha;
  if (needs_units && units < 1) {
    throw ConfigError(
        fmt::format("a width of {} leaves each of {} modules without units; take a larger width", width, modules));
  }
  return shape;
}

engine::Layout rule_layout(const RuleShape& shape) { return LayoutMaker(shape).make(); }

}  // namespace modlab::models

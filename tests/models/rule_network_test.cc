// Networks on rule-based data: what they say against the formulas written out sample by sample, gradients in double
// precision against central differences, and the same bits on every target.

#include "models/rules/rule_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/initial_weights.h"

namespace modlab::models {
namespace {

using tasks::RuleFamily;
using tasks::RuleTask;

struct Case {
  const char* name;
  RuleModel model;
  int rules;
  int modules;
  int width;
};

constexpr Case kCases[] = {
    {"monolithic", RuleModel::kMonolithic, 3, 3, 5},
    {"modular", RuleModel::kModular, 3, 3, 5},
    {"modular_more_modules", RuleModel::kModular, 2, 5, 6},
    {"modular_one_module", RuleModel::kModular, 3, 1, 4},
    {"modular_wide", RuleModel::kModular, 4, 4, 17},
    {"modular_op", RuleModel::kModularOp, 3, 3, 5},
    {"modular_op_fewer_modules", RuleModel::kModularOp, 5, 2, 4},
    {"gt_modular", RuleModel::kGtModular, 3, 3, 5},
    {"gt_modular_fewer_modules", RuleModel::kGtModular, 4, 2, 5},
    {"one_rule", RuleModel::kModular, 1, 1, 3},
};

class RuleMlpTest : public testing::TestWithParam<Case> {
 protected:
  RuleMlpTest()
      : task_(tasks::draw_rules({.rules = GetParam().rules, .task_seed = 2})),
        shape_(rule_shape(task_, GetParam().model, GetParam().modules, GetParam().width)),
        layout_(rule_layout(shape_)),
        initial_(initial_parameters(layout_, Init::kTorch, 11)) {
    RuleSampler(task_, engine::solo::kernels_for("scalar"), 5).draw({.samples = 13}, batch_);
  }

  // A tensor of the flat parameters.
  const float* at(const std::string& name) const {
    for (const engine::Tensor& tensor : layout_.tensors) {
      if (tensor.name == name) {
        return initial_.data() + tensor.offset;
      }
    }
    ADD_FAILURE() << name;
    return initial_.data();
  }

  using Vector = std::vector<double>;

  Vector layer(const std::string& name, const Vector& x, std::size_t out, bool relu) const {
    Vector y(out);
    for (std::size_t unit = 0; unit < out; ++unit) {
      y[unit] = at(name + ".bias")[unit];
      for (std::size_t input = 0; input < x.size(); ++input) {
        y[unit] += at(name + ".weight")[unit * x.size() + input] * x[input];
      }
      y[unit] = relu ? std::max(y[unit], 0.0) : y[unit];
    }
    return y;
  }
  Vector mlp2(const std::string& name, const Vector& x, std::size_t hidden, std::size_t out) const {
    return layer(name + ".layer1", layer(name + ".layer0", x, hidden, true), out, false);
  }

  // One sample, as the paper's Table 1 has it; `gates` takes how much each module counts.
  double said(int row, Vector& gates) const {
    const auto e = static_cast<std::size_t>(shape_.width);
    const std::size_t d = 4 * e;
    const auto rule = static_cast<std::size_t>(batch_.rules[static_cast<std::size_t>(row)]);
    const float* x = batch_.data.data() + static_cast<std::ptrdiff_t>(row) * batch_.columns;
    Vector z = mlp2("encoder_x", {x[0]}, e, e);
    const Vector second = mlp2("encoder_x", {x[1]}, e, e);
    Vector one_hot(static_cast<std::size_t>(shape_.rules));
    one_hot[rule] = 1;
    const Vector code = mlp2("encoder_c", one_hot, e, e);
    z.insert(z.end(), second.begin(), second.end());
    z.insert(z.end(), code.begin(), code.end());
    if (!shape_.has_modules()) {
      return mlp2("decoder", mlp2("core", z, d, d), e, 1)[0];
    }
    const auto modules = static_cast<std::size_t>(shape_.modules);
    const auto units = static_cast<std::size_t>(module_units(shape_));
    const Vector h = layer("modules.layer0", z, units * modules, true);
    // Each module's own output, whatever the gate makes of it.
    std::vector<Vector> outputs(modules, Vector(d));
    Vector scores(modules);
    for (std::size_t module = 0; module < modules; ++module) {
      for (std::size_t unit = 0; unit < d; ++unit) {
        const float* weights = at("modules.layer1.weight") + unit * (units + 1) * modules;
        outputs[module][unit] = weights[units * modules + module];
        for (std::size_t input = module * units; input < (module + 1) * units; ++input) {
          outputs[module][unit] += weights[input] * h[input];
        }
      }
      if (shape_.model == RuleModel::kModular) {
        scores[module] = at("scores.bias")[module];
        for (std::size_t input = module * units; input < (module + 1) * units; ++input) {
          scores[module] += at("scores.weight")[input] * h[input];
        }
      }
    }
    if (shape_.model == RuleModel::kModularOp) {
      scores = layer("gate", code, modules, false);
    }
    gates.assign(modules, 0);
    if (shape_.model == RuleModel::kGtModular) {
      gates[rule % modules] = 1;
    } else {
      double sum = 0;
      for (std::size_t module = 0; module < modules; ++module) {
        gates[module] = std::exp(scores[module]);
        sum += gates[module];
      }
      for (double& gate : gates) {
        gate /= sum;
      }
    }
    Vector mixture(d);
    for (std::size_t module = 0; module < modules; ++module) {
      for (std::size_t unit = 0; unit < d; ++unit) {
        mixture[unit] += gates[module] * outputs[module][unit];
      }
    }
    return mlp2("decoder", mixture, e, 1)[0];
  }

  RuleTask task_;
  RuleShape shape_;
  engine::Layout layout_;
  std::vector<float> initial_;
  RuleBatch batch_;
};

TEST_P(RuleMlpTest, SaysWhatTheFormulasSay) {
  const auto network = make_rule_mlp<double>(shape_, engine::solo::oracle_kernels());
  network->parameters().load(initial_);
  const double* found = network->forward(batch_);
  for (int row = 0; row < batch_.rows(); ++row) {
    Vector gates;
    EXPECT_NEAR(found[static_cast<std::ptrdiff_t>(row) * engine::solo::padded(1)], said(row, gates), 1e-12);
    for (std::size_t module = 0; module < gates.size(); ++module) {
      EXPECT_NEAR(network->gates()[row * engine::solo::padded(shape_.modules) + static_cast<int>(module)],
                  gates[module], 1e-12);
    }
  }
}

// Of a sum of what is said with random factors.
TEST_P(RuleMlpTest, Gradients) {
  const auto network = make_rule_mlp<double>(shape_, engine::solo::oracle_kernels());
  network->parameters().load(initial_);
  const int stride = engine::solo::padded(1);
  AlignedVector<double> factors(static_cast<std::size_t>(batch_.rows()) * stride);
  for (int row = 0; row < batch_.rows(); ++row) {
    factors[static_cast<std::size_t>(row) * stride] = std::sin(1.0 + row);
  }
  const auto loss = [&] {
    const double* found = network->forward(batch_);
    double sum = 0;
    for (std::size_t place = 0; place < factors.size(); ++place) {
      sum += factors[place] * found[place];
    }
    return sum;
  };
  loss();
  network->backward(batch_, factors.data());
  const std::vector<double> gradients = network->parameters().gradients_in_order();
  constexpr double kStep = 1e-6;
  constexpr std::size_t kMostOfATensor = 60;
  for (std::size_t tensor = 0; tensor < layout_.tensors.size(); ++tensor) {
    const engine::Tensor& here = layout_.tensors[tensor];
    const std::size_t every = std::max<std::size_t>(1, here.count / kMostOfATensor);
    for (std::size_t element = 0; element < here.count; element += every) {
      const auto moved = [&](double step) {
        // Parameters are floats; the step is made where they are doubles.
        AlignedVector<double> values = network->parameters().arranged(initial_);
        std::vector<float> marks(layout_.count);
        marks[here.offset + element] = 1;
        const AlignedVector<double> places = network->parameters().arranged(marks);
        for (std::size_t place = 0; place < values.size(); ++place) {
          values[place] += step * places[place];
        }
        network->parameters().all_values() = values;
        return loss();
      };
      const double expected = (moved(kStep) - moved(-kStep)) / (2 * kStep);
      EXPECT_NEAR(gradients[here.offset + element], expected, 1e-6 + 1e-4 * std::abs(expected))
          << here.name << " " << element;
    }
  }
}

TEST_P(RuleMlpTest, TheSameBitsOnEveryTarget) {
  std::vector<float> first;
  std::vector<float> first_gradients;
  for (const std::string& target : engine::supported_targets()) {
    const auto network = make_rule_mlp<float>(shape_, engine::solo::kernels_for(target));
    network->parameters().load(initial_);
    const float* found = network->forward(batch_);
    const std::size_t size = static_cast<std::size_t>(batch_.rows()) * engine::solo::padded(1);
    const std::vector<float> said(found, found + size);
    AlignedVector<float> d(size, 0.0F);
    for (int row = 0; row < batch_.rows(); ++row) {
      d[static_cast<std::size_t>(row) * engine::solo::padded(1)] = 0.1F * static_cast<float>(row) - 0.5F;
    }
    network->backward(batch_, d.data());
    const std::vector<float> gradients = network->parameters().gradients_in_order();
    if (first.empty()) {
      first = said;
      first_gradients = gradients;
    }
    EXPECT_EQ(said, first) << target;
    EXPECT_EQ(gradients, first_gradients) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleMlpTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace modlab::models

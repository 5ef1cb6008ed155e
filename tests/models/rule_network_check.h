#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "models/initial_weights.h"
#include "models/rules/rule_network.h"

// What all networks on rule-based data are held against: the formulas written out for one sample, central differences
// in double precision, and the same bits on every target.
namespace modlab::test {

struct RuleCase {
  const char* name;
  models::RuleModel model;
  int rules;
  int modules;
  int width;
  tasks::RuleTaskSettings task = {};
  int length = 1;
};

inline std::string case_name(const testing::TestParamInfo<RuleCase>& tested) { return tested.param.name; }

class RuleNetworkTest : public testing::TestWithParam<RuleCase> {
 protected:
  using Vector = std::vector<double>;
  template <typename T>
  using Make =
      std::function<std::unique_ptr<models::RuleNetwork<T>>(const models::RuleShape&, const engine::solo::Kernels<T>&)>;

  RuleNetworkTest()
      : task_(tasks::draw_rules(task_settings())),
        shape_(models::rule_shape(task_.settings, GetParam().model, GetParam().modules, GetParam().width)),
        layout_(models::rule_layout(shape_)),
        initial_(models::initial_parameters(layout_, models::Init::kTorch, 11)) {
    models::RuleSampler(task_, engine::solo::kernels_for("scalar"), 5)
        .draw({.samples = GetParam().length > 1 ? 4 : 13, .length = GetParam().length}, batch_);
  }

  static tasks::RuleTaskSettings task_settings() {
    tasks::RuleTaskSettings settings = GetParam().task;
    settings.rules = GetParam().rules;
    settings.task_seed = 2;
    return settings;
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

  Vector product(const std::string& name, const Vector& x, std::size_t out) const {
    Vector y(out);
    for (std::size_t unit = 0; unit < out; ++unit) {
      for (std::size_t input = 0; input < x.size(); ++input) {
        y[unit] += at(name + ".weight")[unit * x.size() + input] * x[input];
      }
    }
    return y;
  }
  Vector layer(const std::string& name, const Vector& x, std::size_t out, bool relu) const {
    Vector y = product(name, x, out);
    for (std::size_t unit = 0; unit < out; ++unit) {
      y[unit] += at(name + ".bias")[unit];
      y[unit] = relu ? std::max(y[unit], 0.0) : y[unit];
    }
    return y;
  }
  Vector mlp2(const std::string& name, const Vector& x, std::size_t hidden, std::size_t out) const {
    return layer(name + ".layer1", layer(name + ".layer0", x, hidden, true), out, false);
  }
  Vector one_hot(std::size_t rule) const {
    Vector x(static_cast<std::size_t>(shape_.rules));
    x[rule] = 1;
    return x;
  }
  static Vector softmax(const Vector& scores) {
    Vector shares;
    double sum = 0;
    for (const double score : scores) {
      shares.push_back(std::exp(score));
      sum += shares.back();
    }
    for (double& share : shares) {
      share /= sum;
    }
    return shares;
  }
  std::size_t rule_of(int row) const { return batch_.rules[static_cast<std::size_t>(row)]; }
  Vector data_of(int row) const {
    const float* data = batch_.data.data() + static_cast<std::ptrdiff_t>(row) * batch_.columns;
    return {data, data + shape_.data_columns};
  }
  Vector token_of(int row) const {
    Vector x = data_of(row);
    const Vector rule = one_hot(rule_of(row));
    x.insert(x.end(), rule.begin(), rule.end());
    return x;
  }

  // `said` and `gates` by row.
  void expect_said(const Make<double>& make, const std::vector<Vector>& said, const std::vector<Vector>& gates) const {
    const auto network = make(shape_, engine::solo::oracle_kernels());
    network->parameters().load(initial_);
    const double* found = network->forward(batch_);
    for (int row = 0; row < batch_.rows(); ++row) {
      const Vector& expected = said[static_cast<std::size_t>(row)];
      for (std::size_t output = 0; output < expected.size(); ++output) {
        EXPECT_NEAR(found[row * engine::solo::padded(shape_.outputs) + static_cast<int>(output)], expected[output],
                    1e-11);
      }
      for (int module = 0; shape_.has_modules() && module < shape_.modules; ++module) {
        EXPECT_NEAR(network->gates()[row * engine::solo::padded(shape_.modules) + module],
                    gates[static_cast<std::size_t>(row)][static_cast<std::size_t>(module)], 1e-11);
      }
    }
  }

  // Of a sum of what is said with factors that differ.
  void expect_gradients(const Make<double>& make) const {
    const auto network = make(shape_, engine::solo::oracle_kernels());
    network->parameters().load(initial_);
    const int stride = engine::solo::padded(shape_.outputs);
    AlignedVector<double> factors(static_cast<std::size_t>(batch_.rows()) * stride);
    for (int row = 0; row < batch_.rows(); ++row) {
      for (int output = 0; output < shape_.outputs; ++output) {
        factors[static_cast<std::size_t>(row) * stride + output] = std::sin(1.0 + row + 2.3 * output);
      }
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
    constexpr std::size_t kMostOfATensor = 40;
    for (const engine::Tensor& tensor : layout_.tensors) {
      const std::size_t every = std::max<std::size_t>(1, tensor.count / kMostOfATensor);
      for (std::size_t element = 0; element < tensor.count; element += every) {
        // Parameters are floats; the step is made where they are doubles.
        std::vector<float> marks(layout_.count);
        marks[tensor.offset + element] = 1;
        const AlignedVector<double> values = network->parameters().arranged(initial_);
        const AlignedVector<double> places = network->parameters().arranged(marks);
        const auto moved = [&](double step) {
          for (std::size_t place = 0; place < values.size(); ++place) {
            network->parameters().all_values()[place] = values[place] + step * places[place];
          }
          return loss();
        };
        const double expected = (moved(kStep) - moved(-kStep)) / (2 * kStep);
        EXPECT_NEAR(gradients[tensor.offset + element], expected, 1e-6 + 1e-4 * std::abs(expected))
            << tensor.name << " " << element;
      }
    }
  }

  void expect_same_bits(const Make<float>& make) const {
    std::vector<float> first;
    std::vector<float> first_gradients;
    for (const std::string& target : engine::supported_targets()) {
      const auto network = make(shape_, engine::solo::kernels_for(target));
      network->parameters().load(initial_);
      const int stride = engine::solo::padded(shape_.outputs);
      const std::size_t size = static_cast<std::size_t>(batch_.rows()) * stride;
      const float* found = network->forward(batch_);
      const std::vector<float> said(found, found + size);
      AlignedVector<float> d(size, 0.0F);
      for (int row = 0; row < batch_.rows(); ++row) {
        d[static_cast<std::size_t>(row) * stride] = 0.1F * static_cast<float>(row) - 0.5F;
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

  // An oracle that computes all modules for every row, and one that computes the module that the row needs.
  void expect_equal(models::RuleNetwork<float>& all, models::RuleNetwork<float>& needed) const {
    const int stride = engine::solo::padded(shape_.outputs);
    AlignedVector<float> d(static_cast<std::size_t>(batch_.rows()) * stride, 0.0F);
    for (int row = 0; row < batch_.rows(); ++row) {
      d[static_cast<std::size_t>(row) * stride] = std::sin(static_cast<float>(row));
    }
    std::vector<float> said[2];
    std::vector<float> gradients[2];
    for (const int which : {0, 1}) {
      models::RuleNetwork<float>& network = which == 0 ? all : needed;
      network.parameters().load(initial_);
      const float* found = network.forward(batch_);
      said[which].assign(found, found + d.size());
      network.backward(batch_, d.data());
      gradients[which] = network.parameters().gradients_in_order();
    }
    EXPECT_EQ(said[0], said[1]);
    EXPECT_EQ(gradients[0], gradients[1]);
  }

  tasks::RuleTask task_;
  models::RuleShape shape_;
  engine::Layout layout_;
  std::vector<float> initial_;
  models::RuleBatch batch_;
};

}  // namespace modlab::test

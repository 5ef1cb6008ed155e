#include "models/digits/digit_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/digit_batches.h"

namespace modlab::models {
namespace {

using test::DigitCase;
using Vector = std::vector<double>;
namespace solo = engine::solo;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A network from its formulas, one row at a time, with given parameters in the order of the layout.
class PlainNetwork {
 public:
  PlainNetwork(const DigitShape& shape, const std::vector<double>& parameters)
      : shape_(shape), layout_(digit_layout(shape)), parameters_(parameters) {}

  // All outputs after each step.
  std::vector<Vector> said(const DigitBatch& batch, int row) const {
    std::vector<Vector> found;
    std::vector<Vector> h(static_cast<std::size_t>(shape_.layers), Vector(static_cast<std::size_t>(shape_.state)));
    std::vector<Vector> c = h;
    for (int step = 0; step < batch.steps; ++step) {
      Vector x(static_cast<std::size_t>(shape_.inputs));
      for (std::size_t input = 0; !batch.values.empty() && input < x.size(); ++input) {
        x[input] = static_cast<double>(batch.values[static_cast<std::size_t>(row) * x.size() + input]);
      }
      for (int place = 0; place < batch.active; ++place) {
        const auto at = (static_cast<std::size_t>(row) * batch.steps + step) * batch.active + place;
        if (batch.inputs[at] != kNoInput) {
          x[batch.inputs[at]] = 1;
        }
      }
      if (shape_.kind == DigitNetworkKind::kFnn) {
        for (std::size_t layer = 0; layer <= shape_.hidden.size(); ++layer) {
          x = add(product(2 * layer, x), 2 * layer + 1);
          for (double& value : x) {
            value = layer < shape_.hidden.size() ? std::max(0.0, value) : value;
          }
        }
        found.push_back(x);
        continue;
      }
      for (std::size_t layer = 0; layer < h.size(); ++layer) {
        Vector z = add(product(3 * layer, x), 3 * layer + 2);
        const Vector from_state = product(3 * layer + 1, h[layer]);
        for (std::size_t unit = 0; unit < z.size(); ++unit) {
          z[unit] += from_state[unit];
        }
        const auto units = static_cast<std::size_t>(shape_.state);
        for (std::size_t unit = 0; unit < units; ++unit) {
          double& memory = c[layer][unit];
          memory = sigmoid(z[units + unit]) * memory + sigmoid(z[unit]) * std::tanh(z[2 * units + unit]);
          h[layer][unit] = sigmoid(z[3 * units + unit]) * std::tanh(memory);
        }
        x = h[layer];
      }
      found.push_back(add(product(3 * h.size(), x), 3 * h.size() + 1));
    }
    return found;
  }

  // The sum of the cross-entropies.
  double loss(const DigitBatch& batch) const {
    double sum = 0;
    for (int row = 0; row < batch.rows; ++row) {
      const std::vector<Vector> outputs = said(batch, row);
      for (int group = 0; group < batch.groups; ++group) {
        const double* z = outputs[static_cast<std::size_t>(batch.read_at[static_cast<std::size_t>(group)])].data() +
                          static_cast<std::ptrdiff_t>(group) * kDigitClasses % shape_.outputs;
        double powers = 0;
        for (int which = 0; which < kDigitClasses; ++which) {
          powers += std::exp(z[which]);
        }
        if (batch.counts[static_cast<std::size_t>(group)] != 0) {
          sum += std::log(powers) - z[batch.digits[static_cast<std::size_t>(row) * batch.groups + group]];
        }
      }
    }
    return sum;
  }

 private:
  Vector product(std::size_t tensor, const Vector& x) const {
    const engine::Tensor& weights = layout_.tensors[tensor];
    Vector y(static_cast<std::size_t>(weights.shape[0]));
    for (std::size_t unit = 0; unit < y.size(); ++unit) {
      for (std::size_t input = 0; input < x.size(); ++input) {
        y[unit] += parameters_[weights.offset + unit * x.size() + input] * x[input];
      }
    }
    return y;
  }
  Vector add(Vector y, std::size_t tensor) const {
    for (std::size_t unit = 0; unit < y.size(); ++unit) {
      y[unit] += parameters_[layout_.tensors[tensor].offset + unit];
    }
    return y;
  }

  DigitShape shape_;
  engine::Layout layout_;
  std::vector<double> parameters_;
};

class DigitNetworkTest : public testing::TestWithParam<DigitCase> {
 protected:
  DigitNetworkTest() : initial_(initial_digit_parameters(GetParam().shape, 3)) {
    network_ = make_digit_network<double>(GetParam().shape, solo::masked_oracle_kernels(), team_);
    network_->load(initial_);
  }
  std::vector<std::uint8_t> maskable() const {
    std::vector<std::uint8_t> found;
    for (const engine::Tensor& tensor : network_->layout().tensors) {
      found.push_back(tensor.shape.size() > 1 || GetParam().shape.masks_biases ? 1 : 0);
    }
    return found;
  }

  Team team_{1};
  std::vector<float> initial_;
  std::unique_ptr<DigitNetworkOf<double>> network_;
};

TEST_P(DigitNetworkTest, SaysWhatTheFormulasSay) {
  const DigitBatch& batch = GetParam().batch;
  const PlainNetwork plain(GetParam().shape, {initial_.begin(), initial_.end()});
  const double* said = network_->evaluate(batch);
  for (int row = 0; row < batch.rows; ++row) {
    const std::vector<Vector> expected = plain.said(batch, row);
    for (int place = 0; place < batch.groups * kDigitClasses; ++place) {
      const int step = batch.read_at[static_cast<std::size_t>(place / kDigitClasses)];
      const int output = place % GetParam().shape.outputs;
      EXPECT_NEAR(said[row * batch.groups * kDigitClasses + place],
                  expected[static_cast<std::size_t>(step)][static_cast<std::size_t>(output)], 1e-11);
    }
  }
  network_->forward(batch, {});
  EXPECT_NEAR(network_->loss(1), plain.loss(batch), 1e-9);
  EXPECT_EQ(network_->save(), initial_);
}

TEST_P(DigitNetworkTest, GradientsOfWeights) {
  const DigitBatch& batch = GetParam().batch;
  network_->forward(batch, {});
  network_->loss(1);
  AlignedVector<double> values(network_->panels().size(), 7.0);
  const std::vector<std::uint8_t> all(network_->panels().tensors(), 1);
  network_->backward({.values = values.data(), .wanted = all});
  const std::vector<double> gradients = network_->panels().in_order<double>(values);
  std::vector<double> moved(initial_.begin(), initial_.end());
  const std::size_t every = std::max<std::size_t>(1, moved.size() / 150);
  for (std::size_t place = 0; place < moved.size(); place += every) {
    constexpr double kStep = 1e-6;
    const double old = moved[place];
    moved[place] = old + kStep;
    const double above = PlainNetwork(GetParam().shape, moved).loss(batch);
    moved[place] = old - kStep;
    const double below = PlainNetwork(GetParam().shape, moved).loss(batch);
    moved[place] = old;
    EXPECT_NEAR(gradients[place], (above - below) / (2 * kStep), 1e-6) << place;
  }
}

// Samples side by side are the passes that one would make one after the other, each with its part of the rows and its
// mask; and a logit's gradient is the sum of what they say of its weight, times the weight, times the slope.
TEST_P(DigitNetworkTest, SamplesAreSinglePasses) {
  constexpr int kSamples = 4;
  const DigitBatch& batch = GetParam().batch;
  const PanelLayout& panels = network_->panels();
  const std::vector<std::uint8_t> masked = maskable();
  std::vector<float> logits(initial_.size());
  for (std::size_t place = 0; place < logits.size(); ++place) {
    logits[place] = std::sin(static_cast<float>(place)) * 3;
  }
  const AlignedVector<double> arranged = panels.arranged<double>(logits);
  solo::MaskNoise noise = {.key = solo::mask_key(1, 0), .step = 3, .call = 0, .tensor = 0};
  std::vector<AlignedVector<std::uint16_t>> bits(panels.tensors());
  DigitMasks masks = {.samples = kSamples, .bits = std::vector<const std::uint16_t*>(panels.tensors())};
  for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
    if (masked[tensor] != 0) {
      bits[tensor].resize(panels[tensor].count / solo::kUnitPad * kSamples + 4);
      noise.tensor = static_cast<std::uint32_t>(tensor);
      solo::masked_oracle_kernels().draw({arranged.data() + panels[tensor].offset, bits[tensor].data(),
                                          panels[tensor].inputs, panels[tensor].units, kSamples, noise,
                                          engine::MaskDrawing::kGumbel, 0, panels[tensor].panels()});
      masks.bits[tensor] = bits[tensor].data();
    }
  }
  network_->forward(batch, masks);
  const double loss = network_->loss(1);
  AlignedVector<double> together(panels.size());
  AlignedVector<double> sums(panels.size());
  network_->backward({.values = together.data(),
                      .wanted = masked,
                      .slope = {.logits = arranged.data(), .noise = noise, .alpha = 0.5},
                      .weight_sums = sums.data()});
  const std::vector<double> found = panels.in_order<double>(together);

  const std::vector<double> weights_found = panels.in_order<double>(sums);

  std::vector<double> expected(initial_.size());
  std::vector<double> weights_expected(initial_.size());
  double expected_loss = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<float> kept = initial_;
    std::vector<double> slopes(initial_.size());
    for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
      noise.tensor = static_cast<std::uint32_t>(tensor);
      const engine::Tensor& of = network_->layout().tensors[tensor];
      for (std::size_t element = 0; masked[tensor] != 0 && element < of.count; ++element) {
        const std::size_t place = of.offset + element;
        const double uniform = solo::mask_uniform(noise, sample, static_cast<std::uint32_t>(element));
        const double logit = static_cast<double>(logits[place]);
        const double soft = sigmoid(logit + std::log(uniform / (1 - uniform)));
        kept[place] = soft > 0.5 ? initial_[place] : 0;
        slopes[place] = soft * (1 - soft);
        expected[place] = sample == 0 ? 0.5 : expected[place];
      }
    }
    DigitBatch part = batch;
    part.rows = batch.rows / kSamples;
    const auto inputs = static_cast<std::ptrdiff_t>(part.rows) * batch.steps * batch.active;
    const auto digits = static_cast<std::ptrdiff_t>(part.rows) * batch.groups;
    part.inputs.assign(batch.inputs.begin() + sample * inputs, batch.inputs.begin() + (sample + 1) * inputs);
    if (!batch.values.empty()) {
      const auto values = static_cast<std::ptrdiff_t>(part.rows) * GetParam().shape.inputs;
      part.values.assign(batch.values.begin() + sample * values, batch.values.begin() + (sample + 1) * values);
    }
    part.digits.assign(batch.digits.begin() + sample * digits, batch.digits.begin() + (sample + 1) * digits);
    network_->load(kept);
    network_->forward(part, {});
    expected_loss += network_->loss(1);
    AlignedVector<double> values(panels.size());
    network_->backward({.values = values.data(), .wanted = std::vector<std::uint8_t>(panels.tensors(), 1)});
    const std::vector<double> gradients = panels.in_order<double>(values);
    for (std::size_t place = 0; place < expected.size(); ++place) {
      expected[place] += gradients[place] * static_cast<double>(initial_[place]) * slopes[place];
      // A weight that is left out has no gradient of its own.
      weights_expected[place] += kept[place] == 0 && initial_[place] != 0 ? 0 : gradients[place];
    }
  }
  EXPECT_NEAR(loss, expected_loss, 1e-9);
  for (std::size_t place = 0; place < expected.size(); ++place) {
    ASSERT_NEAR(found[place], expected[place], 1e-9) << place;
    ASSERT_NEAR(weights_found[place], weights_expected[place], 1e-9) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DigitNetworkTest, testing::ValuesIn(test::digit_cases()),
                         [](const testing::TestParamInfo<DigitCase>& tested) { return tested.param.name; });

// Weights without biases, as published.
TEST(DigitShapeTest, MaskableWeights) {
  const auto weights = [](const DigitShape& shape) {
    std::size_t count = 0;
    for (const engine::Tensor& tensor : digit_layout(shape).tensors) {
      count += tensor.shape.size() > 1 ? tensor.count : 0;
    }
    return count;
  };
  const auto fnn = [](int inputs, int outputs, std::vector<int> hidden) {
    return DigitShape{
        .kind = DigitNetworkKind::kFnn, .inputs = inputs, .outputs = outputs, .hidden = std::move(hidden)};
  };
  EXPECT_EQ(weights(fnn(42, 20, {400, 400, 200})), 260800U);
  EXPECT_EQ(weights(fnn(42, 20, {800, 800, 800, 800})), 1969600U);
  EXPECT_EQ(weights(fnn(42, 20, {2000, 2000, 2000, 2000})), 12124000U);
  EXPECT_EQ(weights(fnn(80, 40, {800, 800, 800, 800})), 2016000U);
  DigitShape lstm = {
      .kind = DigitNetworkKind::kLstm, .inputs = 42, .outputs = 20, .hidden = {}, .state = 256, .layers = 2};
  EXPECT_EQ(weights(lstm), 834560U);
  lstm.inputs = 80;
  lstm.outputs = 40;
  EXPECT_EQ(weights(lstm), 878592U);
}

// With the biases, which are masked there.
TEST(DigitShapeTest, ParametersOfTheNetworkOnPermutedImages) {
  const DigitShape shape = {
      .kind = DigitNetworkKind::kFnn, .inputs = 784, .outputs = 10, .hidden = {800, 800, 64}, .masks_biases = true};
  EXPECT_EQ(digit_layout(shape).count, 1320714U);
}

TEST(DigitShapeTest, InitialParametersOfATask) {
  const DigitShape shape = {
      .kind = DigitNetworkKind::kFnn, .inputs = 100, .outputs = 10, .hidden = {80, 60}, .masks_biases = true};
  const engine::Layout layout = digit_layout(shape);
  const std::vector<float> values = initial_task_parameters(shape, 5, 1);
  for (const engine::Tensor& tensor : layout.tensors) {
    double squares = 0;
    for (std::size_t place = tensor.offset; place < tensor.offset + tensor.count; ++place) {
      squares += static_cast<double>(values[place]) * static_cast<double>(values[place]);
    }
    const double deviation = std::sqrt(squares / static_cast<double>(tensor.count));
    if (tensor.shape.size() == 1) {
      EXPECT_EQ(squares, 0) << tensor.name;
      continue;
    }
    const double gain = tensor.name == "layers.2.weight" ? 1 : std::sqrt(2.0);
    const double expected = gain * std::sqrt(2.0 / (tensor.shape[0] + tensor.shape[1]));
    EXPECT_NEAR(deviation / expected, 1, 4 / std::sqrt(2.0 * static_cast<double>(tensor.count))) << tensor.name;
  }
  EXPECT_NE(values, initial_task_parameters(shape, 5, 2)) << "each task has its own";
  EXPECT_EQ(values, initial_task_parameters(shape, 5, 1));
}

TEST(DigitShapeTest, InitialParametersOfAnLstm) {
  const DigitShape shape = {
      .kind = DigitNetworkKind::kLstm, .inputs = 42, .outputs = 20, .hidden = {}, .state = 64, .layers = 1};
  const engine::Layout layout = digit_layout(shape);
  const std::vector<float> values = initial_digit_parameters(shape, 1);
  const auto deviation = [&](std::size_t begin, std::size_t count) {
    double sum = 0;
    for (std::size_t place = begin; place < begin + count; ++place) {
      sum += static_cast<double>(values[place]) * static_cast<double>(values[place]);
    }
    return std::sqrt(sum / static_cast<double>(count));
  };
  const std::size_t in_part = 64 * 42;
  EXPECT_NEAR(deviation(0, in_part), std::sqrt(1.0 / 106), 0.005);
  EXPECT_NEAR(deviation(2 * in_part, in_part), 5.0 / 3 * std::sqrt(1.0 / 106), 0.008);
  const std::size_t state = layout.tensors[1].offset;
  EXPECT_NEAR(deviation(state, 64 * 64), std::sqrt(1.0 / 128), 0.003);
  // The cell gate's block is orthogonal, times (5/3) / sqrt 2.
  const float* block = values.data() + state + static_cast<std::size_t>(2) * 64 * 64;
  for (int one = 0; one < 64; ++one) {
    for (int other = 0; other <= one; ++other) {
      double dot = 0;
      for (int column = 0; column < 64; ++column) {
        dot += static_cast<double>(block[one * 64 + column]) * static_cast<double>(block[other * 64 + column]);
      }
      EXPECT_NEAR(dot, one == other ? 25.0 / 18 : 0, 1e-5);
    }
  }
  const float* bias = values.data() + layout.tensors[2].offset;
  EXPECT_EQ(bias[0], 0.0F);
  EXPECT_EQ(bias[64], 1.0F);
  EXPECT_EQ(bias[128], 0.0F);
}

}  // namespace
}  // namespace modlab::models

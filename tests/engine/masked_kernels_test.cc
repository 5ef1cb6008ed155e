#include "engine/solo/masked_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "engine/solo_everywhere.h"

// Draws of masks and what is done with them, against plain loops in double precision that read the same random numbers.
namespace modlab::engine::solo {
namespace {

constexpr MaskNoise kNoise = {.key = {7, 0, 11, 2}, .step = 5, .call = 1, .tensor = 3};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double soft_sample(double uniform, double logit, double tau) {
  return sigmoid((logit + std::log(uniform) - std::log1p(-uniform)) / tau);
}

struct Case {
  int inputs = 21;
  int units = 37;
  RowBlocks blocks;
  double tau = 1;
  bool deterministic = false;
  bool is_far = false;  // most logits are so far down that nothing is computed for them
};

MaskDrawing drawing_of(const Case& c) { return c.deterministic ? MaskDrawing::kDeterministic : MaskDrawing::kGumbel; }

// A layer with everything that its kernels read and write.
struct Layer {
  explicit Layer(const Case& of, double spread = 3) : c(of) {
    Numbers numbers;
    const auto fill = [&](std::vector<double>& values, std::size_t count, double factor) {
      values = numbers.list(count);
      for (double& value : values) {
        value *= factor;
      }
    };
    const auto weights = static_cast<std::size_t>(c.inputs) * c.units;
    fill(w, weights, 1);
    fill(logits, weights, spread);
    fill(bias, static_cast<std::size_t>(c.units), 1);
    fill(x, static_cast<std::size_t>(c.inputs) * c.blocks.padded_rows(), 1);
    fill(dy, static_cast<std::size_t>(c.units) * c.blocks.padded_rows(), 1);
    for (std::size_t place = 0; c.is_far && place < logits.size(); ++place) {
      logits[place] = numbers.below(12) == 0 ? logits[place] : place % 3 == 0 ? -25 : -35;
    }
    logits[0] = -200;
    logits[1] = 200;
    logits[2] = -30;
  }
  int rows() const { return c.blocks.padded_rows(); }
  int sample_of(int row) const { return row / c.blocks.width / c.blocks.each % c.blocks.samples; }
  std::size_t weight(int unit, int input) const { return static_cast<std::size_t>(unit) * c.inputs + input; }
  double at(const std::vector<double>& values, int unit, int row) const {
    return values[static_cast<std::size_t>(unit) * rows() + row];
  }
  double uniform(int sample, int unit, int input) const {
    return c.deterministic ? 0.5 : mask_uniform(kNoise, sample, static_cast<std::uint32_t>(weight(unit, input)));
  }
  bool keeps(int sample, int unit, int input) const {
    return 1 - uniform(sample, unit, input) < sigmoid(logits[weight(unit, input)]);
  }
  // The weights under every sample's mask, [sample][unit][input].
  std::vector<double> all_masked() const {
    std::vector<double> found;
    for (int sample = 0; sample < c.blocks.samples; ++sample) {
      for (int unit = 0; unit < c.units; ++unit) {
        for (int input = 0; input < c.inputs; ++input) {
          found.push_back(keeps(sample, unit, input) ? w[weight(unit, input)] : 0);
        }
      }
    }
    return found;
  }

  // In the forms that the kernels read.
  template <typename T>
  AlignedVector<T> panels(const std::vector<double>& of) const {
    AlignedVector<T> values(static_cast<std::size_t>(padded_inputs(c.inputs)) * padded(c.units));
    for (int unit = 0; unit < c.units; ++unit) {
      for (int input = 0; input < c.inputs; ++input) {
        values[place(unit, input)] = static_cast<T>(of[weight(unit, input)]);
      }
    }
    return values;
  }
  std::size_t place(int unit, int input) const {
    return (static_cast<std::size_t>(unit / kUnitPad) * padded_inputs(c.inputs) + input) * kUnitPad + unit % kUnitPad;
  }
  template <typename T>
  AlignedVector<T> in_blocks(const std::vector<double>& of, int units) const {
    AlignedVector<T> values(static_cast<std::size_t>(padded(units)) * rows());
    for (int unit = 0; unit < units; ++unit) {
      for (int row = 0; row < rows(); ++row) {
        values[block_place(units, unit, row)] = static_cast<T>(at(of, unit, row));
      }
    }
    return values;
  }
  std::size_t block_place(int units, int unit, int row) const {
    const int width = c.blocks.width;
    return (static_cast<std::size_t>(row / width) * padded(units) + unit) * width + row % width;
  }
  template <typename T>
  AlignedVector<std::uint16_t> drawn(const MaskedKernels<T>& kernels) const {
    AlignedVector<std::uint16_t> bits(
        static_cast<std::size_t>(padded_inputs(c.inputs)) * panel_count(c.units) * c.blocks.samples + 4);
    const auto arranged = panels<T>(logits);
    kernels.draw({arranged.data(), bits.data(), c.inputs, c.units, c.blocks.samples, kNoise, drawing_of(c), 0,
                  panel_count(c.units)});
    return bits;
  }
  bool bit(const AlignedVector<std::uint16_t>& bits, int sample, int unit, int input) const {
    const std::size_t at = (static_cast<std::size_t>(unit / kUnitPad) * padded_inputs(c.inputs) + input);
    return ((bits[at * c.blocks.samples + sample] >> (unit % kUnitPad)) & 1) != 0;
  }

  Case c;
  std::vector<double> w, logits, bias, x, dy;
};

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const RowBlocks& blocks : {RowBlocks{32, 4, 1, 1}, RowBlocks{16, 8, 1, 1}, RowBlocks{32, 3, 2, 2},
                                  RowBlocks{32, 1, 4, 1}, RowBlocks{16, 5, 1, 3}}) {
    found.push_back({.blocks = blocks});
    found.push_back({.inputs = 150, .units = 140, .blocks = blocks});
  }
  found.push_back({.inputs = 150, .units = 140, .blocks = {32, 4, 1, 1}, .is_far = true});
  found.push_back({.inputs = 210, .units = 37, .blocks = {16, 5, 1, 3}, .is_far = true});
  found.push_back({.blocks = {32, 4, 1, 1}, .tau = 0.5});
  found.push_back({.blocks = {32, 4, 1, 1}, .deterministic = true});
  found.push_back({.blocks = {32, 4, 1, 1}, .tau = 2, .deterministic = true});
  return found;
}

// Runs on the oracle and on every target: near the expected numbers, and all targets the same.
template <typename Run>
void expect_masked(const std::vector<double>& expected, double tolerance, const Run& run) {
  const auto expect_near = [&](const auto& found, double most, const char* target) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
      ASSERT_NEAR(found[at], expected[at], most * std::max(1.0, std::abs(expected[at]))) << target << " " << at;
    }
  };
  expect_near(run(masked_oracle_kernels()), 1e-9, "oracle");
  AlignedVector<float> first;
  for (const std::string& target : supported_targets()) {
    const AlignedVector<float> found = run(masked_kernels_for(target));
    expect_near(found, tolerance, target.c_str());
    first = first.empty() ? found : first;
    EXPECT_EQ(std::memcmp(found.data(), first.data(), first.size() * sizeof(float)), 0) << target;
  }
}

TEST(MaskedKernelsTest, DrawsTheBitsThatTheUniformNumbersSay) {
  for (const Case& c : cases()) {
    const Layer layer(c);
    for (const std::string& target : supported_targets()) {
      const auto bits = layer.drawn(masked_kernels_for(target));
      for (int sample = 0; sample < c.blocks.samples; ++sample) {
        for (int unit = 0; unit < c.units; ++unit) {
          for (int input = 0; input < c.inputs; ++input) {
            ASSERT_EQ(layer.bit(bits, sample, unit, input), layer.keeps(sample, unit, input))
                << target << " " << sample << " " << unit << " " << input;
          }
        }
      }
      EXPECT_FALSE(layer.bit(bits, 0, 0, 0)) << "a logit of -200";
      EXPECT_TRUE(layer.bit(bits, 0, 0, 1)) << "a logit of 200";
    }
  }
}

TEST(MaskedKernelsTest, ProductsForward) {
  for (const Case& c : cases()) {
    const Layer layer(c);
    const std::vector<double> masked = layer.all_masked();
    std::vector<double> expected(static_cast<std::size_t>(padded(c.units)) * layer.rows());
    for (int unit = 0; unit < c.units; ++unit) {
      for (int row = 0; row < layer.rows(); ++row) {
        double sum = layer.bias[static_cast<std::size_t>(unit)];
        for (int input = 0; input < c.inputs; ++input) {
          sum +=
              masked[layer.sample_of(row) * layer.w.size() + layer.weight(unit, input)] * layer.at(layer.x, input, row);
        }
        expected[layer.block_place(c.units, unit, row)] = std::max(0.0, sum);
      }
    }
    expect_masked(expected, 1e-4, [&]<typename T>(const MaskedKernels<T>& kernels) {
      const auto bits = layer.drawn(kernels);
      const auto w = layer.template panels<T>(layer.w);
      const auto x = layer.template in_blocks<T>(layer.x, c.inputs);
      AlignedVector<T> bias(static_cast<std::size_t>(padded(c.units)));
      std::ranges::copy(layer.bias, bias.begin());
      AlignedVector<T> y(expected.size());
      kernels.forward({{w.data(), bits.data(), c.inputs, c.units},
                       c.blocks,
                       x.data(),
                       bias.data(),
                       nullptr,
                       y.data(),
                       true,
                       0,
                       panel_count(c.units)});
      return y;
    });
  }
}

TEST(MaskedKernelsTest, ProductsBack) {
  for (const Case& c : cases()) {
    const Layer layer(c);
    const std::vector<double> masked = layer.all_masked();
    std::vector<double> expected(static_cast<std::size_t>(padded(c.inputs)) * layer.rows());
    for (int input = 0; input < c.inputs; ++input) {
      for (int row = 0; row < layer.rows(); ++row) {
        double sum = 0;
        for (int unit = 0; unit < c.units; ++unit) {
          sum +=
              masked[layer.sample_of(row) * layer.w.size() + layer.weight(unit, input)] * layer.at(layer.dy, unit, row);
        }
        expected[layer.block_place(c.inputs, input, row)] = layer.at(layer.x, input, row) > 0 ? sum : 0;
      }
    }
    expect_masked(expected, 1e-4, [&]<typename T>(const MaskedKernels<T>& kernels) {
      const auto bits = layer.drawn(kernels);
      const auto w = layer.template panels<T>(layer.w);
      const auto x = layer.template in_blocks<T>(layer.x, c.inputs);
      const auto dy = layer.template in_blocks<T>(layer.dy, c.units);
      AlignedVector<T> dx(expected.size());
      // In two parts, as two threads do it.
      for (const auto& [first, last] : {std::pair(0, kUnitPad), std::pair(kUnitPad, padded(c.inputs))}) {
        kernels.input_gradient({{w.data(), bits.data(), c.inputs, c.units},
                                c.blocks,
                                dy.data(),
                                nullptr,
                                x.data(),
                                dx.data(),
                                first,
                                last});
      }
      return dx;
    });
  }
}

// Where few weights are kept products leave the others out, which are zeros: not a bit is different.
TEST(MaskedKernelsTest, LeavingZerosOutChangesNothing) {
  const Case c = {.inputs = 210, .units = 140, .blocks = {32, 4, 1, 1}, .is_far = true};
  const Layer layer(c);
  const RowBlocks one = {32, 1, 1, 1};
  const auto x = layer.in_blocks<float>(layer.x, c.inputs);
  const auto dy = layer.in_blocks<float>(layer.dy, c.units);
  const auto w = layer.panels<float>(layer.w);
  AlignedVector<float> bias(static_cast<std::size_t>(padded(c.units)));
  std::ranges::copy(layer.bias, bias.begin());
  const auto y_block = static_cast<std::size_t>(padded(c.units)) * c.blocks.width;
  const auto x_block = static_cast<std::size_t>(padded(c.inputs)) * c.blocks.width;
  for (const std::string& target : supported_targets()) {
    const MaskedKernels<float>& kernels = masked_kernels_for(target);
    const auto bits = layer.drawn(kernels);
    const MaskedWeights<float> masked = {w.data(), bits.data(), c.inputs, c.units};
    AlignedVector<float> y(y_block * 4);
    AlignedVector<float> dx(x_block * 4);
    kernels.forward({masked, c.blocks, x.data(), bias.data(), nullptr, y.data(), true, 0, panel_count(c.units)});
    kernels.input_gradient({masked, c.blocks, dy.data(), nullptr, x.data(), dx.data(), 0, padded(c.inputs)});
    for (int sample = 0; sample < 4; ++sample) {
      std::vector<double> left = layer.w;
      for (int unit = 0; unit < c.units; ++unit) {
        for (int input = 0; input < c.inputs; ++input) {
          left[layer.weight(unit, input)] *= layer.bit(bits, sample, unit, input) ? 1 : 0;
        }
      }
      const auto values = layer.panels<float>(left);
      const MaskedWeights<float> all = {values.data(), nullptr, c.inputs, c.units};
      AlignedVector<float> its_y(y_block);
      AlignedVector<float> its_dx(x_block);
      const std::size_t at = sample;
      kernels.forward(
          {all, one, x.data() + at * x_block, bias.data(), nullptr, its_y.data(), true, 0, panel_count(c.units)});
      kernels.input_gradient(
          {all, one, dy.data() + at * y_block, nullptr, x.data() + at * x_block, its_dx.data(), 0, padded(c.inputs)});
      for (std::size_t place = 0; place < y_block; ++place) {
        ASSERT_EQ(y[at * y_block + place], its_y[place]) << target << " " << sample << " " << place;
      }
      for (std::size_t place = 0; place < x_block; ++place) {
        ASSERT_EQ(dx[at * x_block + place], its_dx[place]) << target << " " << sample << " " << place;
      }
    }
  }
}

// The slope is a central difference of the soft sample, so that this is the gradient of the relaxation.
TEST(MaskedKernelsTest, GradientsOfLogitsAndWeights) {
  for (const Case& c : cases()) {
    const Layer layer(c);
    constexpr double kAlpha = 0.25;
    for (const bool of_weights : {false, true}) {
      std::vector<double> expected(static_cast<std::size_t>(padded_inputs(c.inputs)) * padded(c.units));
      for (int unit = 0; unit < c.units; ++unit) {
        for (int input = 0; input < c.inputs; ++input) {
          std::vector<double> products(static_cast<std::size_t>(c.blocks.samples));
          for (int row = 0; row < layer.rows(); ++row) {
            products[static_cast<std::size_t>(layer.sample_of(row))] +=
                layer.at(layer.x, input, row) * layer.at(layer.dy, unit, row);
          }
          double& sum = expected[layer.place(unit, input)];
          sum = of_weights ? 0 : kAlpha;
          const double logit = layer.logits[layer.weight(unit, input)];
          for (int sample = 0; sample < c.blocks.samples; ++sample) {
            constexpr double kStep = 1e-4;
            const double uniform = layer.uniform(sample, unit, input);
            const double slope =
                (soft_sample(uniform, logit + kStep, c.tau) - soft_sample(uniform, logit - kStep, c.tau)) / (2 * kStep);
            sum += products[static_cast<std::size_t>(sample)] *
                   (of_weights ? 1 : layer.w[layer.weight(unit, input)] * slope);
          }
        }
      }
      const auto run = [&]<typename T>(const MaskedKernels<T>& kernels) {
        const auto w = layer.template panels<T>(layer.w);
        const auto logits = layer.template panels<T>(layer.logits);
        const auto x = layer.template in_blocks<T>(layer.x, c.inputs);
        const auto dy = layer.template in_blocks<T>(layer.dy, c.units);
        AlignedVector<T> dy_rows(dy.size());
        const std::size_t block = static_cast<std::size_t>(padded(c.units)) * c.blocks.width;
        for (int index = 0; index < c.blocks.count(); ++index) {
          kernels.turn_rows({dy.data() + index * block, dy_rows.data() + index * block, c.blocks.width, c.units});
        }
        AlignedVector<T> gradients(expected.size());
        kernels.gradient({{w.data(), nullptr, c.inputs, c.units},
                          c.blocks,
                          x.data(),
                          dy_rows.data(),
                          {of_weights ? nullptr : logits.data(), kNoise, drawing_of(c), static_cast<T>(1 / c.tau),
                           static_cast<T>(kAlpha)},
                          gradients.data(),
                          nullptr,
                          false,
                          0,
                          panel_count(c.units)});
        return gradients;
      };
      // Differences are good to 1e-8.
      for (const std::string& target : supported_targets()) {
        const auto found = run(masked_kernels_for(target));
        const auto same = run(masked_kernels_for("scalar"));
        EXPECT_EQ(std::memcmp(found.data(), same.data(), same.size() * sizeof(float)), 0) << target;
      }
      const auto exact = run(masked_oracle_kernels());
      const auto found = run(masked_kernels_for("scalar"));
      for (std::size_t at = 0; at < expected.size(); ++at) {
        ASSERT_NEAR(exact[at], expected[at], 1e-6) << at;
        ASSERT_NEAR(found[at], expected[at], 1e-5 * std::max(1.0, std::abs(expected[at]))) << at;
      }
    }
  }
}

// Closed forms of E[s (1 - s)] with a = e^-l, and P(b = 1) = sigmoid(l).
TEST(MaskedKernelsTest, DrawsHaveTheirDistribution) {
  for (const double logit : {0.0, 2.0, -2.0, -5.0}) {
    Case c = {.inputs = 64, .units = 1024, .blocks = {16, 4, 1, 1}};
    Layer layer(c);
    layer.logits.assign(layer.logits.size(), logit);
    layer.w.assign(layer.w.size(), 1);
    const MaskedKernels<float>& kernels = masked_kernels_for(supported_targets().front());
    const auto bits = layer.drawn(kernels);
    const double draws = 4.0 * c.inputs * c.units;
    double kept = 0;
    double soft = 0;
    for (int sample = 0; sample < 4; ++sample) {
      for (int unit = 0; unit < c.units; ++unit) {
        for (int input = 0; input < c.inputs; ++input) {
          kept += layer.bit(bits, sample, unit, input) ? 1 : 0;
          soft += soft_sample(layer.uniform(sample, unit, input), logit, 1);
        }
      }
    }
    const double a = std::exp(-logit);
    const double p = sigmoid(logit);
    EXPECT_NEAR(kept / draws, p, 4 * std::sqrt(p * (1 - p) / draws));
    const double mean = logit == 0 ? 0.5 : 1 / (1 - a) + a * std::log(a) / ((1 - a) * (1 - a));
    EXPECT_NEAR(soft / draws, mean, 4 * 0.3 / std::sqrt(draws));
    // One row of ones makes the gradient of every masked weight 1.
    std::vector<double> ones(static_cast<std::size_t>(c.inputs) * layer.rows());
    for (int sample = 0; sample < 4; ++sample) {
      for (int input = 0; input < c.inputs; ++input) {
        ones[static_cast<std::size_t>(input) * layer.rows() + static_cast<std::size_t>(sample) * c.blocks.width] = 1;
      }
    }
    const auto x = layer.in_blocks<float>(ones, c.inputs);
    const auto w = layer.panels<float>(layer.w);
    const auto logits = layer.panels<float>(layer.logits);
    const AlignedVector<float> dy_rows(static_cast<std::size_t>(c.units) * layer.rows(), 1.0F);
    AlignedVector<float> gradients(w.size());
    kernels.gradient({{w.data(), nullptr, c.inputs, c.units},
                      c.blocks,
                      x.data(),
                      dy_rows.data(),
                      {logits.data(), kNoise, MaskDrawing::kGumbel, 1, 0},
                      gradients.data(),
                      nullptr,
                      false,
                      0,
                      panel_count(c.units)});
    double slopes = 0;
    for (const float gradient : gradients) {
      slopes += static_cast<double>(gradient);
    }
    const double slope =
        logit == 0 ? 1.0 / 6
                   : -a * ((2 + std::log(a)) / ((1 - a) * (1 - a)) + 2 * a * std::log(a) / std::pow(1 - a, 3));
    EXPECT_NEAR(slopes / draws, slope, 4 * 0.08 / std::sqrt(draws)) << logit;
  }
}

TEST(MaskedKernelsTest, KeysSeparateSeedStageStepCallTensorSampleAndIndex) {
  const MaskNoise noise = {.key = mask_key(1, 0), .step = 0, .call = 0, .tensor = 0};
  const double first = mask_uniform(noise, 0, 0);
  MaskNoise other = noise;
  other.key = mask_key(2, 0);
  EXPECT_NE(first, mask_uniform(other, 0, 0));
  other.key = mask_key(1, 1);
  EXPECT_NE(first, mask_uniform(other, 0, 0));
  other = noise;
  other.step = 1;
  EXPECT_NE(first, mask_uniform(other, 0, 0));
  other = noise;
  other.call = 1;
  EXPECT_NE(first, mask_uniform(other, 0, 0));
  other = noise;
  other.tensor = 1;
  EXPECT_NE(first, mask_uniform(other, 0, 0));
  EXPECT_NE(first, mask_uniform(noise, 1, 0));
  EXPECT_NE(first, mask_uniform(noise, 4, 0));
  EXPECT_NE(first, mask_uniform(noise, 0, 1));
}

}  // namespace
}  // namespace modlab::engine::solo

// The solo kernels against sums written out in double precision, and the same bits from every target.

#include "engine/solo/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/solo/parameters.h"
#include "engine/solo/pixels.h"
#include "engine/solo_everywhere.h"

namespace modlab::engine::solo {
namespace {

struct Sizes {
  int rows, in, out;
};
// Rows beyond a few tiles, so that panels are copied, and beyond those whose gradients are added at once.
constexpr Sizes kSizes[] = {{1, 1, 1},   {5, 3, 16},   {6, 16, 3},    {7, 17, 17},   {1, 130, 100}, {128, 3, 1},
                            {5, 1, 130}, {6, 100, 16}, {128, 17, 36}, {7, 130, 300}, {32, 40, 70},  {300, 27, 33}};

TEST(SoloKernels, LayerForwardIsTheSumOfProducts) {
  for (const auto& [rows, in, out] : kSizes) {
    for (const bool plain : {false, true}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out);
      Numbers numbers;
      // Rows of x are further apart than they are read.
      const int x_stride = in + 3;
      std::vector<double> x = numbers.list(static_cast<std::size_t>(rows) * x_stride);
      for (int row = 0; row < rows; ++row) {
        std::fill_n(x.begin() + row * x_stride + in, x_stride - in, std::nan(""));
      }
      const int units = padded(out);
      const std::vector<double> weights = numbers.rows(in, out);
      const std::vector<double> bias = numbers.rows(1, out);
      std::vector<double> expected(static_cast<std::size_t>(rows + kSpareRows) * units, kUntouched);
      for (int row = 0; row < rows; ++row) {
        for (int unit = 0; unit < units; ++unit) {
          double sum = plain ? 0 : bias[unit];
          for (int input = 0; input < in; ++input) {
            sum += x[row * x_stride + input] * weights[input * units + unit];
          }
          expected[row * units + unit] = plain ? sum : std::max(0.0, sum);
        }
      }
      expect_everywhere(expected, [&, rows = rows, in = in, out = out]<typename T>(const Kernels<T>& kernels) {
        const auto given = aligned<T>(x);
        const auto w = aligned<T>(weights);
        const auto b = aligned<T>(bias);
        AlignedVector<T> y(expected.size(), static_cast<T>(kUntouched));
        kernels.layer_forward({.x = given.data(),
                               .x_stride = x_stride,
                               .weights = w.data(),
                               .bias = plain ? nullptr : b.data(),
                               .y = y.data(),
                               .rows = rows,
                               .in = in,
                               .out = out,
                               .relu = !plain});
        return y;
      });
    }
  }
}

TEST(SoloKernels, LayerInputGradientIsZeroWhereTheUnitWasSilent) {
  for (const auto& [rows, in, out] : kSizes) {
    for (const bool plain : {false, true}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out);
      Numbers numbers;
      const int inputs = padded(in);
      const int outputs = padded(out);
      const std::vector<double> dy = numbers.rows(rows, out);
      const std::vector<double> transposed = numbers.rows(out, in);
      std::vector<double> x = numbers.rows(rows, in);
      // Exactly zero is what a ReLU leaves.
      std::ranges::transform(x, x.begin(), [](double value) { return std::max(0.0, value); });
      std::vector<double> expected(static_cast<std::size_t>(rows + kSpareRows) * inputs, kUntouched);
      for (int row = 0; row < rows; ++row) {
        for (int input = 0; input < inputs; ++input) {
          double sum = 0;
          for (int unit = 0; unit < out; ++unit) {
            sum += dy[row * outputs + unit] * transposed[unit * inputs + input];
          }
          expected[row * inputs + input] = plain || x[row * inputs + input] > 0 ? sum : 0;
        }
      }
      expect_everywhere(expected, [&, rows = rows, in = in, out = out]<typename T>(const Kernels<T>& kernels) {
        const auto upstream = aligned<T>(dy);
        const auto w = aligned<T>(transposed);
        const auto below = aligned<T>(x);
        AlignedVector<T> dx(expected.size(), static_cast<T>(kUntouched));
        kernels.layer_input_gradient({.dy = upstream.data(),
                                      .transposed = w.data(),
                                      .x = plain ? nullptr : below.data(),
                                      .dx = dx.data(),
                                      .rows = rows,
                                      .in = in,
                                      .out = out});
        return dx;
      });
    }
  }
}

TEST(SoloKernels, LayerWeightGradientIsAddedToWhatIsThere) {
  for (const auto& [rows, in, out] : kSizes) {
    SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out);
    Numbers numbers;
    const int units = padded(out);
    const int x_stride = in + 5;
    const std::vector<double> x = numbers.list(static_cast<std::size_t>(rows) * x_stride);
    const std::vector<double> dy = numbers.rows(rows, out);
    // Weights, and behind them the bias.
    const std::vector<double> before = numbers.rows(in + 1, out);
    std::vector<double> expected = before;
    for (int row = 0; row < rows; ++row) {
      for (int unit = 0; unit < out; ++unit) {
        for (int input = 0; input < in; ++input) {
          expected[input * units + unit] += x[row * x_stride + input] * dy[row * units + unit];
        }
        expected[in * units + unit] += dy[row * units + unit];
      }
    }
    expect_everywhere(expected, [&, rows = rows, in = in, out = out]<typename T>(const Kernels<T>& kernels) {
      const auto below = aligned<T>(x);
      const auto upstream = aligned<T>(dy);
      AlignedVector<T> gradients = aligned<T>(before);
      kernels.layer_weight_gradient({.x = below.data(),
                                     .x_stride = x_stride,
                                     .dy = upstream.data(),
                                     .weights = gradients.data(),
                                     .bias = gradients.data() + static_cast<std::ptrdiff_t>(in) * units,
                                     .rows = rows,
                                     .in = in,
                                     .out = out});
      return gradients;
    });
  }
}

// The first layer: images of every sort, the first without any pixel and the second full of them.
struct PixelCase {
  int pixels, parts, units, rows;
  bool normalized = false;
};
std::ostream& operator<<(std::ostream& stream, const PixelCase& c) {
  return stream << c.rows << " rows of " << c.parts << " images of " << c.pixels << " pixels to " << c.units << " units"
                << (c.normalized ? ", normalized" : "");
}
constexpr PixelCase kPixelCases[] = {
    {2, 1, 1, 1},     {16, 2, 3, 5},    {36, 1, 16, 6},        {64, 3, 17, 7},          {784, 1, 100, 128},
    {784, 2, 130, 7}, {112, 2, 128, 5}, {114, 2, 256, 6},      {784, 2, 300, 5},        {224, 4, 36, 7},
    {1, 1, 3, 5},     {1, 3, 16, 6},    {25, 1, 17, 7},        {25, 2, 130, 5},         {729, 3, 36, 6},
    {113, 2, 128, 7}, {111, 2, 16, 5},  {36, 2, 17, 6, true},  {784, 1, 130, 5, true},  {25, 2, 17, 5, true},
    {4095, 1, 16, 2}, {4096, 2, 3, 2},  {64, 1, 16, 1, false}, {64, 2, 130, 128, false}};

class PixelLayer {
 public:
  explicit PixelLayer(const PixelCase& c) : case_(c) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(kImages) * c.pixels);
    for (int image = 1; image < kImages; ++image) {
      for (int pixel = 0; pixel < c.pixels; ++pixel) {
        const bool is_there = image == 1 || random_.below(5) == 0;
        bytes[image * c.pixels + pixel] = is_there ? random_.byte() : 0;
      }
    }
    // The very last pixel is the one that an odd number of them leaves alone.
    bytes.back() = 255;
    images = make_pixel_images(bytes, c.pixels, c.normalized);
    for (const std::uint8_t byte : bytes) {
      const double value = static_cast<float>(byte) / 255.0F;
      pixels_.push_back(c.normalized ? static_cast<float>((static_cast<float>(value) - 0.1307F) / 0.3081F) : value);
    }
    // The full, the last and the empty one are met even by a few rows.
    numbers = {1, kImages - 1, 0};
    while (numbers.size() < static_cast<std::size_t>(c.rows * stride())) {
      numbers.push_back(static_cast<std::uint32_t>(random_.below(kImages)));
    }
    layout.add("weight", {c.units, c.parts * c.pixels}, Rate::kFunctional, 1, 1);
    layout.add("bias", {c.units}, Rate::kFunctional, 1, 1);
    for (std::size_t index = 0; index < layout.count; ++index) {
      parameters.push_back(static_cast<float>(random_.next()));
    }
  }

  // Rows may have more images than this layer reads.
  int stride() const { return case_.parts + 1; }
  int units() const { return padded(case_.units); }
  int inputs() const { return case_.parts * even(case_.pixels); }
  PixelRows rows() const { return {&images, numbers.data(), stride(), case_.parts, case_.rows}; }
  double x(int row, int input) const {
    const std::uint32_t image = numbers[row * stride() + input / case_.pixels];
    return pixels_[image * case_.pixels + input % case_.pixels];
  }
  std::vector<PixelTensor> tensors() const { return {{0, case_.parts}}; }
  Numbers& random() { return random_; }

  // As an image reader does it: block by block.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    for (int unit = 0; unit < units(); unit += kPixelUnits) {
      visit(unit, std::min(kPixelUnits, units() - unit), static_cast<std::size_t>(unit) * inputs());
    }
  }

  static constexpr int kImages = 9;
  PixelImages images;
  std::vector<std::uint32_t> numbers;
  Layout layout;
  std::vector<float> parameters;

 private:
  PixelCase case_;
  Numbers random_;
  std::vector<double> pixels_;
};

TEST(SoloKernels, PixelForwardIsTheSumOfProducts) {
  for (const PixelCase& c : kPixelCases) {
    SCOPED_TRACE(c);
    PixelLayer layer(c);
    const int all = c.parts * c.pixels;
    for (const bool plain : {false, true}) {
      std::vector<double> expected(static_cast<std::size_t>(c.rows + kSpareRows) * layer.units(), kUntouched);
      for (int row = 0; row < c.rows; ++row) {
        for (int unit = 0; unit < layer.units(); ++unit) {
          double sum = plain || unit >= c.units ? 0 : layer.parameters[all * c.units + unit];
          for (int input = 0; unit < c.units && input < all; ++input) {
            sum += layer.x(row, input) * layer.parameters[unit * all + input];
          }
          expected[row * layer.units() + unit] = plain ? sum : std::max(0.0, sum);
        }
      }
      expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
        Parameters<T> parameters(layer.layout, layer.tensors());
        parameters.load(layer.parameters);
        AlignedVector<T> y(expected.size(), static_cast<T>(kUntouched));
        layer.for_each_block([&](int unit, int units, std::size_t offset) {
          kernels.pixel_forward({.x = layer.rows(),
                                 .weights = parameters.values(0) + offset,
                                 .bias = plain ? nullptr : parameters.values(1) + unit,
                                 .y = y.data() + unit,
                                 .y_stride = layer.units(),
                                 .units = units,
                                 .relu = !plain});
        });
        return y;
      });
    }
  }
}

TEST(SoloKernels, PixelGradientIsTheSumOverRows) {
  // Kept from case to case, as a reader keeps it from batch to batch.
  PixelColumns columns;
  for (const PixelCase& c : kPixelCases) {
    SCOPED_TRACE(c);
    PixelLayer layer(c);
    const int all = c.parts * c.pixels;
    const std::vector<double> dy = layer.random().rows(c.rows, c.units);
    for (const bool add : {false, true}) {
      std::vector<double> expected(layer.layout.count);
      for (int unit = 0; unit < c.units; ++unit) {
        for (int input = 0; input < all; ++input) {
          double sum = add ? layer.parameters[unit * all + input] : 0;
          for (int row = 0; row < c.rows; ++row) {
            sum += layer.x(row, input) * dy[row * layer.units() + unit];
          }
          expected[unit * all + input] = sum;
        }
      }
      make_columns(layer.rows(), columns);
      ASSERT_EQ(columns.pairs() * 2, layer.inputs());
      expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
        Parameters<T> parameters(layer.layout, layer.tensors());
        const auto upstream = aligned<T>(dy);
        if (add) {
          parameters.all_gradients() = parameters.arranged(layer.parameters);
        } else {
          // What was there before plays no part.
          std::fill_n(parameters.gradients(0), parameters.padded_count(0), static_cast<T>(kUntouched));
        }
        std::fill_n(parameters.gradients(1), layer.units(), T{0});
        layer.for_each_block([&](int unit, int units, std::size_t offset) {
          // All inputs at once, or some at a time.
          const int step = add ? columns.pairs() : 7;
          for (int first = 0; first < columns.pairs(); first += step) {
            kernels.pixel_gradient({.columns = &columns,
                                    .first = first,
                                    .last = std::min(first + step, columns.pairs()),
                                    .dy = upstream.data() + unit,
                                    .dy_stride = layer.units(),
                                    .gradients = parameters.gradients(0) + offset + 2 * first * units,
                                    .units = units,
                                    .add = add});
          }
        });
        const std::vector<T> in_order = parameters.gradients_in_order();
        // Padding gets no gradient. (An input that no image has gets one where black is not zero; nothing reads it.)
        if (!c.normalized || c.pixels % 2 == 0) {
          const auto is_set = [](T value) { return value != 0; };
          EXPECT_EQ(std::ranges::count_if(parameters.all_gradients(), is_set), std::ranges::count_if(in_order, is_set));
        }
        return AlignedVector<T>(in_order.begin(), in_order.end());
      });
    }
  }
}

TEST(SoloKernels, OutputLossIsThatOfTheFormula) {
  constexpr int kCount = 3 * kUnitPad;
  constexpr double kScale = 1.0 / 64;
  Numbers numbers;
  std::vector<double> z;
  std::vector<double> targets;
  for (int at = 0; at < kCount; ++at) {
    const double size = at < 16 ? 1 : at < 32 ? 8 : 40;
    z.push_back(at == 3 ? 0 : static_cast<float>(size * numbers.next()));
    targets.push_back(numbers.below(2));
  }
  for (const LossKind kind : {LossKind::kBce, LossKind::kMse}) {
    std::vector<double> expected;
    std::vector<double> gradients;
    for (int at = 0; at < kCount; ++at) {
      const double p = 1 / (1 + std::exp(-z[at]));
      const double error = p - targets[at];
      const double against = targets[at] > 0 ? -z[at] : z[at];
      expected.push_back(kind == LossKind::kMse ? error * error
                                                : std::max(0.0, against) + std::log1p(std::exp(-std::abs(z[at]))));
      gradients.push_back(kScale * (kind == LossKind::kMse ? 2 * error * p * (1 - p) : error));
    }
    expected.insert(expected.end(), gradients.begin(), gradients.end());
    expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
      const auto given = aligned<T>(z);
      const auto wanted = aligned<T>(targets);
      AlignedVector<T> both(2 * kCount, static_cast<T>(kUntouched));
      OutputLoss<T> arguments{.z = given.data(),
                              .targets = wanted.data(),
                              .d = both.data() + kCount,
                              .loss = both.data(),
                              .scale = static_cast<T>(kScale),
                              .kind = kind,
                              .count = kCount};
      kernels.output_loss(arguments);
      // Either alone is the same.
      AlignedVector<T> alone(2 * kCount, static_cast<T>(kUntouched));
      arguments.d = nullptr;
      arguments.loss = alone.data();
      kernels.output_loss(arguments);
      arguments.d = alone.data() + kCount;
      arguments.loss = nullptr;
      kernels.output_loss(arguments);
      EXPECT_EQ(alone, both);
      return both;
    });
  }
}

TEST(SoloKernels, DotIsTheSumOfProducts) {
  for (const std::size_t count : {std::size_t{16}, std::size_t{32}, std::size_t{48}, std::size_t{128 * 304}}) {
    Numbers numbers;
    const std::vector<double> a = numbers.list(count);
    const std::vector<double> b = numbers.list(count);
    double sum = 0;
    for (std::size_t at = 0; at < count; ++at) {
      sum += a[at] * b[at];
    }
    expect_everywhere({sum}, [&]<typename T>(const Kernels<T>& kernels) {
      const auto left = aligned<T>(a);
      const auto right = aligned<T>(b);
      return AlignedVector<T>{kernels.dot(left.data(), right.data(), count)};
    });
  }
}

TEST(SoloKernels, SigmoidAndExponential) {
  std::vector<double> x;
  for (int at = 0; at < 11 * kUnitPad; ++at) {
    x.push_back(static_cast<float>(-40 + 0.25 * at + 0.001 * (at % 7)));
  }
  const int count = static_cast<int>(x.size());
  std::vector<double> sigmoids;
  std::vector<double> exponentials;
  for (const double value : x) {
    sigmoids.push_back(1 / (1 + std::exp(-value)));
    exponentials.push_back(std::exp(value));
  }
  expect_everywhere(sigmoids, [&]<typename T>(const Kernels<T>& kernels) {
    const auto given = aligned<T>(x);
    AlignedVector<T> y(x.size());
    kernels.sigmoid(given.data(), y.data(), count);
    for (std::size_t at = 0; at < y.size(); ++at) {
      EXPECT_NEAR(y[at] / sigmoids[at], 1, 1e-6) << x[at];
    }
    return y;
  });
  expect_everywhere(exponentials, [&]<typename T>(const Kernels<T>& kernels) {
    const auto given = aligned<T>(x);
    AlignedVector<T> y(x.size());
    kernels.exponential(given.data(), y.data(), count);
    for (std::size_t at = 0; at < y.size(); ++at) {
      EXPECT_NEAR(y[at] / exponentials[at], 1, 1e-6) << x[at];
    }
    return y;
  });
}

template <typename List>
std::vector<int> numbers_of(const List& list) {
  return {list.begin(), list.end()};
}

TEST(PixelImagesTest, HaveThePixelsThatAreNotZero) {
  // Three images of five pixels: one with gaps, none at all, and the last pixel alone.
  const std::vector<std::uint8_t> bytes = {7, 0, 0, 255, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  const PixelImages images = make_pixel_images(bytes, 5, false);
  EXPECT_EQ(images.count(), 3U);
  EXPECT_EQ(images.bands(), 1U);
  EXPECT_EQ(numbers_of(images.places), (std::vector<int>{0, 3, 4, 4}));
  EXPECT_EQ(numbers_of(images.bytes), (std::vector<int>{7, 255, 9, 3}));
  EXPECT_EQ(numbers_of(images.begin), (std::vector<int>{0, 3, 3, 4}));
  EXPECT_EQ(numbers_of(images.pairs_begin), (std::vector<int>{0, 3, 3, 4}));
  EXPECT_EQ(images.pairs[1].place, 1);
  EXPECT_EQ(images.pairs[1].left, 0);
  EXPECT_EQ(images.pairs[1].right, 255);
  EXPECT_EQ(images.pairs[3].place, 2);
  EXPECT_EQ(images.value_of_byte[255], 1.0F);
  EXPECT_EQ(images.value_of_byte[0], 0.0F);
  // Normalised, black is not zero, and all pixels are there.
  const PixelImages normalized = make_pixel_images(bytes, 5, true);
  EXPECT_EQ(normalized.places.size(), 15U);
  EXPECT_FLOAT_EQ(normalized.value_of_byte[0], -0.1307F / 0.3081F);
  EXPECT_FLOAT_EQ(normalized.value_of_byte[255], 0.8693F / 0.3081F);
}

TEST(PixelImagesTest, HaveAnEntryForEachBand) {
  const int pixels = 2 * kBandPixels + 3;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2) * pixels);
  bytes[kBandPixels - 1] = 1;
  bytes[kBandPixels] = 2;
  bytes[pixels - 1] = 3;
  const PixelImages images = make_pixel_images(bytes, pixels, false);
  EXPECT_EQ(images.bands(), 3U);
  EXPECT_EQ(numbers_of(images.begin), (std::vector<int>{0, 1, 2, 3, 3, 3, 3}));
}

TEST(SoloParameters, AreLoadedAndSavedAsTheyWere) {
  Layout layout;
  layout.add("pixels", {130, 2 * 25}, Rate::kFunctional, 50, 130);
  layout.add("pixels.bias", {130}, Rate::kFunctional, 50, 130);
  layout.add("convolution", {6, 2, 5, 5}, Rate::kFunctional, 50, 150);
  layout.add("layer", {3, 17}, Rate::kFunctional, 17, 3);
  layout.add("layer.bias", {3}, Rate::kFunctional, 17, 3);
  layout.add("selection", {5, 3}, Rate::kInput, 0, 0);
  const std::vector<PixelTensor> pixel_tensors = {{0, 2}};
  Parameters<float> parameters(layout, pixel_tensors);
  std::vector<float> flat(layout.count);
  for (std::size_t index = 0; index < flat.size(); ++index) {
    flat[index] = static_cast<float>(index + 1);
  }
  parameters.load(flat);
  EXPECT_EQ(parameters.save(), flat);
  EXPECT_EQ(parameters.in_order(parameters.all_values()), flat);
  EXPECT_EQ(parameters.arranged(flat), parameters.all_values());
  EXPECT_EQ(std::ranges::count_if(parameters.all_values(), [](float value) { return value != 0; }),
            static_cast<std::ptrdiff_t>(flat.size()))
      << "padding is zero, and every parameter has one place";
  for (std::size_t tensor = 0; tensor < layout.tensors.size(); ++tensor) {
    EXPECT_EQ(parameters.offset(tensor) % kUnitPad, 0U);
    EXPECT_GE(parameters.padded_count(tensor), layout.tensors[tensor].count);
  }
  const auto value = [&](std::size_t tensor, std::size_t index) { return flat[layout.tensors[tensor].offset + index]; };
  // [input][unit], in blocks of 128 units; the second image's pixels begin at an even place.
  EXPECT_EQ(parameters.values(0)[1], value(0, 50));
  EXPECT_EQ(parameters.values(0)[128], value(0, 1));
  EXPECT_EQ(parameters.values(0)[26 * 128], value(0, 25));
  EXPECT_EQ(parameters.values(0)[52 * 128 + 1], value(0, 129 * 50));
  EXPECT_EQ(parameters.values(0)[52 * 128 + 16], value(0, 128 * 50 + 1));
  EXPECT_EQ(parameters.values(2)[16], value(2, 1));
  EXPECT_EQ(parameters.values(2)[1], value(2, 50));
  EXPECT_EQ(parameters.values(3)[16 * 4 + 2], value(3, 2 * 17 + 4));
  EXPECT_EQ(parameters.values(5)[14], value(5, 14));

  parameters.all_gradients() = parameters.arranged(flat);
  EXPECT_EQ(parameters.gradients_in_order(), flat);
  EXPECT_EQ(parameters.gradients(3)[16 * 4 + 2], value(3, 2 * 17 + 4));
}

}  // namespace
}  // namespace modlab::engine::solo

// Networks on images: the kernels' gradients in double precision against central differences, for every weight and bias
// of every architecture. Selection vectors stand still, so that the picks do; their gradients are compared with
// PyTorch's (tests/parity).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "core/text.h"
#include "engine/solo/pixels.h"
#include "models/images/image_blueprint.h"
#include "models/training_settings.h"
#include "small_images.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

using engine::solo::kChunkRows;
using engine::solo::PixelImages;

// Small: a ReLU or a maximum that changes sides within the step would spoil the difference, and there are thousands.
constexpr double kStep = 1e-7;
constexpr double kAbsolute = 1e-7;
constexpr double kRelative = 1e-4;
// Of a tensor of convolutions not every weight is moved by itself: that would take seconds.
constexpr std::size_t kMostElements = 60;

struct Case {
  const char* name;
  const char* settings;
  int size = 6;
  int rows = 5;
};

constexpr Case kCases[] = {
    {"dense", "model=dense hidden=9,7"},
    {"dense_odd_pixels", "model=dense hidden=9,7", 5},
    {"dense_three_images_of_odd_pixels", "model=dense hidden=6 task=mnist-three", 3},
    {"dense_more_units_than_a_block", "model=dense hidden=131,3", 3, 3},
    {"dense_more_rows_than_a_chunk", "model=dense hidden=5", 3, 150},
    {"dense_mse", "model=dense hidden=8 loss=mse"},
    {"dense_normalized", "model=dense hidden=9,7 normalize=true", 5},
    {"cnn", "model=cnn hidden=5", 16, 2},
    {"cnn_not_square_to_the_pools", "model=cnn hidden=5", 19, 1},
    {"modular", "model=modular image_widths=9,7"},
    {"modular_odd_pixels", "model=modular image_widths=9,7", 5},
    {"modular_without_hidden_layers", "model=modular image_widths=36,3"},
    {"modular_three_slots", "model=modular image_widths=9 image_slots=3"},
    {"modular_three_images", "model=modular image_widths=9 task=mnist-three"},
    {"modular_gumbel_batch", "model=modular image_widths=9 gumbel=batch"},
    {"modular_more_rows_than_a_chunk", "model=modular image_widths=4", 3, 150},
    {"modular_fc", "model=modular-fc image_widths=9"},
    {"modular_outputs_from_all", "model=modular image_widths=9 outputs_from=all"},
    {"modular_conv", "model=modular image_module=conv", 16, 2},
    {"modular_conv_layers", "model=modular image_module=conv image_widths=6", 20, 1},
    {"shared", "model=modular-shared image_widths=9,7"},
    {"shared_image_pool_of_two", "model=modular-shared image_widths=9,7 image_pool=2"},
    {"shared_four_slots_and_two_readers", "model=modular-shared image_widths=9 image_pool=2 image_slots=4 slots=4,3"},
    {"shared_gumbel_batch", "model=modular-shared image_widths=9 image_pool=2 gumbel=batch"},
    {"shared_fcms", "model=modular-shared-fcms image_widths=9"},
    {"shared_fcms_more_rows_than_a_chunk", "model=modular-shared-fcms image_widths=4", 3, 150},
    {"shared_conv", "model=modular-shared image_module=conv", 16, 2},
    {"shared_conv_image_pool_of_two", "model=modular-shared image_module=conv image_pool=2", 16, 2},
};

class ImageGradientTest : public testing::TestWithParam<Case> {
 protected:
  ImageGradientTest() {
    const test::SmallImages files{.rows = GetParam().size, .columns = GetParam().size, .per_digit = 1};
    files.write(folder_);
    spec_ = models::published_image_spec();
    spec_.task = "mnist-xor-and";
    for (const std::string& word : split_text(GetParam().settings, ' ')) {
      const std::size_t equals = word.find('=');
      models::image_settings().set(spec_, word.substr(0, equals), word.substr(equals + 1));
    }
    spec_.images = files.images(folder_.file(""));
    spec_.labels = files.labels(folder_.file(""));
    suite_ = tasks::load_task(spec_.task);
    spec_ = models::resolve(spec_, suite_);
    blueprint_ = models::make_blueprint(spec_, suite_);
    lane_ = models::make_lane(spec_, blueprint_);
    network_ = models::make_network<double>(blueprint_, engine::solo::oracle_kernels());
    make_batch();
  }

  void make_batch() {
    RandomSequence random(7, Stream::kInputNoise);
    const int pixels = GetParam().size * GetParam().size;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(kImages) * pixels);
    for (std::uint8_t& byte : bytes) {
      byte = random.next_uniform() < 0.4 ? 0 : static_cast<std::uint8_t>(256 * random.next_uniform());
    }
    // Some image has each last pixel, also the one that an odd number leaves alone.
    bytes.back() = 200;
    images_ = engine::solo::make_pixel_images(bytes, pixels, spec_.normalize);
    for (int row = 0; row < rows(); ++row) {
      for (int image = 0; image < image_count(); ++image) {
        numbers_.push_back(static_cast<std::uint32_t>(kImages - 1 - (row * image_count() + image) % kImages));
      }
      for (int output = 0; output < suite_.outputs(); ++output) {
        targets_.push_back(random.next_uniform() < 0.5 ? 0 : 1);
      }
    }
    step_.inverse_tau = lane_.inverse_tau;
    if (!spec_.is_mlp() && spec_.gumbel != engine::Gumbel::kOff) {
      for (std::size_t element = 0; element < blueprint_.layout.structural_count; ++element) {
        noise_.push_back(2 * random.next_normal());
      }
      step_.noise = noise_.data();
    }
    // Where each parameter lies in the network.
    std::vector<float> places(blueprint_.layout.count);
    std::iota(places.begin(), places.end(), 1.0F);
    const AlignedVector<double> arranged = network_->parameters().arranged(places);
    place_of_.resize(places.size());
    for (std::size_t place = 0; place < arranged.size(); ++place) {
      if (arranged[place] > 0) {
        place_of_[static_cast<std::size_t>(arranged[place]) - 1] = place;
      }
    }
  }

  int rows() const { return GetParam().rows; }
  int image_count() const { return suite_.images()->images; }
  bool convolves() const {
    return spec_.model == models::ModelKind::kCnn || spec_.image_module == models::ImageModule::kConvolution;
  }

  // The loss of the batch; with `learn` its gradient lies in the network.
  double loss(bool learn) {
    const int outputs = suite_.outputs();
    network_->begin_step(step_);
    double sum = 0;
    logits_.clear();
    for (int first = 0; first < rows(); first += kChunkRows) {
      const int count = std::min(kChunkRows, rows() - first);
      const engine::solo::Samples samples{&images_, numbers_.data() + first * image_count(), count};
      const engine::solo::Logits<double> logits = network_->forward(samples);
      AlignedVector<double> gradients(static_cast<std::size_t>(outputs) * kChunkRows);
      for (int row = 0; row < count; ++row) {
        for (int output = 0; output < outputs; ++output) {
          const double z = logits.values[output * logits.stride + row];
          const double target = targets_[(first + row) * outputs + output];
          const double p = 1 / (1 + std::exp(-z));
          const bool is_mse = spec_.loss == engine::LossKind::kMse;
          sum += is_mse ? (p - target) * (p - target) : -(target * std::log(p) + (1 - target) * std::log(1 - p));
          gradients[output * kChunkRows + row] =
              (p - target) * (is_mse ? 2 * p * (1 - p) : 1) / (static_cast<double>(rows()) * outputs);
          logits_.push_back(z);
        }
      }
      if (learn) {
        network_->backward(samples, gradients.data());
      }
    }
    if (learn) {
      network_->end_step(step_);
    }
    return sum / (static_cast<double>(rows()) * outputs);
  }

  // The slope of the loss along a direction: elements and how far each goes.
  double difference(const std::vector<std::pair<std::size_t, double>>& moves) {
    AlignedVector<double>& values = network_->parameters().all_values();
    const AlignedVector<double> before = values;
    const auto loss_at = [&](double step) {
      for (const auto& [index, move] : moves) {
        values[place_of_[index]] = before[place_of_[index]] + step * move;
      }
      return loss(false);
    };
    const double above = loss_at(kStep);
    const double below = loss_at(-kStep);
    values = before;
    return (above - below) / (2 * kStep);
  }

  static constexpr int kImages = 7;
  test::TemporaryFolder folder_;
  models::ImageSpec spec_;
  tasks::TaskSuite suite_;
  models::ImageBlueprint blueprint_;
  engine::LaneSettings lane_;
  std::unique_ptr<engine::solo::Network<double>> network_;
  PixelImages images_;
  std::vector<std::uint32_t> numbers_;
  std::vector<double> targets_;
  std::vector<double> noise_;
  engine::solo::Step<double> step_;
  std::vector<std::size_t> place_of_;
  std::vector<double> logits_;  // [row][output] of the last loss
};

TEST_P(ImageGradientTest, EqualsCentralDifferences) {
  network_->parameters().load(lane_.initial);
  loss(true);
  const std::vector<double> gradients = network_->parameters().gradients_in_order();
  int moved = 0;
  for (const engine::Tensor& tensor : blueprint_.layout.tensors) {
    const std::size_t end = tensor.offset + tensor.count;
    if (tensor.rate == engine::Rate::kFrozen) {
      EXPECT_EQ(std::count(gradients.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                           gradients.begin() + static_cast<std::ptrdiff_t>(end), 0.0),
                static_cast<std::ptrdiff_t>(tensor.count))
          << tensor.name;
    }
    if (tensor.fan_in == 0) {
      continue;
    }
    // An odd stride meets every channel and every place of a window.
    const bool some = convolves() && tensor.count > kMostElements;
    const std::size_t stride = some ? tensor.count / kMostElements | 1U : 1U;
    for (std::size_t index = tensor.offset; index < end; index += stride) {
      const double expected = difference({{index, 1.0}});
      ASSERT_NEAR(gradients[index], expected, kAbsolute + kRelative * std::abs(expected))
          << tensor.name << " element " << index - tensor.offset;
      moved += std::abs(expected) > 1e-6 ? 1 : 0;
    }
    // Those that were left out, all at once and to either side.
    RandomSequence random(tensor.offset, Stream::kInitialWeights);
    for (int direction = 0; some && direction < 4; ++direction) {
      std::vector<std::pair<std::size_t, double>> moves;
      double along = 0;
      for (std::size_t index = tensor.offset; index < end; ++index) {
        moves.emplace_back(index, random.next_uniform() < 0.5 ? -0.1 : 0.1);
        along += moves.back().second * gradients[index];
      }
      const double expected = difference(moves);
      ASSERT_NEAR(along, expected, 1e-6 + 1e-3 * std::abs(expected)) << tensor.name;
    }
  }
  // A check against nothing but zeros would show nothing.
  EXPECT_GT(moved, 30);
}

// Differences of a wrong forward pass would agree with its gradients: here layers are sums written out.
class ImageLayersTest : public ImageGradientTest {};

TEST_P(ImageLayersTest, AreTheSumsOfProducts) {
  network_->parameters().load(lane_.initial);
  loss(false);
  const int pixels = GetParam().size * GetParam().size;
  for (int row = 0; row < rows(); ++row) {
    std::vector<double> x;
    for (int image = 0; image < image_count(); ++image) {
      const std::uint32_t number = numbers_[row * image_count() + image];
      std::vector<double> values(pixels);
      const std::size_t bands = images_.bands();
      for (std::uint32_t at = images_.begin[number * bands]; at < images_.begin[(number + 1) * bands]; ++at) {
        values[images_.places[at]] = images_.value_of_byte[images_.bytes[at]];
      }
      x.insert(x.end(), values.begin(), values.end());
    }
    for (std::size_t layer = 0; layer < blueprint_.layout.tensors.size(); layer += 2) {
      const engine::Tensor& weight = blueprint_.layout.tensors[layer];
      const engine::Tensor& bias = blueprint_.layout.tensors[layer + 1];
      std::vector<double> y;
      for (std::size_t unit = 0; unit < bias.count; ++unit) {
        double sum = lane_.initial[bias.offset + unit];
        for (std::size_t input = 0; input < x.size(); ++input) {
          sum += lane_.initial[weight.offset + unit * x.size() + input] * x[input];
        }
        y.push_back(layer + 2 < blueprint_.layout.tensors.size() ? std::max(0.0, sum) : sum);
      }
      x = y;
    }
    for (std::size_t output = 0; output < x.size(); ++output) {
      ASSERT_NEAR(logits_[row * x.size() + output], x[output], 1e-12) << "row " << row;
    }
  }
}

std::vector<Case> dense_cases() {
  std::vector<Case> found;
  std::ranges::copy_if(kCases, std::back_inserter(found),
                       [](const Case& c) { return std::string(c.settings).starts_with("model=dense"); });
  return found;
}

INSTANTIATE_TEST_SUITE_P(Architectures, ImageGradientTest, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });
INSTANTIATE_TEST_SUITE_P(Dense, ImageLayersTest, testing::ValuesIn(dense_cases()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace modlab

#include "torch/colour_network.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <array>

#include "core/random.h"
#include "torch/labelled_samples.h"

namespace modlab::on_torch {
namespace {

using models::ColourNetworkKind;
using models::ColourSamples;

constexpr double kEarlyDropout = 0.25;
constexpr double kLateDropout = 0.5;
constexpr double kMomentum = 0.1;  // of what norms remember
constexpr double kEpsilon = 1e-5;
constexpr int kMostMoved = 4;  // pixels

// Where an image is cut out of itself with black around it, and whether left becomes right.
struct Move {
  int down = 0;
  int right = 0;
  bool mirrored = false;
};

Move drawn_move(std::uint64_t noise, std::uint32_t image) {
  constexpr std::uint32_t kPlaces = 2 * kMostMoved + 1;
  constexpr std::uint32_t kMoves = 0x6D6F7665;  // apart from what dropout draws
  const Words4 words = threefry(
      {image, 0, 0, 0}, {static_cast<std::uint32_t>(noise), static_cast<std::uint32_t>(noise >> 32U), kMoves, 0});
  const auto place = [](std::uint32_t word) {
    return static_cast<int>(static_cast<std::uint64_t>(word) * kPlaces >> 32U) - kMostMoved;
  };
  return {place(words[0]), place(words[1]), (words[2] & 1U) != 0};
}

}  // namespace

// One way through the network, tensor after tensor.
class ColourNetwork::Pass {
 public:
  Pass(const models::ColourShape& shape, const Tensors& parameters, Tensors& statistics, bool trains,
       std::uint64_t noise)
      : shape_(shape),
        parameters_(parameters),
        statistics_(statistics),
        trains_(trains),
        generator_(at::make_generator<at::CPUGeneratorImpl>(noise)) {}

  torch::Tensor run(const torch::Tensor& images) {
    const torch::Tensor features = shape_.kind == ColourNetworkKind::kCnn ? cnn(images) : resnet(images);
    const torch::Tensor means = features.mean({2, 3});
    const torch::Tensor weight = next();
    return torch::linear(means, weight, next());
  }

 private:
  const torch::Tensor& next() { return parameters_[parameter_++]; }

  torch::Tensor convolve_with_bias(const torch::Tensor& x) {
    const torch::Tensor weight = next();
    return torch::conv2d(x, weight, next(), 1, 1);
  }
  torch::Tensor convolve(const torch::Tensor& x, int stride) { return torch::conv2d(x, next(), {}, stride, 1); }
  // Every second pixel by itself. Not a convolution with a stride: where channels are no multiple of eight, oneDNN's
  // gradient of it writes beyond its memory on processors without AVX-512.
  torch::Tensor project_half(const torch::Tensor& x) {
    return torch::conv2d(x.slice(2, 0, c10::nullopt, 2).slice(3, 0, c10::nullopt, 2), next());
  }
  torch::Tensor norm(const torch::Tensor& x) {
    torch::Tensor& mean = statistics_[statistic_++];
    torch::Tensor& variance = statistics_[statistic_++];
    const torch::Tensor weight = next();
    return torch::batch_norm(x, weight, next(), mean, variance, trains_, kMomentum, kEpsilon, false);
  }
  torch::Tensor dropout(const torch::Tensor& x, double rate) {
    if (!trains_ || !shape_.dropout) {
      return x;
    }
    const torch::Tensor kept = torch::empty(x.sizes(), torch::kFloat).bernoulli_(1 - rate, generator_);
    return x * (kept / (1 - rate)).to(x.device());
  }

  torch::Tensor cnn(const torch::Tensor& images) {
    // The larger of some numbers and zero is the largest of them, or zero: a quarter of them is left to compare.
    torch::Tensor x = torch::relu(torch::max_pool2d(convolve_with_bias(images), 2));
    x = torch::relu(torch::max_pool2d(convolve_with_bias(x), 2));
    x = torch::relu(torch::max_pool2d(dropout(convolve_with_bias(x), kEarlyDropout), 2));
    return dropout(torch::relu(convolve_with_bias(x)), kLateDropout);
  }

  torch::Tensor resnet(const torch::Tensor& images) {
    torch::Tensor x = torch::relu(norm(convolve(images, 1)));
    for (std::size_t group = 0; group < shape_.channels.size(); ++group) {
      for (int block = 0; block < shape_.blocks; ++block) {
        const bool enters = group > 0 && block == 0;
        torch::Tensor y = torch::relu(norm(convolve(x, enters ? 2 : 1)));
        y = norm(convolve(y, 1));
        x = torch::relu(y + (enters ? norm(project_half(x)) : x));
      }
    }
    return x;
  }

  const models::ColourShape& shape_;
  const Tensors& parameters_;
  Tensors& statistics_;
  bool trains_;
  at::Generator generator_;
  std::size_t parameter_ = 0;
  std::size_t statistic_ = 0;
};

ColourNetwork::ColourNetwork(const models::ColourShape& shape, std::shared_ptr<const ColourSamples> samples,
                             const models::TorchPlace& place)
    : NetworkOnTorch("network on images", place), shape_(shape), samples_(std::move(samples)) {
  set_layout(models::colour_layout(shape));
  labels_ = torch::empty({static_cast<std::int64_t>(samples_->count())}, torch::kLong);
  std::ranges::copy(samples_->labels, labels_.data_ptr<std::int64_t>());
  labels_ = labels_.to(device());
  for (const engine::Tensor& tensor : layout().tensors) {
    if (tensor.name.find("norm") != std::string::npos && tensor.name.ends_with(".weight")) {
      statistics_.push_back(torch::zeros({tensor.shape.front()}, device()));
      statistics_.push_back(torch::ones({tensor.shape.front()}, device()));
    }
  }
}

std::vector<float> ColourNetwork::buffers() const {
  std::vector<float> all;
  for (const torch::Tensor& statistic : statistics_) {
    const std::vector<float> values = as_floats(statistic);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void ColourNetwork::set_buffers(std::span<const float> buffers) {
  for (torch::Tensor& statistic : statistics_) {
    const auto count = static_cast<std::size_t>(statistic.numel());
    const torch::Tensor values = torch::empty({statistic.numel()}, torch::kFloat);
    std::ranges::copy(buffers.first(count), values.data_ptr<float>());
    statistic = values.to(device());
    buffers = buffers.subspan(count);
  }
}

torch::Tensor ColourNetwork::inputs(std::span<const std::int64_t> rows, const std::uint64_t* noise) const {
  const int side = samples_->side;
  const auto plane = static_cast<std::size_t>(side) * side;
  torch::Tensor images = torch::empty({std::ssize(rows), ColourSamples::kColours, side, side}, torch::kFloat);
  float* to = images.data_ptr<float>();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const std::uint8_t* image = samples_->pixels.data() + static_cast<std::size_t>(rows[at]) * samples_->image_bytes();
    const Move move = noise == nullptr ? Move{} : drawn_move(*noise, static_cast<std::uint32_t>(at));
    for (std::size_t colour = 0; colour < ColourSamples::kColours; ++colour) {
      const std::uint8_t* from = image + colour * plane;
      const float mean = shape_.scale.mean[colour];
      const float scale = 1 / shape_.scale.deviation[colour];
      for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
          const int down = row + move.down;
          const int right = (move.mirrored ? side - 1 - column : column) + move.right;
          const bool is_inside = down >= 0 && down < side && right >= 0 && right < side;
          const float shade = is_inside ? from[down * side + right] : 0;
          *to++ = (shade - mean) * scale;
        }
      }
    }
  }
  // Colours of a pixel side by side: convolutions take a quarter less time than with planes, which they put in order
  // themselves each time.
  return images.to(device()).contiguous(at::MemoryFormat::ChannelsLast);
}

torch::Tensor ColourNetwork::loss(const Tensors& parameters, const models::TorchBatch& batch) {
  const std::vector<std::int64_t> rows(batch.rows.begin(), batch.rows.end());
  const torch::Tensor images = inputs(rows, shape_.augments ? &batch.noise : nullptr);
  const torch::Tensor said = Pass(shape_, parameters, statistics_, batch.trains_weights, batch.noise).run(images);
  return class_loss(said, labels_.index_select(0, as_tensor(batch.rows).to(labels_.device())), batch.outputs);
}

torch::Tensor ColourNetwork::said(const Tensors& parameters, const torch::Tensor& rows) {
  const torch::Tensor images = inputs({rows.data_ptr<std::int64_t>(), static_cast<std::size_t>(rows.numel())}, nullptr);
  return Pass(shape_, parameters, statistics_, false, 0).run(images);
}

}  // namespace modlab::on_torch

#pragma once

#include <memory>

#include "torch/network_on_torch.h"

namespace modlab::on_torch {

// Convolutions over images in colour. What it draws follows from a batch's `noise` alone; while weights are trained,
// norms take the mean and variance of the batch and remember them, and at all other times they use what they remember.
class ColourNetwork : public NetworkOnTorch {
 public:
  ColourNetwork(const models::ColourShape& shape, std::shared_ptr<const models::ColourSamples> samples,
                const models::TorchPlace& place);

  std::vector<float> initial() const override { return models::initial_colour_weights(shape_); }
  std::vector<float> buffers() const override;
  void set_buffers(std::span<const float> buffers) override;
  int answers() const override { return shape_.classes; }

 protected:
  torch::Tensor loss(const Tensors& parameters, const models::TorchBatch& batch) override;
  torch::Tensor said(const Tensors& parameters, const torch::Tensor& rows) override;

 private:
  class Pass;

  // [row][colour][row of the image][column]; moved and mirrored by what follows from `noise`, if there is any.
  torch::Tensor inputs(std::span<const std::int64_t> rows, const std::uint64_t* noise) const;

  models::ColourShape shape_;
  std::shared_ptr<const models::ColourSamples> samples_;
  torch::Tensor labels_;
  Tensors statistics_;  // mean and variance of each norm, in the order in which they are met
};

}  // namespace modlab::on_torch

#pragma once

#include <torch/script.h>

#include <functional>
#include <vector>

#include "models/torch/torch_network.h"

namespace modlab::on_torch {

using Tensors = std::vector<torch::Tensor>;

// Calls with as many threads as a network may have. What libtorch throws becomes a FormatError that begins with
// `source` and says the line that matters.
void with_libtorch(const std::string& source, int threads, const std::function<void()>& work);

// A network whose loss is a function of its parameters, which are views of our memory: nothing is copied to it.
class NetworkOnTorch : public virtual models::TorchNetwork {
 public:
  NetworkOnTorch(std::string source, const models::TorchPlace& place) : source_(std::move(source)), place_(place) {}

  const engine::Layout& layout() const override { return layout_; }
  std::vector<float> buffers() const override { return {}; }
  void set_buffers(std::span<const float> /*buffers*/) override {}

  double gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                  std::span<const std::uint8_t> wanted, std::span<float> gradients) override;
  bool draws_masks() const override { return !device().is_cpu(); }
  double mask_gradient(const models::MaskDraws& draws, std::span<const models::TorchBatch> batches,
                       std::span<const std::uint8_t> wanted, std::span<float> gradients) override;
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override;

 protected:
  // The mean loss of samples.
  virtual torch::Tensor loss(const Tensors& parameters, const models::TorchBatch& batch) = 0;
  // [row][answer]
  virtual torch::Tensor said(const Tensors& parameters, const torch::Tensor& rows) = 0;

  void add_parameter(const std::string& name, const torch::Tensor& tensor);
  void set_layout(engine::Layout layout) { layout_ = std::move(layout); }
  torch::Device device() const { return torch::Device(place_.device); }
  const std::string& source() const { return source_; }
  const models::TorchPlace& place() const { return place_; }

 private:
  Tensors views(std::span<const float> parameters) const;

  std::string source_;
  models::TorchPlace place_;
  engine::Layout layout_;
};

torch::Tensor as_tensor(std::span<const std::uint32_t> rows);
std::vector<float> as_floats(const torch::Tensor& tensor);

}  // namespace modlab::on_torch

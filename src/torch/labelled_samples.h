#pragma once

#include <torch/script.h>

#include <memory>

#include "models/torch/torch_network.h"

namespace modlab::on_torch {

// The mean loss of what a network says of samples, [row][class], whose right classes these are. `outputs`: see
// models::TorchBatch.
torch::Tensor class_loss(const torch::Tensor& said, const torch::Tensor& right, std::span<const std::uint8_t> outputs);

// Samples as libtorch has them, and how wrong answers to them are.
class LabelledSamples {
 public:
  LabelledSamples(std::shared_ptr<const models::GivenSamples> samples, const torch::Device& device);

  // Inputs become whole numbers, if they are, as an embedding wants them.
  bool take_as_whole();

  torch::Tensor inputs(const torch::Tensor& rows) const { return inputs_.index_select(0, rows.to(inputs_.device())); }
  // The mean loss of what a network says of samples, [row][output].
  torch::Tensor loss(const torch::Tensor& said, const torch::Tensor& rows, std::span<const std::uint8_t> outputs) const;
  // Throws FormatError, beginning with `source`, if labels do not fit so many outputs.
  void check(std::int64_t outputs, const std::string& source) const;
  // The same where labels are columns, which is quick.
  void check_columns(std::int64_t outputs, const std::string& source) const;
  std::int64_t count() const { return inputs_.size(0); }

 private:
  std::shared_ptr<const models::GivenSamples> samples_;
  torch::Tensor inputs_;
  torch::Tensor labels_;
};

}  // namespace modlab::on_torch

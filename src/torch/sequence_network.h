#pragma once

#include <memory>

#include "torch/network_on_torch.h"

namespace modlab::on_torch {

// Some samples as tensors, padded to the longest, in the order of their answers' lengths, longest first. What is
// asked of the decoder, and what is wanted from it, are one token after the other: of all rows, then of all that are
// not at their end, and so on ("packed").
struct SequenceBlock {
  torch::Tensor read;          // [row][place], with the end
  torch::Tensor read_lengths;  // [row]
  torch::Tensor shown;         // [row][place]: the beginning, and the answer
  torch::Tensor lengths;       // [row], of shown, and of the answer with its end
  torch::Tensor rows_at;       // [place]: rows that are so long
  torch::Tensor wanted;        // packed: the answer with its end
  torch::Tensor row_of;        // packed
};

// What training draws: which numbers are left out, the others being raised to make up for it.
class Dropout {
 public:
  Dropout(double rate, std::uint64_t seed);
  torch::Tensor operator()(const torch::Tensor& values);

 private:
  double rate_;
  torch::Generator generator_;
};

// An encoder-decoder as a function of its parameters: what it says at each place of the answers, packed,
// [place][token].
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;

  // Shown the right answer up to there; otherwise what it says itself. `dropout` may be null.
  virtual torch::Tensor logits(const Tensors& parameters, const SequenceBlock& block, bool is_shown,
                               Dropout* dropout) const = 0;
};

// `longest`: tokens of the longest sequence, its end included.
std::unique_ptr<SequenceModel> make_sequence_model(const models::SequenceShape& shape, int longest,
                                                   const torch::Device& device);

class SequenceNetwork : public NetworkOnTorch {
 public:
  SequenceNetwork(const models::SequenceShape& shape, std::shared_ptr<const models::TokenSequences> samples,
                  std::uint64_t seed, const models::TorchPlace& place);

  std::vector<float> initial() const override { return models::initial_sequence_parameters(shape_, seed_); }
  int answers() const override { return 1; }

 protected:
  torch::Tensor loss(const Tensors& parameters, const models::TorchBatch& batch) override;
  torch::Tensor said(const Tensors& parameters, const torch::Tensor& rows) override;

 private:
  SequenceBlock block_of(std::span<const std::uint32_t> rows) const;
  // Places among these rows, sorted by the lengths of answers and cut where padding would be most of a block.
  std::vector<std::vector<std::uint32_t>> blocks_of(std::span<const std::uint32_t> rows) const;

  models::SequenceShape shape_;
  std::shared_ptr<const models::TokenSequences> samples_;
  std::uint64_t seed_;
  std::unique_ptr<SequenceModel> model_;
};

}  // namespace modlab::on_torch

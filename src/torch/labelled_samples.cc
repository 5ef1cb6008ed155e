#include "torch/labelled_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/errors.h"

namespace modlab::on_torch {

using models::LabelKind;

namespace {

// [output]: whether it counts; undefined where all do.
torch::Tensor counting(std::span<const std::uint8_t> outputs, const torch::Device& device) {
  if (outputs.empty()) {
    return {};
  }
  torch::Tensor counts = torch::empty({std::ssize(outputs)}, torch::kBool);
  std::ranges::transform(outputs, counts.data_ptr<bool>(), [](std::uint8_t count) { return count != 0; });
  return counts.to(device);
}

// [row][column]
torch::Tensor losses_of(LabelKind kind, const torch::Tensor& said, const torch::Tensor& right) {
  switch (kind) {
    case LabelKind::kBits:
      return torch::binary_cross_entropy_with_logits(said, right, {}, {}, at::Reduction::None);
    case LabelKind::kNear:
      return torch::l1_loss(said, right, at::Reduction::None);
    default:
      return torch::mse_loss(said, right, at::Reduction::None);
  }
}

}  // namespace

torch::Tensor class_loss(const torch::Tensor& said, const torch::Tensor& right, std::span<const std::uint8_t> outputs) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const torch::Tensor counts = counting(outputs, said.device());
  return torch::cross_entropy_loss(counts.defined() ? said.masked_fill(counts.logical_not(), kNever) : said, right);
}

LabelledSamples::LabelledSamples(std::shared_ptr<const models::GivenSamples> samples, const torch::Device& device)
    : samples_(std::move(samples)) {
  std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(samples_->count())};
  sizes.insert(sizes.end(), samples_->shape.begin(), samples_->shape.end());
  // Nobody writes to them.
  auto* inputs = const_cast<float*>(samples_->inputs.data());
  auto* labels = const_cast<float*>(samples_->labels.data());
  inputs_ = torch::from_blob(inputs, sizes, torch::kFloat);
  labels_ = torch::from_blob(labels, {sizes.front(), samples_->columns}, torch::kFloat);
  if (samples_->kind == LabelKind::kClasses) {
    labels_ = labels_.squeeze(1).to(torch::kLong);
  }
  inputs_ = inputs_.to(device);
  labels_ = labels_.to(device);
}

bool LabelledSamples::take_as_whole() {
  inputs_ = samples_->are_whole ? inputs_.to(torch::kLong) : inputs_;
  return samples_->are_whole;
}

torch::Tensor LabelledSamples::loss(const torch::Tensor& said, const torch::Tensor& rows,
                                    std::span<const std::uint8_t> outputs) const {
  const torch::Tensor right = labels_.index_select(0, rows.to(labels_.device()));
  if (samples_->kind == LabelKind::kClasses) {
    return class_loss(said, right, outputs);
  }
  const torch::Tensor counts = counting(outputs, said.device());
  const torch::Tensor each = losses_of(samples_->kind, said, right);
  if (!counts.defined()) {
    return each.mean();
  }
  return each.masked_fill(counts.logical_not(), 0).sum() / (counts.sum() * each.size(0));
}

void LabelledSamples::check_columns(std::int64_t outputs, const std::string& source) const {
  if (samples_->kind != LabelKind::kClasses && outputs != samples_->columns) {
    throw FormatError(fmt::format("{}: has {} output{} where the labels have {} column{}", source, outputs,
                                  outputs == 1 ? "" : "s", samples_->columns, samples_->columns == 1 ? "" : "s"));
  }
}

void LabelledSamples::check(std::int64_t outputs, const std::string& source) const {
  check_columns(outputs, source);
  if (samples_->kind != LabelKind::kClasses) {
    return;
  }
  const auto most = labels_.max().item<std::int64_t>();
  if (most >= outputs) {
    throw FormatError(fmt::format(
        "{}: has {} output{}, one for each class, where a label is class {} and the first is 0; labels of one "
        "output that is 0 or 1 are a column, shape (N, 1)",
        source, outputs, outputs == 1 ? "" : "s", most));
  }
}

}  // namespace modlab::on_torch

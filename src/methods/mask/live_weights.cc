#include "methods/mask/live_weights.h"

#include <algorithm>

namespace modlab::methods {
namespace {

using Reached = std::vector<std::uint8_t>;  // [unit], 1 or 0

std::vector<const models::MaskTensor*> matrices_of(const models::WeightMask& mask) {
  std::vector<const models::MaskTensor*> matrices;
  for (const models::MaskTensor& tensor : mask.tensors) {
    if (tensor.shape.size() == 2) {
      matrices.push_back(&tensor);
    }
  }
  return matrices;
}

bool is_chain(const std::vector<const models::MaskTensor*>& matrices) {
  for (std::size_t layer = 1; layer < matrices.size(); ++layer) {
    if (matrices[layer]->shape[1] != matrices[layer - 1]->shape[0]) {
      return false;
    }
  }
  return !matrices.empty();
}

// Units of the layer above that a kept weight joins to a reached one below, or the other way round.
Reached reached_above(const models::MaskTensor& matrix, const Reached& below) {
  const std::size_t in = matrix.shape[1];
  Reached above(matrix.shape[0]);
  for (std::size_t place = 0; place < matrix.kept.size(); ++place) {
    above[place / in] = above[place / in] != 0 || (matrix.kept[place] & below[place % in]) != 0 ? 1 : 0;
  }
  return above;
}
Reached reached_below(const models::MaskTensor& matrix, const Reached& above) {
  const std::size_t in = matrix.shape[1];
  Reached below(in);
  for (std::size_t place = 0; place < matrix.kept.size(); ++place) {
    below[place % in] = below[place % in] != 0 || (matrix.kept[place] & above[place / in]) != 0 ? 1 : 0;
  }
  return below;
}

}  // namespace

models::WeightMask live_part_of(const models::WeightMask& chain, const std::vector<std::uint8_t>& wanted) {
  models::WeightMask live = chain;
  const std::vector<const models::MaskTensor*> matrices = matrices_of(chain);
  std::vector<Reached> from_inputs = {Reached(matrices.front()->shape[1], 1)};
  for (const models::MaskTensor* matrix : matrices) {
    from_inputs.push_back(reached_above(*matrix, from_inputs.back()));
  }
  Reached to_outputs = wanted.empty() ? Reached(matrices.back()->shape[0], 1) : wanted;
  for (std::size_t layer = matrices.size(); layer-- > 0;) {
    const models::MaskTensor& matrix = *matrices[layer];
    const std::size_t in = matrix.shape[1];
    std::vector<std::uint8_t>& kept = live.tensors[static_cast<std::size_t>(&matrix - chain.tensors.data())].kept;
    for (std::size_t place = 0; place < kept.size(); ++place) {
      if (from_inputs[layer][place % in] == 0 || to_outputs[place / in] == 0) {
        kept[place] = 0;
      }
    }
    to_outputs = reached_below(matrix, to_outputs);
  }
  return live;
}

std::optional<std::vector<std::size_t>> live_weights(const models::WeightMask& mask,
                                                     const std::vector<std::uint8_t>& wanted) {
  // Among convolutions, the matrices alone are no network.
  const bool has_others = std::ranges::any_of(mask.tensors, [](const auto& tensor) { return tensor.shape.size() > 2; });
  if (has_others || !is_chain(matrices_of(mask))) {
    return std::nullopt;
  }
  std::vector<std::size_t> live;
  for (const models::MaskTensor& tensor : live_part_of(mask, wanted).tensors) {
    live.push_back(tensor.shape.size() == 2 ? static_cast<std::size_t>(std::ranges::count(tensor.kept, 1)) : 0);
  }
  return live;
}

}  // namespace modlab::methods

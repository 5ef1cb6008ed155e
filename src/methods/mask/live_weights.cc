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

std::optional<std::vector<std::size_t>> live_weights(const models::WeightMask& mask,
                                                     const std::vector<std::uint8_t>& wanted) {
  const std::vector<const models::MaskTensor*> matrices = matrices_of(mask);
  if (!is_chain(matrices)) {
    return std::nullopt;
  }
  std::vector<Reached> from_inputs = {Reached(matrices.front()->shape[1], 1)};
  for (const models::MaskTensor* matrix : matrices) {
    from_inputs.push_back(reached_above(*matrix, from_inputs.back()));
  }
  Reached to_outputs = wanted.empty() ? Reached(matrices.back()->shape[0], 1) : wanted;
  std::vector<std::size_t> live(mask.tensors.size());
  for (std::size_t layer = matrices.size(); layer-- > 0;) {
    const models::MaskTensor& matrix = *matrices[layer];
    const std::size_t in = matrix.shape[1];
    std::size_t count = 0;
    for (std::size_t place = 0; place < matrix.kept.size(); ++place) {
      count += static_cast<std::size_t>(matrix.kept[place] & from_inputs[layer][place % in] & to_outputs[place / in]);
    }
    live[static_cast<std::size_t>(&matrix - mask.tensors.data())] = count;
    to_outputs = reached_below(matrix, to_outputs);
  }
  return live;
}

}  // namespace modlab::methods

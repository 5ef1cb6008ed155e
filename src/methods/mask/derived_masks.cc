#include "methods/mask/derived_masks.h"

#include <algorithm>

namespace modlab::methods {
namespace {

bool is_matrix(const models::MaskTensor& tensor) { return tensor.shape.size() == 2; }

}  // namespace

models::WeightMask inverse_mask(const models::WeightMask& mask, const models::WeightMask& full, InverseEnds ends) {
  const auto first = std::ranges::find_if(mask.tensors, is_matrix);
  const auto last = std::find_if(mask.tensors.rbegin(), mask.tensors.rend(), is_matrix);
  models::WeightMask inverse = mask;
  inverse.name = "not " + mask.name;
  for (std::size_t tensor = 0; tensor < mask.tensors.size(); ++tensor) {
    const models::MaskTensor* here = &mask.tensors[tensor];
    const bool is_end =
        ends != InverseEnds::kNone && first != mask.tensors.end() && (here == &*first || here == &*last);
    std::vector<std::uint8_t>& kept = inverse.tensors[tensor].kept;
    if (is_end && ends == InverseEnds::kFullMask) {
      kept = full.tensors[tensor].kept;
      continue;
    }
    for (std::uint8_t& one : kept) {
      one = is_end || one == 0 ? 1 : 0;
    }
  }
  return inverse;
}

models::WeightMask half_mask(const models::WeightMask& mask, bool early, bool early_is_larger) {
  models::WeightMask half = mask;
  const std::size_t early_tensors = (mask.tensors.size() + (early_is_larger ? 1 : 0)) / 2;
  half.name = (early ? "early half of " : "late half of ") + mask.name;
  for (std::size_t tensor = 0; tensor < mask.tensors.size(); ++tensor) {
    if ((tensor < early_tensors) != early) {
      std::ranges::fill(half.tensors[tensor].kept, std::uint8_t{1});
    }
  }
  return half;
}

}  // namespace modlab::methods

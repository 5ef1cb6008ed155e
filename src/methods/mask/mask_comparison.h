#pragma once

#include <string>
#include <vector>

#include "measures/mask_overlap.h"
#include "methods/detect/dendrogram.h"
#include "models/weight_mask.h"

namespace modlab::methods {

// What each of two masks keeps, tensor by tensor.
struct MaskPair {
  int first = 0;
  int second = 0;
  std::vector<measures::MaskOverlap> tensors;
  measures::MaskOverlap all;
};

struct MaskComparison {
  std::vector<std::string> masks;
  std::vector<std::string> tensors;
  std::vector<std::size_t> kept;  // [mask]
  std::size_t weights = 0;
  std::vector<MaskPair> pairs;  // every two masks, the first of which comes before the second
  // Masks that share most are joined first: by 1 - IoU over all tensors, clusters by the average of their pairs.
  Dendrogram tree;

  const MaskPair& pair(int first, int second) const;
};

inline constexpr int kMostMasks = 500;

// Of two masks or more over the same tensors. Throws FormatError that names the first that does not fit.
MaskComparison compare_masks(const std::vector<models::WeightMask>& masks);

}  // namespace modlab::methods

#include "methods/mask/mask_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::methods {
namespace {

using models::MaskTensor;
using models::WeightMask;

const MaskTensor& same_tensor(const WeightMask& mask, const MaskTensor& like, const WeightMask& other) {
  const MaskTensor* found = mask.find(like.name);
  if (found == nullptr) {
    throw FormatError(fmt::format("{}: has no tensor {}, which {} has", mask.name, on_one_line(like.name), other.name));
  }
  if (found->shape != like.shape) {
    throw FormatError(fmt::format("{}: tensor {} is {}, and {} in {}", mask.name, on_one_line(like.name),
                                  fmt::join(found->shape, " by "), fmt::join(like.shape, " by "), other.name));
  }
  return *found;
}

// Of each mask its tensors, in the order of the first mask's.
using Aligned = std::vector<std::vector<const MaskTensor*>>;

Aligned align(const std::vector<WeightMask>& masks) {
  const WeightMask& first = masks.front();
  Aligned aligned;
  for (const WeightMask& mask : masks) {
    std::vector<const MaskTensor*>& tensors = aligned.emplace_back();
    for (const MaskTensor& tensor : first.tensors) {
      tensors.push_back(&same_tensor(mask, tensor, first));
    }
    for (const MaskTensor& tensor : mask.tensors) {
      same_tensor(first, tensor, mask);
    }
  }
  return aligned;
}

// Weights that are zero in a network count only where both are masks of that very network.
MaskPair compare(const Aligned& masks, int first, int second, bool of_one_network) {
  MaskPair pair{first, second, {}, {}};
  const auto& one = masks[static_cast<std::size_t>(first)];
  const auto& other = masks[static_cast<std::size_t>(second)];
  for (std::size_t tensor = 0; tensor < one.size(); ++tensor) {
    pair.tensors.push_back(
        of_one_network ? measures::overlap_of(*one[tensor], *other[tensor])
                       : measures::overlap_of(one[tensor]->kept, other[tensor]->kept, one[tensor]->kept.size()));
    pair.all += pair.tensors.back();
  }
  return pair;
}

}  // namespace

const MaskPair& MaskComparison::pair(int first, int second) const {
  const auto [low, high] = std::minmax(first, second);
  const auto count = static_cast<int>(masks.size());
  return pairs[static_cast<std::size_t>(low * (2 * count - low - 1) / 2 + high - low - 1)];
}

MaskComparison compare_masks(const std::vector<WeightMask>& masks) {
  if (masks.size() < 2 || masks.size() > kMostMasks) {
    throw ConfigError(fmt::format("two masks to {} can be compared, not {}", kMostMasks, masks.size()));
  }
  const Aligned aligned = align(masks);
  MaskComparison comparison;
  for (const MaskTensor& tensor : masks.front().tensors) {
    comparison.tensors.push_back(tensor.name);
    comparison.weights += tensor.kept.size();
  }
  for (const WeightMask& mask : masks) {
    comparison.masks.push_back(mask.name);
    comparison.kept.push_back(std::transform_reduce(
        mask.tensors.begin(), mask.tensors.end(), std::size_t{0}, std::plus<>(),
        [](const MaskTensor& tensor) { return static_cast<std::size_t>(std::ranges::count(tensor.kept, 1)); }));
  }
  const auto count = static_cast<int>(masks.size());
  PairTable distances(count);
  for (int first = 0; first < count; ++first) {
    for (int second = first + 1; second < count; ++second) {
      const std::string& network = masks[static_cast<std::size_t>(first)].network;
      const bool of_one_network = !network.empty() && network == masks[static_cast<std::size_t>(second)].network;
      comparison.pairs.push_back(compare(aligned, first, second, of_one_network));
      distances.set(first, second, 1 - comparison.pairs.back().all.iou());
    }
  }
  comparison.tree = grow_dendrogram(std::move(distances), Linkage::kAverage);
  return comparison;
}

}  // namespace modlab::methods

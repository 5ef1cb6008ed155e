#include "methods/mask/mask_outcome.h"

#include <algorithm>

namespace modlab::methods {
namespace {

void add_shares(const measures::MaskOverlap& overlap, double weight, std::array<double, 4>& sums) {
  const std::array<double, 4> shares = {overlap.iou(), overlap.iomin(), overlap.iou_by_chance(),
                                        overlap.iomin_by_chance()};
  for (std::size_t share = 0; share < shares.size(); ++share) {
    sums[share] += weight * shares[share];
  }
}

}  // namespace

std::vector<MaskSharing> sharing_of(const MaskOutcome& outcome) {
  std::vector<MaskSharing> pairs;
  if (outcome.stages.empty()) {
    return pairs;
  }
  for (std::size_t first = 0; first < outcome.targets.size(); ++first) {
    for (std::size_t second = first + 1; second < outcome.targets.size(); ++second) {
      pairs.push_back({.first = first, .second = second, .names = {}, .tensors = {}, .all = {}});
      MaskSharing& pair = pairs.back();
      const models::WeightMask& one = outcome.of_target(first).mask;
      const models::WeightMask& other = outcome.of_target(second).mask;
      for (std::size_t tensor = 0; tensor < one.tensors.size(); ++tensor) {
        if (std::ranges::find(outcome.own_tensors, one.tensors[tensor].name) != outcome.own_tensors.end()) {
          continue;
        }
        pair.names.push_back(one.tensors[tensor].name);
        pair.tensors.push_back(measures::overlap_of(one.tensors[tensor], other.tensors[tensor]));
        pair.all += pair.tensors.back();
      }
    }
  }
  return pairs;
}

SharingMeans sharing_means(const std::vector<MaskSharing>& pairs) {
  SharingMeans means;
  const double weight = 1.0 / static_cast<double>(std::max<std::size_t>(1, pairs.size()));
  for (const MaskSharing& pair : pairs) {
    means.names = pair.names;
    means.tensors.resize(pair.tensors.size());
    for (std::size_t tensor = 0; tensor < pair.tensors.size(); ++tensor) {
      add_shares(pair.tensors[tensor], weight, means.tensors[tensor]);
    }
    add_shares(pair.all, weight, means.all);
  }
  return means;
}

std::size_t kept_count(const models::MaskTensor& tensor) {
  return static_cast<std::size_t>(std::ranges::count(tensor.kept, 1));
}

std::size_t kept_count(const models::WeightMask& mask) {
  std::size_t count = 0;
  for (const models::MaskTensor& tensor : mask.tensors) {
    count += kept_count(tensor);
  }
  return count;
}

double kept_percent(const models::WeightMask& mask) {
  std::size_t present = 0;
  for (const models::MaskTensor& tensor : mask.tensors) {
    present += tensor.present();
  }
  return 100 * static_cast<double>(kept_count(mask)) / static_cast<double>(std::max<std::size_t>(1, present));
}

}  // namespace modlab::methods

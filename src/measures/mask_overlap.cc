#include "measures/mask_overlap.h"

#include <algorithm>

namespace modlab::measures {

MaskOverlap& MaskOverlap::operator+=(const MaskOverlap& other) {
  weights += other.weights;
  first += other.first;
  second += other.second;
  both += other.both;
  both_by_chance += other.both_by_chance;
  return *this;
}

double MaskOverlap::of_union(double common) const {
  return is_empty() ? 0 : common / (static_cast<double>(first) + static_cast<double>(second) - common);
}

double MaskOverlap::of_smaller(double common) const {
  return is_empty() ? 0 : common / static_cast<double>(std::min(first, second));
}

MaskOverlap overlap_of(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second, std::size_t weights) {
  MaskOverlap overlap;
  overlap.weights = weights;
  for (std::size_t weight = 0; weight < first.size(); ++weight) {
    overlap.first += first[weight];
    overlap.second += second[weight];
    overlap.both += first[weight] & second[weight];
  }
  if (overlap.weights > 0) {
    overlap.both_by_chance =
        static_cast<double>(overlap.first) * static_cast<double>(overlap.second) / static_cast<double>(overlap.weights);
  }
  return overlap;
}

MaskOverlap overlap_of(const models::MaskTensor& first, const models::MaskTensor& second) {
  return overlap_of(first.kept, second.kept, std::max(first.present(), second.present()));
}

MaskOverlap overlap_of(const models::WeightMask& first, const models::WeightMask& second) {
  MaskOverlap all;
  for (std::size_t tensor = 0; tensor < first.tensors.size(); ++tensor) {
    all += overlap_of(first.tensors[tensor], second.tensors[tensor]);
  }
  return all;
}

}  // namespace modlab::measures

#pragma once

#include <cstdint>
#include <span>

#include "models/weight_mask.h"

namespace modlab::measures {

// What two masks over the same weights have in common; sums of these over tensors are the overlap of all of them.
struct MaskOverlap {
  std::size_t weights = 0;  // that could be kept
  std::size_t first = 0;    // kept by the one
  std::size_t second = 0;   // kept by the other
  std::size_t both = 0;
  // What two random masks that keep as many of each tensor would both keep, on average.
  double both_by_chance = 0;

  // Whether one of them keeps nothing: then nothing can be shared, and all shares are 0.
  bool is_empty() const { return first == 0 || second == 0; }
  // Weights that both keep, of those that any keeps, and of those that the smaller mask keeps.
  double iou() const { return of_union(static_cast<double>(both)); }
  double iomin() const { return of_smaller(static_cast<double>(both)); }
  // The same with as many common weights as random masks would have.
  double iou_by_chance() const { return of_union(both_by_chance); }
  double iomin_by_chance() const { return of_smaller(both_by_chance); }

  // Of those that the one keeps, the share that the other keeps too; and if it were a random mask.
  double of_first() const { return first == 0 ? 0 : static_cast<double>(both) / static_cast<double>(first); }
  double of_first_by_chance() const { return first == 0 ? 0 : both_by_chance / static_cast<double>(first); }

  MaskOverlap& operator+=(const MaskOverlap& other);

 private:
  double of_union(double common) const;
  double of_smaller(double common) const;
};

// Of one tensor; both masks keep some of `weights`.
MaskOverlap overlap_of(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second, std::size_t weights);
// Of one tensor of one network, and of all of its tensors together; both masks have the same ones.
MaskOverlap overlap_of(const models::MaskTensor& first, const models::MaskTensor& second);
MaskOverlap overlap_of(const models::WeightMask& first, const models::WeightMask& second);

}  // namespace modlab::measures

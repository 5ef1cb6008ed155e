#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "measures/mask_overlap.h"
#include "models/weight_mask.h"

namespace modlab::methods {

// A trained mask, and what the network does under it.
struct MaskStage {
  std::string name;
  std::vector<float> logits;
  models::WeightMask mask;
  std::vector<double> accuracy;  // of each target, in percent; where they follow each other, up to this one
  std::vector<double> inverse;   // with everything but the mask
  // The same between the ends alone: the first and the last layer keep what the control mask keeps.
  std::vector<double> hidden_inverse = {};
  std::vector<double> other = {};  // accuracy in each of MaskOutcome::other_tests, in percent
  double ambiguous = 0;            // share of logits that are not decided, in percent
  // Of each tensor: kept weights that lie on a path from an input to an output of the target. Empty where the network
  // is no chain of layers.
  std::vector<std::size_t> live = {};
  // What the same mask shares with itself, trained again with other noise.
  std::optional<measures::MaskOverlap> again = {};
  // Accuracy of its target that a mask of the same kind reaches on the network before its training.
  std::optional<double> untrained = {};
  // Of each tensor, where targets follow each other: what the mask has in common with all earlier ones together, whose
  // weights it could take over. Of nothing where there are none.
  std::vector<measures::MaskOverlap> earlier = {};
  // The network that is masked, where each target has another.
  std::vector<float> weights = {};
  // Of the tasks whose answers can be told apart: [true operation][answered with operation, last: with none], percent.
  std::vector<std::vector<double>> confusion = {};
  std::vector<std::vector<double>> inverse_confusion = {};  // with everything but the mask
  // Where answers are classes: [right class][said class], in percent of the right one.
  std::vector<std::vector<double>> class_confusion = {};
};

// A mask on everything, trained with one weight of the penalty.
struct BetaPoint {
  double beta = 0;
  double kept = 0;       // of the weights, in percent
  double accuracy = 0;   // in percent
  double ambiguous = 0;  // in percent
};

// What masks say of one network. The first stage is the control on everything, if there is one; the others are the
// targets' in order. There are none where a network was trained and not masked.
struct MaskOutcome {
  bool has_control = true;
  double beta = 0;
  std::vector<BetaPoint> beta_table = {};  // where beta was to be found
  std::vector<std::string> targets;
  std::vector<double> unmasked;                            // accuracy of each target, in percent
  std::vector<std::vector<double>> unmasked_classes = {};  // see MaskStage::class_confusion
  std::vector<std::string> other_tests = {};               // what it is tested on besides, and no mask is for
  std::vector<double> unmasked_other = {};                 // accuracy in each of them, in percent
  std::vector<std::string> class_names = {};               // where they have any
  std::vector<MaskStage> stages;
  std::vector<std::uint8_t> idle_logits = {};  // see methods::idle_logits()
  std::vector<std::string> own_tensors = {};   // whose weights are each target's own: masks of two share none of them

  const MaskStage& of_target(std::size_t target) const { return stages[target + (has_control ? 1 : 0)]; }
};

// What two targets' masks have in common: each tensor, and all of them together.
struct MaskSharing {
  std::size_t first = 0;  // targets
  std::size_t second = 0;
  std::vector<std::string> names;  // of the tensors
  std::vector<measures::MaskOverlap> tensors;
  measures::MaskOverlap all;
};
// Of every two targets, without the tensors that each has for itself.
std::vector<MaskSharing> sharing_of(const MaskOutcome& outcome);

// Means over pairs of targets, tensor by tensor and, last, of all tensors together.
struct SharingMeans {
  std::vector<std::string> names;
  std::vector<std::array<double, 4>> tensors;  // iou, iomin, and both by chance
  std::array<double, 4> all{};
};
SharingMeans sharing_means(const std::vector<MaskSharing>& pairs);

// Weights that a mask keeps, of all tensors.
std::size_t kept_count(const models::WeightMask& mask);
std::size_t kept_count(const models::MaskTensor& tensor);
// The same in percent of the weights that are there.
double kept_percent(const models::WeightMask& mask);

}  // namespace modlab::methods

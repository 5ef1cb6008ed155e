#pragma once

#include <cstdint>
#include <vector>

namespace modlab::methods {

// What makes a hidden unit worth keeping; a is its activation, L a row's loss, means are over the rows of the truth
// table without noise.
enum class UnitScore : std::uint8_t {
  kLossSensitivity,      // mean |dL/da| |a|
  kOutputSensitivity,    // mean |d(sum of outputs)/da| |a|
  kWeightActivation,     // mean |w| of its outgoing edges times mean a
  kWeight,               // mean |w| of all its edges
  kActivationDeviation,  // standard deviation of a
  kPathProduct,          // sum over the paths through it of the product of |w|
  kRandom
};

// What a layer's scores are divided by before layers are compared.
enum class ScoreNorm : std::uint8_t {
  kNone,
  kMeanDeviation,  // less their mean, by their standard deviation
  kMean,
  kDeviation,
  kSum,
  kUnitsBelow,  // units of the layer below
  kUnits        // units of the layer
};

// Over which units a threshold is drawn: all hidden units together, each layer for itself, or both, where a unit goes
// that is under both thresholds.
enum class ScoreScale : std::uint8_t { kGlobal, kLocal, kLocalGlobal };

// How the share that is to be pruned grows from one accepted step to the next.
enum class PruneSchedule : std::uint8_t { kLinear, kLottery, kExponential, kCosine, kCubic };

// Which epoch's weights a training hands on: of the most accurate epochs the one with the lowest loss. As published,
// the loss is not a number where one batch holds the whole table, and then the latest of them is taken.
enum class Checkpoint : std::uint8_t { kLowestLoss, kPublished };

// How a trained network is pruned (Neural Sculpting). Defaults are the published ones, except where the published code
// is known to be wrong: those have a switch each.
struct SculptSpec {
  double threshold = 100;  // percent of bits that a network must get right to be accepted
  UnitScore unit_score = UnitScore::kLossSensitivity;
  ScoreNorm unit_norm = ScoreNorm::kNone;
  ScoreScale unit_scale = ScoreScale::kGlobal;
  PruneSchedule unit_schedule = PruneSchedule::kLinear;
  PruneSchedule edge_schedule = PruneSchedule::kLinear;
  // First steps in percent, p_u and p_e: every pair of them is one way to prune. Where the only unit step is zero,
  // units are not pruned.
  std::vector<double> unit_steps = {70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5};
  std::vector<double> edge_steps = {2.5, 2.0, 1.5, 1.0, 0.5};
  bool epoch_search = false;
  Checkpoint checkpoint = Checkpoint::kLowestLoss;
  // Between the stages networks are trained once more. As published, whatever comes out goes on; otherwise the network
  // before it goes on where the training lost accuracy below the threshold.
  bool keep_failed_retraining = false;
  bool prune_unlearned = false;  // as published: also where the dense network is below the threshold
  bool keep_connected = false;   // never cut off an input or an output

  bool prunes_units() const { return unit_steps != std::vector<double>{0}; }
};

}  // namespace modlab::methods

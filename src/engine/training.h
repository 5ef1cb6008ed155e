#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/kernels/kernels.h"

namespace modlab::engine {

// Parts of a run's data. An image task is tested twice: on digit combinations that no training sample shows (its test),
// and with new images on those that were trained on.
enum class Part : std::uint8_t { kTrain = 0, kValidation = 1, kTest = 2, kSeen = 3 };
inline constexpr std::size_t kScoreParts = 4;

// Which of the epochs with the highest validation accuracy a network's best snapshot is: the first, the latest, or the
// one with the lowest loss among those at least as accurate as all before them.
enum class Keep { kFirstBest, kLatestBest, kLowestLoss };

enum class Gumbel { kOff, kBatch, kSample };
enum class Schedule { kConstant, kExponential, kCosine };

// What the learning rates are multiplied with in an epoch, counted from 1.
double schedule_factor(Schedule schedule, double gamma, int epoch, int epochs);

// The epochs whose scores a curve keeps: each epoch e is followed by e + max(1, e // 2000), and the last one is always
// there. Up to 4000 that is every epoch; a curve of ten million has twenty thousand points.
int next_curve_epoch(int epoch);
std::vector<int> curve_epochs(int epochs);

// What all lanes of a block share.
struct BlockSettings {
  int epochs = 0;
  int batch_size = 0;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  LossKind loss = LossKind::kBce;
  Gumbel gumbel = Gumbel::kOff;
  int evaluate_every = 1;  // epochs; the last one is always evaluated
  Keep keep = Keep::kFirstBest;
};

// What one lane, one network, has of its own.
struct LaneSettings {
  std::uint64_t seed = 0;
  double lr = 0;
  double lr_input = 0;
  double lr_module = 0;
  double weight_decay = 0;
  double weight_decay_structural = 0;
  double inverse_tau = 1;
  double noise = 0;  // standard deviation of the input noise in training
  Schedule schedule = Schedule::kConstant;
  double gamma = 1;                  // factor of the exponential schedule
  std::vector<float> initial;        // all parameters
  std::vector<float> mask;           // 0 and 1 for each parameter, or empty
  std::vector<std::uint32_t> train;  // samples to learn from; as many in every lane
  std::vector<Part> part;            // of every sample
};

struct PartScore {
  float loss = 0;  // mean over rows and outputs
  std::uint32_t right_bits = 0;
  std::uint32_t right_rows = 0;
};
struct Scores {
  PartScore parts[kScoreParts];  // without rows in it, a part's is zero

  const PartScore& operator[](Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

// The state of a network after an epoch.
struct Snapshot {
  int epoch = 0;                 // counted from 1
  Scores scores;                 // over all tasks
  std::vector<Scores> per_task;  // where there are several
  std::vector<float> parameters;
};

struct LaneResult {
  Snapshot best;  // of an epoch with the highest validation accuracy
  Snapshot last;
  std::vector<Scores> curve;  // of evaluations at curve_epochs()
  bool diverged = false;      // a loss that is not a number
  double seconds = 0;         // of one thread: this network's share of its block
};

// Shared with other threads.
struct Progress {
  std::atomic<bool> stop{false};             // asks every block to end within a second; never taken back
  std::atomic<std::int64_t> epochs_done{0};  // summed over networks
};

}  // namespace modlab::engine

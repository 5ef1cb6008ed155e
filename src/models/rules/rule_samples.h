#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/solo/kernels.h"
#include "tasks/rule_task.h"

namespace modlab::models {

// What samples are drawn for. Those of training and of the several evaluations never meet.
enum class SampleUse : std::uint32_t {
  kTraining = 0,
  kCurve = 1,
  kValidation = 2,
  kTest = 3,
  kActivation = 4,
  kAdaptation = 5,
  kExport = 6,
  kTrainingSet = 7,
};

struct RuleDraw {
  SampleUse use = SampleUse::kTraining;
  std::uint32_t step = 0;
  int samples = 0;
  int length = 1;                            // tokens of each
  float scale = 1;                           // of everything that is drawn; 2 is out of distribution
  std::span<const double> frequencies = {};  // of the rules; empty: all alike
  double rule_noise = 0;                     // how often a row says another rule than its own
  int iteration = 0;                         // training steps that the network has had
};

// Samples, token by token. Rows are the tokens of a sample one after the other, or, of sequences that are read step by
// step (kRnn), the first tokens of all samples, then the second ones.
struct RuleBatch {
  int samples = 0;
  int length = 1;
  bool step_by_step = false;
  int columns = 0;                   // of data, padded
  int outputs = 0;                   // padded
  AlignedVector<float> data;         // [row][column]
  AlignedVector<float> targets;      // [row][output]; of classification 0 or 1
  std::vector<std::uint16_t> rules;  // [row]
  std::vector<std::uint16_t> said;   // [row]: the rule that the row says it follows

  // What it was drawn for, which gates with schedules and noise depend on.
  SampleUse use = SampleUse::kTraining;
  std::uint32_t step = 0;
  int iteration = 0;

  int rows() const { return samples * length; }
  int row_of(int sample, int token) const { return step_by_step ? token * samples + sample : sample * length + token; }
};

// Draws samples where they are used: they are a function of seed, use and step, and of nothing else. Networks that
// differ in anything but the seed see the same ones.
class RuleSampler {
 public:
  // The task must outlive it.
  RuleSampler(const tasks::RuleTask& task, const engine::solo::Kernels<float>& kernels, std::uint64_t seed);
  RuleSampler(tasks::RuleTask&& task, const engine::solo::Kernels<float>& kernels, std::uint64_t seed) = delete;

  void draw(const RuleDraw& draw, RuleBatch& batch);

 private:
  void draw_rules(const RuleDraw& draw, RuleBatch& batch) const;
  void draw_data(const RuleDraw& draw, RuleBatch& batch);
  void say_sums(RuleBatch& batch) const;
  void say_searches(RuleBatch& batch) const;
  void say_states(RuleBatch& batch);

  const tasks::RuleTask& task_;
  const engine::solo::Kernels<float>& kernels_;
  std::uint64_t seed_;
  AlignedVector<float> normals_;
  // Recurrence: B above A, lag after lag, for each rule; the tokens of a step that follow one rule, and their states.
  AlignedVector<float> system_;
  AlignedVector<float> gathered_;
  AlignedVector<float> found_;
  AlignedVector<float> states_;  // [row][dimension]
};

}  // namespace modlab::models

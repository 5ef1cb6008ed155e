#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Data whose rule is known: "Is a Modular Architecture Enough?" (Mittal, Bengio and Lajoie, 2022). Each sample, or each
// token of one, follows one of several rules and says which.
namespace modlab::tasks {

enum class RuleFamily {
  kMlp,  // one number of two: y = alpha x1 + beta x2
  kMha,  // tokens of a set look for their nearest neighbours: y = alpha v + beta v', of those found by q and by q'
  kRnn,  // a linear system that switches: s = s A + x B
};

enum class RuleOutput { kRegression, kClassification };

inline constexpr int kMaxRules = 256;
inline constexpr int kMaxRuleDimension = 512;
inline constexpr int kMaxRuleOrder = 16;

struct RuleTaskSettings {
  RuleFamily family = RuleFamily::kMlp;
  RuleOutput output = RuleOutput::kRegression;
  int rules = 2;
  std::uint32_t task_seed = 0;
  int search = 1;      // attention: 1 by numbers, 2 by directions
  int dimension = 32;  // recurrence: of input and state
  int order = 1;       // recurrence: how many states back

  // Columns of a sample or token before those that say its rule.
  int data_columns() const;
  int inputs() const { return data_columns() + rules; }
  // Numbers to predict for a sample or token.
  int outputs() const;
};

// The rules themselves, drawn exactly as the published generator draws them from the task seed.
struct RuleTask {
  RuleTaskSettings settings;
  std::vector<double> alpha, beta;  // [rule]
  std::vector<double> transition;   // A: [rule][lag][row][column]
  std::vector<double> drive;        // B: [rule][row][column]
  std::vector<double> readout;      // w: [row]; of classification only

  int data_columns() const { return settings.data_columns(); }
  int inputs() const { return settings.inputs(); }
  int outputs() const { return settings.outputs(); }
  bool is_sequence() const { return settings.family != RuleFamily::kMlp; }
};

RuleTask draw_rules(const RuleTaskSettings& settings);

// Mean absolute error of always saying 0, where it is known: E|y| of regression in the families kMlp and kMha.
std::optional<double> zero_loss(const RuleTask& task);

}  // namespace modlab::tasks

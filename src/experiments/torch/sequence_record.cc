#include "experiments/torch/sequence_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "methods/torch/sequence_parts.h"

namespace modlab::experiments {
namespace {

using methods::kScanSplits;
using methods::MaskOutcome;
using methods::MaskStage;

constexpr auto kSimple = "simple";
constexpr auto kJump = "jump";
constexpr auto kReadOut = "output_projection.weight";
// Rows of the read-out, in the order of tasks::kScanActions; the last one ends a sequence.
constexpr const char* kSaid[] = {"turn_left", "turn_right", kJump, "walk", "run", "look", "end"};
constexpr const char* kDifficulties[] = {"easy", "medium", "hard"};

void add_accuracies(const std::string& prefix, const MaskOutcome& outcome, const std::vector<double>& targets,
                    const std::vector<double>& other, Numbers& numbers) {
  for (std::size_t target = 0; target < targets.size(); ++target) {
    numbers[fmt::format("{}_on_{}", prefix, outcome.targets[target])] = targets[target];
  }
  for (std::size_t test = 0; test < other.size(); ++test) {
    numbers[fmt::format("{}_on_{}", prefix, outcome.other_tests[test])] = other[test];
  }
}

void add_all_accuracies(const MaskOutcome& outcome, Numbers& numbers) {
  add_accuracies("unmasked", outcome, outcome.unmasked, outcome.unmasked_other, numbers);
  for (const MaskStage& stage : outcome.stages) {
    add_accuracies(fmt::format("mask_{}", stage.name), outcome, stage.accuracy, stage.other, numbers);
  }
}

const models::MaskTensor* read_out_of(const MaskOutcome& outcome, const std::string& name) {
  const auto stage = std::ranges::find(outcome.stages, name, &MaskStage::name);
  return stage == outcome.stages.end() ? nullptr : stage->mask.find(kReadOut);
}

// Of what the mask of simple keeps in each row of the read-out, what that of jump does not, in percent.
void add_removal(const MaskOutcome& outcome, Numbers& numbers) {
  const models::MaskTensor* simple = read_out_of(outcome, kSimple);
  const models::MaskTensor* jump = read_out_of(outcome, kJump);
  if (simple == nullptr || jump == nullptr) {
    return;
  }
  const std::size_t width = simple->kept.size() / std::size(kSaid);
  std::optional<double> most_of_others;
  for (std::size_t row = 0; row < std::size(kSaid); ++row) {
    std::size_t kept = 0;
    std::size_t removed = 0;
    for (std::size_t place = row * width; place < (row + 1) * width; ++place) {
      kept += simple->kept[place];
      removed += simple->kept[place] != 0 && jump->kept[place] == 0 ? 1 : 0;
    }
    if (kept == 0) {
      continue;
    }
    const double percent = 100 * static_cast<double>(removed) / static_cast<double>(kept);
    numbers[fmt::format("removed_{}", kSaid[row])] = percent;
    if (kSaid[row] != std::string_view(kJump)) {
      most_of_others = std::max(most_of_others.value_or(percent), percent);
    }
  }
  if (most_of_others && numbers.contains("removed_jump")) {
    numbers["jump_removed_most"] = numbers["removed_jump"] - *most_of_others;
  }
}

}  // namespace

std::vector<Measure> sequence_measures() {
  const std::pair<double, double> percent{0, 100};
  std::vector<Measure> list;
  const auto add = [&](std::string name, std::string label, std::optional<std::pair<double, double>> domain,
                       bool higher_is_better = true) {
    list.push_back({std::move(name), std::move(label), "%", false, domain, higher_is_better, ""});
  };
  for (const char* test : kScanSplits) {
    add(fmt::format("unmasked_on_{}", test), fmt::format("accuracy on {}, without a mask", test), percent);
    for (const char* mask : kScanSplits) {
      add(fmt::format("mask_{}_on_{}", mask, test), fmt::format("accuracy on {}, under the mask of {}", test, mask),
          percent);
    }
  }
  for (const char* split : kScanSplits) {
    if (split != std::string_view(kSimple)) {
      add(fmt::format("learned_{}", split), fmt::format("accuracy on {}, learned from it alone", split), percent);
      add(fmt::format("gap_{}", split),
          fmt::format("points on what {} tests that its mask has less than that of simple", split), std::nullopt);
    }
  }
  for (const char* said : kSaid) {
    add(fmt::format("removed_{}", said), fmt::format("removed of what says {}", said), percent, false);
  }
  add("jump_removed_most", "points removed of jump more than of any other", std::nullopt);
  for (const char* test : kDifficulties) {
    add(fmt::format("unmasked_on_{}", test), fmt::format("accuracy on {} questions, without a mask", test), percent);
    add(fmt::format("mask_all_on_{}", test), fmt::format("accuracy on {} questions, under the control mask", test),
        percent);
    add(fmt::format("mask_easy_on_{}", test),
        fmt::format("accuracy on {} questions, under the mask of easy ones", test), percent);
  }
  add("gap_hard", "points on hard questions that the mask of easy ones has less than the control mask", std::nullopt);
  add("control_gap_hard", "points on hard questions that the control mask loses", std::nullopt, false);
  return list;
}

void add_scan_numbers(const MaskOutcome& outcome, const std::string& trained_on, Numbers& numbers) {
  add_all_accuracies(outcome, numbers);
  for (const std::string& split : outcome.targets) {
    const auto mask = numbers.find(fmt::format("mask_{0}_on_{0}", split));
    if (mask != numbers.end()) {
      numbers["learned_" + split] = mask->second;
      numbers["gap_" + split] = numbers.at("mask_simple_on_" + split) - mask->second;
    } else if (split == trained_on) {
      numbers["learned_" + split] = numbers.at("unmasked_on_" + split);
    }
  }
  add_removal(outcome, numbers);
}

void add_math_numbers(const MaskOutcome& outcome, Numbers& numbers) {
  add_all_accuracies(outcome, numbers);
  numbers["gap_hard"] = numbers.at("mask_all_on_hard") - numbers.at("mask_easy_on_hard");
  numbers["control_gap_hard"] = numbers.at("unmasked_on_hard") - numbers.at("mask_all_on_hard");
}

}  // namespace modlab::experiments

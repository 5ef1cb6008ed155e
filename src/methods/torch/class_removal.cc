#include "methods/torch/class_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/random.h"

namespace modlab::methods {
namespace {

constexpr std::size_t kGradientRows = 128;

ClassTarget target_of(const ClassTask& task, std::string name, std::vector<std::uint8_t> has, bool only_present) {
  ClassTarget made{{std::move(name), {}}, std::move(has)};
  std::ranges::copy_if(task.train, std::back_inserter(made.target.rows),
                       [&](std::uint32_t row) { return made.has[task.labels[row]] != 0; });
  if (only_present) {
    made.target.outputs = made.has;
  }
  return made;
}

double share_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// The first tensor of each layer.
std::vector<std::size_t> layer_begins(const models::WeightMask& mask) {
  std::vector<std::size_t> begins;
  for (std::size_t tensor = 0; tensor < mask.tensors.size(); ++tensor) {
    if (mask.tensors[tensor].shape.size() > 1) {
      begins.push_back(tensor);
    }
  }
  return begins;
}

models::WeightMask with_whole_tensors(models::WeightMask mask, std::size_t begin, std::size_t end) {
  for (std::size_t tensor = begin; tensor < end; ++tensor) {
    std::ranges::fill(mask.tensors[tensor].kept, 1);
  }
  return mask;
}

std::vector<double> whole_gradient(models::TorchNetwork& network, const std::vector<float>& weights,
                                   std::span<const std::uint32_t> rows) {
  std::vector<double> sum(weights.size());
  std::vector<float> gradients(weights.size());
  for (std::size_t first = 0; first < rows.size(); first += kGradientRows) {
    network.gradient(weights, {.rows = rows.subspan(first, std::min(kGradientRows, rows.size() - first))}, {},
                     gradients);
    std::ranges::transform(sum, gradients, sum.begin(), [](double before, float more) { return before + more; });
  }
  return sum;
}

}  // namespace

std::vector<ClassTarget> without_classes(const ClassTask& task, const std::vector<int>& removed, bool only_present) {
  std::vector<ClassTarget> targets;
  for (const int without : removed) {
    std::vector<std::uint8_t> has(task.names.size(), 1);
    has[static_cast<std::size_t>(without)] = 0;
    targets.push_back(
        target_of(task, "without " + task.names[static_cast<std::size_t>(without)], std::move(has), only_present));
  }
  return targets;
}

std::vector<ClassTarget> class_pairs(const ClassTask& task, int pairs, std::uint64_t seed) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t second = 1; second < task.names.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      all.emplace_back(first, second);
    }
  }
  RandomSequence random(seed, Stream::kSamples);
  std::vector<ClassTarget> targets;
  const std::size_t wanted = std::min(all.size(), static_cast<std::size_t>(pairs));
  for (std::size_t at = 0; at < wanted; ++at) {
    const auto left = static_cast<double>(all.size() - at);
    std::swap(all[at], all[at + static_cast<std::size_t>(random.next_uniform() * left)]);
    std::vector<std::uint8_t> has(task.names.size());
    has[all[at].first] = has[all[at].second] = 1;
    targets.push_back(target_of(task, fmt::format("{} or {}", task.names[all[at].first], task.names[all[at].second]),
                                std::move(has), false));
  }
  return targets;
}

void check(const ClassTask& task, const std::vector<ClassTarget>& targets) {
  for (const ClassTarget& target : targets) {
    const bool has_test =
        std::ranges::any_of(task.test, [&](std::uint32_t row) { return target.has[task.labels[row]] != 0; });
    if (target.target.rows.empty() || !has_test) {
      throw ConfigError(fmt::format("'{}' has no image to {}; take more images", target.target.name,
                                    has_test ? "learn from" : "be tested on"));
    }
  }
}

TorchJudgement judge_classes(const std::vector<float>& said, const ClassTask& task,
                             const std::vector<ClassTarget>& targets) {
  const std::size_t classes = task.names.size();
  std::vector<std::vector<double>> counts(classes, std::vector<double>(classes));
  for (std::size_t test = 0; test < task.test.size(); ++test) {
    const float* answers = said.data() + test * classes;
    const auto best = static_cast<std::size_t>(std::max_element(answers, answers + classes) - answers);
    counts[task.labels[task.test[test]]][best] += 1;
  }
  std::vector<double> asked;
  for (const std::vector<double>& row : counts) {
    double sum = 0;
    std::ranges::for_each(row, [&](double count) { sum += count; });
    asked.push_back(sum);
  }
  const auto right_of = [&](const auto& has) {
    double right = 0;
    double all = 0;
    for (std::size_t one = 0; one < classes; ++one) {
      right += has(one) ? counts[one][one] : 0;
      all += has(one) ? asked[one] : 0;
    }
    return share_of(right, all);
  };
  TorchJudgement judgement;
  judgement.everything = right_of([](std::size_t) { return true; });
  for (const ClassTarget& target : targets) {
    judgement.accuracy.push_back(right_of([&](std::size_t one) { return target.has[one] != 0; }));
  }
  for (std::size_t one = 0; one < classes; ++one) {
    std::ranges::transform(counts[one], counts[one].begin(), [&](double count) { return share_of(count, asked[one]); });
  }
  judgement.classes = std::move(counts);
  return judgement;
}

RemovedClass removed_class(const std::vector<std::vector<double>>& control,
                           const std::vector<std::vector<double>>& without, std::size_t removed) {
  const auto drop = [&](std::size_t one) { return control[one][one] - without[one][one]; };
  RemovedClass found{.drop = drop(removed), .relative_drop = {}, .worst_other = {}};
  if (control[removed][removed] > 0) {
    found.relative_drop = 100 * drop(removed) / control[removed][removed];
  }
  if (found.relative_drop.value_or(0) > 0) {
    double worst = 0;
    for (std::size_t other = 0; other < control.size(); ++other) {
      if (other != removed && control[other][other] > 0) {
        worst = std::max(worst, 100 * drop(other) / control[other][other]);
      }
    }
    found.worst_other = 100 * worst / *found.relative_drop;
  }
  return found;
}

models::WeightMask half_of_layers(const models::WeightMask& mask, bool early) {
  const std::vector<std::size_t> begins = layer_begins(mask);
  const std::size_t half = (begins.size() + 1) / 2;
  const std::size_t middle = half < begins.size() ? begins[half] : mask.tensors.size();
  return early ? with_whole_tensors(mask, middle, mask.tensors.size()) : with_whole_tensors(mask, 0, middle);
}

std::vector<double> gradient_cosines(models::TorchNetwork& network, std::span<const float> weights,
                                     const MaskedParameters& masked, const models::WeightMask& mask,
                                     std::span<const std::uint32_t> rows) {
  const std::vector<double> whole = whole_gradient(network, {weights.begin(), weights.end()}, rows);
  std::vector<std::size_t> begins = layer_begins(mask);
  std::ranges::reverse(begins);
  std::vector<double> cosines;
  for (const std::size_t begin : begins) {
    const std::vector<double> here =
        whole_gradient(network, masked_weights(masked, with_whole_tensors(mask, 0, begin), weights), rows);
    double product = 0;
    double whole_square = 0;
    double here_square = 0;
    for (std::size_t tensor = 0; tensor < masked.tensors.size(); ++tensor) {
      for (std::size_t place = 0; place < masked.tensors[tensor].count; ++place) {
        if (mask.tensors[tensor].kept[place] != 0) {
          const std::size_t at = masked.tensors[tensor].offset + place;
          product += whole[at] * here[at];
          whole_square += whole[at] * whole[at];
          here_square += here[at] * here[at];
        }
      }
    }
    const double lengths = std::sqrt(whole_square * here_square);
    cosines.push_back(lengths > 0 ? product / lengths : 0);
  }
  return cosines;
}

}  // namespace modlab::methods

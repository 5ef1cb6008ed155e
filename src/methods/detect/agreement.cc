#include "methods/detect/agreement.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace modlab::methods {
namespace {

// Things that share a group, in each partition and in both.
struct Contingency {
  std::map<int, int> first;
  std::map<int, int> second;
  std::map<std::pair<int, int>, int> both;
  double things = 0;
};

Contingency count(std::span<const int> first, std::span<const int> second) {
  Contingency counts;
  counts.things = static_cast<double>(first.size());
  for (std::size_t thing = 0; thing < first.size(); ++thing) {
    ++counts.first[first[thing]];
    ++counts.second[second[thing]];
    ++counts.both[{first[thing], second[thing]}];
  }
  return counts;
}

double pairs_of(double things) { return things * (things - 1) / 2; }

template <typename Groups>
double pairs_within(const Groups& groups) {
  double pairs = 0;
  for (const auto& [label, things] : groups) {
    pairs += pairs_of(things);
  }
  return pairs;
}

// Hubert and Arabie, "Comparing partitions" (1985). Of unequal partitions the divisor is above zero.
double adjusted_rand(const Contingency& counts) {
  const double first = pairs_within(counts.first);
  const double second = pairs_within(counts.second);
  const double expected = first * second / pairs_of(counts.things);
  return (pairs_within(counts.both) - expected) / ((first + second) / 2 - expected);
}

template <typename Groups>
double entropy(const Groups& groups, double things) {
  double sum = 0;
  for (const auto& [label, count] : groups) {
    sum -= count / things * std::log(count / things);
  }
  return sum;
}

// Of unequal partitions at least one has an entropy above zero.
double mutual_information(const Contingency& counts) {
  const double first = entropy(counts.first, counts.things);
  const double second = entropy(counts.second, counts.things);
  const double shared = first + second - entropy(counts.both, counts.things);
  return std::clamp(shared / ((first + second) / 2), 0.0, 1.0);
}

// Labels of the inputs and then of the outputs. Those of units in no module are below zero and differ.
std::vector<int> own_groups(const tasks::Task& task) {
  std::vector<int> labels(task.table.inputs + task.table.outputs);
  std::iota(labels.rbegin(), labels.rend(), -static_cast<int>(labels.size()));
  return labels;
}

std::vector<int> found_labels(const Detection& detection, const tasks::Task& task) {
  std::vector<int> labels = own_groups(task);
  const auto put = [&](std::size_t layer, int first) {
    for (std::size_t place = 0; place < detection.live[layer].size(); ++place) {
      labels.at(first + detection.live[layer][place]) = detection.modules[layer][place];
    }
  };
  put(0, 0);
  put(detection.live.size() - 1, task.table.inputs);
  return labels;
}

std::vector<int> true_labels(const tasks::Task& task) {
  std::vector<int> labels = own_groups(task);
  for (std::size_t module = 0; module < task.modules.size(); ++module) {
    for (const int input : task.modules[module].inputs) {
      labels.at(input) = static_cast<int>(module);
    }
    for (const int output : task.modules[module].outputs) {
      labels.at(task.table.inputs + output) = static_cast<int>(module);
    }
  }
  return labels;
}

}  // namespace

Agreement agreement(std::span<const int> first, std::span<const int> second) {
  assert(first.size() == second.size());
  const Contingency counts = count(first, second);
  // Each group of one is a group of the other.
  if (counts.both.size() == counts.first.size() && counts.both.size() == counts.second.size()) {
    return {true, 1, 1};
  }
  return {false, adjusted_rand(counts), mutual_information(counts)};
}

std::optional<TruthAgreement> truth_agreement(const Detection& detection, const tasks::Task& task) {
  if (task.modules.empty()) {
    return std::nullopt;
  }
  const std::vector<int> found = found_labels(detection, task);
  const std::vector<int> truth = true_labels(task);
  const auto compare = [&](int first, int units) {
    return agreement(std::span(found).subspan(first, units), std::span(truth).subspan(first, units));
  };
  return TruthAgreement{compare(0, task.table.inputs), compare(task.table.inputs, task.table.outputs),
                        agreement(found, truth)};
}

std::vector<int> same_as_truth(const Hierarchy& hierarchy, const tasks::Task& task) {
  std::vector<int> same;
  for (const Module& module : hierarchy.modules) {
    const auto found = std::ranges::find_if(task.modules, [&](const tasks::TaskModule& truth) {
      return truth.inputs.size() + truth.outputs.size() > 0 && truth.inputs == module.units.front() &&
             truth.outputs == module.units.back();
    });
    same.push_back(found == task.modules.end() ? -1 : static_cast<int>(found - task.modules.begin()));
  }
  return same;
}

}  // namespace modlab::methods

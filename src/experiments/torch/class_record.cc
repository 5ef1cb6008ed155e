#include "experiments/torch/class_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "experiments/mask/mask_record.h"
#include "methods/torch/class_removal.h"
#include "tasks/cifar_files.h"

namespace modlab::experiments {
namespace {

using ClassTable = std::vector<std::vector<double>>;

// Names of pair_measures() that these networks have too.
constexpr std::array<std::string_view, 5> kOfHalves = {"everything", "half_full", "drop_early", "drop_late",
                                                       "early_above_late"};
constexpr int kMostCosines = 5;

// Classes that take each other's place: what the second gains where the first is missing.
constexpr std::array<std::array<std::string_view, 2>, 4> kRivals = {
    {{"cat", "dog"}, {"dog", "cat"}, {"truck", "automobile"}, {"automobile", "truck"}}};

double mean_over(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) {
    sum += number;
  }
  return sum / static_cast<double>(numbers.size());
}

void add_spread(const std::string& name, const std::vector<double>& numbers, Numbers& to) {
  if (!numbers.empty()) {
    to[name] = mean_over(numbers);
    to[name + "_least"] = *std::ranges::min_element(numbers);
    to[name + "_most"] = *std::ranges::max_element(numbers);
  }
}

std::size_t class_number(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

// What the published figures show of single classes.
void add_where_they_go(const std::vector<std::string>& names, const ClassTable& control,
                       const std::map<std::string, const ClassTable*>& without, Numbers& numbers) {
  const auto change = [&](const ClassTable& table, std::string_view right, std::string_view said) {
    const std::size_t from = class_number(names, right);
    const std::size_t to = class_number(names, said);
    return table[from][to] - control[from][to];
  };
  for (const auto& [removed, other] : kRivals) {
    if (const auto found = without.find(std::string(removed)); found != without.end()) {
      numbers[fmt::format("{}_gain_without_{}", other, removed)] = change(*found->second, other, other);
    }
  }
  if (const auto found = without.find("airplane"); found != without.end()) {
    const ClassTable& table = *found->second;
    const double lost = -change(table, "airplane", "airplane");
    if (lost > 0) {
      numbers["airplane_to_bird_ship"] =
          100 * (change(table, "airplane", "bird") + change(table, "airplane", "ship")) / lost;
    }
  }
}

}  // namespace

std::vector<Measure> class_measures() {
  std::vector<Measure> list;
  const auto add = [&](std::string name, std::string label) {
    list.push_back({std::move(name), std::move(label), "%", false, std::nullopt, true, ""});
  };
  const auto add_all = [&](const std::string& name, const std::string& label) {
    add(name, label + ", mean over classes");
    add(name + "_least", label + ", the least of any class");
    add(name + "_most", label + ", the most of any class");
    for (const std::string_view one : tasks::kCifarClasses) {
      add(fmt::format("{}_{}", name, one), fmt::format("{}: {}", label, one));
    }
  };
  add_all("target_drop", "points that a class loses without it");
  add_all("relative_drop", "of a class's accuracy, what is lost without it");
  add_all("worst_other", "largest relative loss of another class, of that of the missing one");
  for (const auto& [removed, other] : kRivals) {
    add(fmt::format("{}_gain_without_{}", other, removed),
        fmt::format("points that {} gains where {} is missing", other, removed));
  }
  add("airplane_to_bird_ship", "of lost airplanes, those that are called bird or ship");
  for (const Measure& measure : pair_measures()) {
    if (std::ranges::find(kOfHalves, measure.name) != kOfHalves.end()) {
      list.push_back(measure);
    }
  }
  for (int layers = 1; layers <= kMostCosines; ++layers) {
    list.push_back({fmt::format("cosine_{}", layers),
                    fmt::format("cosine of gradients with the last {} masked",
                                layers == 1 ? "layer" : fmt::format("{} layers", layers)),
                    "", false, std::pair<double, double>{-1, 1}, true, ""});
  }
  return list;
}

void add_class_numbers(const methods::MaskOutcome& outcome, std::span<const int> removed, Numbers& numbers) {
  const ClassTable& control = outcome.stages.front().class_confusion;
  std::vector<double> drops, relative, others;
  std::map<std::string, const ClassTable*> without;
  for (std::size_t target = 0; target < removed.size(); ++target) {
    const ClassTable& table = outcome.of_target(target).class_confusion;
    const auto missing = static_cast<std::size_t>(removed[target]);
    const methods::RemovedClass found = methods::removed_class(control, table, missing);
    const std::string& name = outcome.class_names[missing];
    without[name] = &table;
    const bool is_named = std::ranges::find(tasks::kCifarClasses, name) != tasks::kCifarClasses.end();
    const auto keep = [&](const char* measure, double number, std::vector<double>& all) {
      all.push_back(number);
      if (is_named) {
        numbers[fmt::format("{}_{}", measure, name)] = number;
      }
    };
    keep("target_drop", found.drop, drops);
    if (found.relative_drop) {
      keep("relative_drop", *found.relative_drop, relative);
    }
    if (found.worst_other) {
      keep("worst_other", *found.worst_other, others);
    }
  }
  add_spread("target_drop", drops, numbers);
  add_spread("relative_drop", relative, numbers);
  add_spread("worst_other", others, numbers);
  add_where_they_go(outcome.class_names, control, without, numbers);
}

}  // namespace modlab::experiments

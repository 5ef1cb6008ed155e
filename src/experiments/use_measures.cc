#include "experiments/use_measures.h"

namespace modlab::experiments {

std::vector<Measure> use_measures() {
  std::vector<Measure> list;
  for (const measures::UseMeasure& row : measures::use_measures()) {
    list.push_back({row.name, row.label, "", false, std::pair{0.0, 1.0}, false, ""});
  }
  list.push_back({"dead_modules", "modules that are not used", "", false, std::nullopt, false, ""});
  return list;
}

void add_use(const measures::UseMeasures& use, Numbers& numbers) {
  for (const measures::UseMeasure& row : measures::use_measures()) {
    numbers[row.name] = use.*row.value;
  }
  numbers["dead_modules"] = use.dead_modules;
}

}  // namespace modlab::experiments

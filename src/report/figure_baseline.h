#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "studies/findings.h"

namespace modlab::report {

// Lines that networks are held against, along x in every panel: what guessing reaches on the very rows that an accuracy
// is about, or what a kind of run knows without training.
nlohmann::ordered_json baseline_json(const studies::Findings& findings, const std::vector<const studies::Cell*>& cells,
                                     const studies::Figure& figure);

// One such line of a measure over some cells; nothing where there is none.
struct BaselineValue {
  double value = 0;
  std::string label;
};
std::optional<BaselineValue> baseline_of(const std::vector<const studies::Cell*>& cells,
                                         const experiments::Measure& measure);

}  // namespace modlab::report

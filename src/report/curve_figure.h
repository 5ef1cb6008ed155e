#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// What runs were while they were trained, as their kind reads it; each is read once.
class StoredCurves {
 public:
  explicit StoredCurves(studies::Store& store) : store_(store) {}
  // Empty where the store has not kept it.
  const std::vector<experiments::Numbers>& of(const experiments::Run& run);

 private:
  studies::Store& store_;
  std::map<std::uint64_t, std::vector<experiments::Numbers>> curves_;
};

// Measures along training: means over runs at each place of their curves.
nlohmann::ordered_json curve_figure(const studies::Findings& findings, const studies::Figure& figure,
                                    StoredCurves& curves);

}  // namespace modlab::report

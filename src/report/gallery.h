#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// What a kind of trained networks brings to its gallery.
struct NetworkGallery {
  const experiments::Experiment* kind = nullptr;
  std::vector<std::string> parts;                             // of its data; the third is tested on
  std::function<bool(const experiments::Run& run)> is_shown;  // whether there is something to look at
  std::function<void(const experiments::Run& run, nlohmann::ordered_json& json)> add;  // its own part of the JSON
};

// What was drawn for a run: "split 40, seed 0".
std::string drawn_text(const experiments::Run& run);

// The best, the median and the worst network of each cell that the study's gallery names, with their curves.
// web/src/report.ts describes the form.
nlohmann::ordered_json gallery_of_networks(const studies::Findings& findings, studies::Store& store,
                                           const NetworkGallery& gallery);

}  // namespace modlab::report

#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "experiments/experiment.h"
#include "methods/mask/mask_outcome.h"

// What is kept of a network's masks: numbers for tables and claims, and an object for people and other programs.
namespace modlab::experiments {

// Measures that masks of every network have.
std::vector<Measure> mask_measures();

// The table of `modlab train`, and what stands below it.
std::vector<Column> mask_columns();
std::string mask_footnote();
// A run with what its details say.
nlohmann::ordered_json mask_run_json(nlohmann::ordered_json run, const Result& result);

// `related`: [pair of targets, in the order of methods::sharing_of], whether both need a common part; empty where
// nobody knows. `in_order`: tensors are layers from the inputs up, so that there is a first and a last one.
Numbers mask_numbers(const methods::MaskOutcome& outcome, const std::vector<bool>& related = {}, bool in_order = true);

// Of two targets, each by itself: what it does under each mask and without what it keeps, what its mask keeps, and how
// often the other operation answers; and of half masks.
std::vector<Measure> pair_measures();
void add_pair_numbers(const methods::MaskOutcome& outcome, Numbers& numbers);

// "unmasked", "stages", "sharing", "pairs", and "beta" with what was tried for it. docs/masks.md describes them.
nlohmann::ordered_json mask_json(const methods::MaskOutcome& outcome);

// Things that make an answer doubtful, a sentence each: a control that lost much, a tensor without a kept weight, an
// output that no path leads to.
std::vector<std::string> mask_warnings(const methods::MaskOutcome& outcome);

}  // namespace modlab::experiments

#pragma once

#include <vector>

#include "methods/sculpt/pruned_mlp.h"
#include "methods/sculpt/sculpt_spec.h"

namespace modlab::methods {

// The value under which `percent` of the numbers lie, between two of them by linear interpolation. The numbers are
// `zeros` zeros and then `ascending`.
double percentile(std::size_t zeros, const std::vector<double>& ascending, double percent);

// Removes the hidden units whose score (of all hidden units, layer after layer) is not above the threshold that
// `percent` of them are under. Units that are gone have the lowest scores, so the percentage counts them.
PrunedMlp prune_units(const PrunedMlp& network, const std::vector<double>& scores, ScoreScale scale, double percent);

// Removes the weights whose magnitude is not above the threshold that `percent` of all weights are under.
PrunedMlp prune_edges(const PrunedMlp& network, double percent);

// Some input has no way out, or some output no way in.
bool is_cut_off(const PrunedMlp& network);

}  // namespace modlab::methods

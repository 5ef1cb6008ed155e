#pragma once

#include <map>
#include <string>

#include "methods/sculpt/judged_trial.h"

namespace modlab::methods {

// What figures and claims ask of a trial, by name. Shares are in percent of the networks that are tied for the fewest
// edges, so that ties stay open; `_optimistic` and `_pessimistic` take the best and the worst of them, as if someone
// had chosen. A trial whose dense network did not learn has no other numbers than that. What means nothing, or is not
// known of networks from elsewhere, is left out.
// `judged` is of that outcome.
std::map<std::string, double> trial_measures(const TrialOutcome& outcome, const JudgedTrial& judged, int epochs,
                                             const tasks::Task& task);

}  // namespace modlab::methods

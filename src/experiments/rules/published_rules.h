#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// The flags of the published scripts, of which there is one for each family of rules.
std::vector<PublishedFlag> published_rule_flags();

// What a published command asks for, in our words; anything else stays as it is.
Asked published_rules(Asked asked);

}  // namespace modlab::experiments

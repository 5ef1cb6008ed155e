#pragma once

#include "methods/sculpt/sculpt_run.h"
#include "settings/spec_table.h"

namespace modlab::methods {

inline constexpr auto kSculptedModel = "sculpted";

// The settings of networks that are pruned after their training, and of how modules are looked for in what is left.
const settings::SpecTable<SculptRun>& sculpt_settings();

}  // namespace modlab::methods

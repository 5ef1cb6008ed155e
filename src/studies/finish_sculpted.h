#pragma once

#include <string>
#include <vector>

#include "methods/sculpt/sculpt.h"
#include "studies/store.h"

namespace modlab::studies {

// What the store keeps of a sculpted network, judged as the run says. `names` are of the tied networks where they were
// not carved here; otherwise there are none.
FinishedRun finish_sculpted(const models::RunSpec& run, const tasks::TaskSuite& suite,
                            const methods::SculptResult& result, const std::vector<std::string>& names = {});

}  // namespace modlab::studies

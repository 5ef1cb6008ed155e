#pragma once

#include <string>
#include <vector>

#include "studies/claims.h"
#include "studies/findings.h"
#include "studies/study_plan.h"
#include "studies/workbench.h"

namespace modlab::cli {

// What a plan trains: a line for each series, with how many of its runs are finished.
std::string plan_table(const studies::Study& study, const studies::StudyPlan& plan, const studies::RunSet& finished);

// The study in a few numbers: for each kind of run its headline, by series and task, averaged over the other axes.
std::string result_tables(const studies::Findings& findings);

// The claims, one after the other, with a mark, their numbers and a count at the end.
std::string claims_text(const std::vector<studies::ClaimResult>& claims);

// How often ties decided, and what another rule would have changed.
std::string ties_text(const studies::Findings& findings);

// A line on finished runs that the study as it is now does not have; empty where there are none.
std::string other_runs_text(studies::OpenedStudy& opened);

}  // namespace modlab::cli

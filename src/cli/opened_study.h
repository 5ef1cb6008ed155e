#pragma once

#include <string>
#include <vector>

#include "studies/claims.h"
#include "studies/findings.h"
#include "studies/store.h"
#include "studies/study_plan.h"

namespace modlab::cli {

// A study as its folder has it: read again from the store, planned again, and what it has found.
class OpenedStudy {
 public:
  explicit OpenedStudy(const std::string& folder);
  OpenedStudy(const OpenedStudy&) = delete;
  OpenedStudy& operator=(const OpenedStudy&) = delete;

  studies::Store& store() { return store_; }
  const studies::Study& study() const { return study_; }
  const studies::StudyPlan& plan() const { return plan_; }
  // Reads all results at the first call.
  const studies::Findings& findings();

 private:
  studies::Store store_;
  studies::Study study_;
  studies::StudyPlan plan_;
  std::optional<studies::Findings> findings_;
};

// What a study trains, with everything the command line said about it.
studies::Study study_with(const std::string& name_or_path, const std::vector<std::string>& overrides);

// Writes the report of a study, and says where. The path is the folder's report.html if none is given.
void write_report(OpenedStudy& opened, const std::vector<studies::ClaimResult>& claims, const std::string& path);

}  // namespace modlab::cli

#include "cli/opened_study.h"

#include <fmt/format.h>

#include "io/file.h"
#include "report/page.h"
#include "report/report_data.h"

namespace modlab::cli {
namespace {

studies::Study study_of(const studies::StoredStudy& stored) {
  studies::Study study = studies::parse_study(stored.text, stored.name, stored.source);
  for (const std::string& text : stored.overrides) {
    studies::apply_override(study, text);
  }
  return study;
}

}  // namespace

studies::Study study_with(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  studies::Study study = studies::load_study(name_or_path);
  for (const std::string& text : overrides) {
    studies::apply_override(study, text);
  }
  return study;
}

OpenedStudy::OpenedStudy(const std::string& folder)
    : store_(studies::Store::open(folder)),
      study_(study_of(store_.study())),
      plan_(studies::plan_study(study_, store_.study().preset)) {
  for (const auto& [name, suite] : plan_.suites) {
    store_.check_task(name, suite);
  }
}

const studies::Findings& OpenedStudy::findings() {
  if (!findings_) {
    findings_.emplace(study_, plan_, store_);
  }
  return *findings_;
}

void write_report(OpenedStudy& opened, const std::vector<studies::ClaimResult>& claims, const std::string& path) {
  io::write_file(path, report::page(report::report_data(opened.findings(), claims, opened.store())));
}

}  // namespace modlab::cli

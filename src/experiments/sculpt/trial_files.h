#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "io/file.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/sculpt.h"
#include "methods/sculpt/sculpt_run.h"

namespace modlab::experiments {

// What is said of a trial, as `--json` and trials.json have it.
nlohmann::ordered_json trial_json(const methods::SculptRun& run, const methods::SculptResult& result,
                                  const methods::JudgedTrial& judged);

// The files that `modlab sculpt` leaves behind; docs/formats.md describes them. They appear when all is done.
class SculptFolder {
 public:
  // Says so if it cannot be written, or holds an earlier run's files that are not to be replaced, before anything is
  // trained.
  SculptFolder(const std::string& path, bool replaces);

  void add(const methods::SculptRun& run, const methods::SculptResult& result, const nlohmann::ordered_json& trial);
  void commit();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  io::AtomicFile networks_;
  io::AtomicFile history_;
  io::AtomicFile dense_;
  io::AtomicFile trials_;
  bool has_trials_ = false;
};

}  // namespace modlab::experiments

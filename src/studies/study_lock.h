#pragma once

#include <optional>
#include <string>
#include <vector>

namespace modlab::studies {

// One process at a time trains a study: a file beside the store that is locked as long as the process lives, however it
// ends.
class StudyLock {
 public:
  // Makes the folder if need be. Throws ConfigError if another process is at it, and says which.
  explicit StudyLock(const std::string& folder);
  ~StudyLock();
  StudyLock(const StudyLock&) = delete;
  StudyLock& operator=(const StudyLock&) = delete;

  // What else there is to say of who trains: "8 ranks".
  void note(const std::string& what);

 private:
  bool try_to_lock();

  std::string path_;
  std::vector<std::string> made_;  // folders that were not there, the innermost first
  int file_ = -1;
};

// "process 4711 on lab3 (since 2026-11-17 00:40 UTC)" if one trains the study of that folder.
std::optional<std::string> who_trains(const std::string& folder);

}  // namespace modlab::studies

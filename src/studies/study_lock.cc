#include "studies/study_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"

namespace modlab::studies {
namespace {

// Whoever only finds that nothing is left to do, or looks whether someone is at it, lets go within a moment.
constexpr int kTries = 25;
constexpr auto kBetweenTries = std::chrono::milliseconds(20);

std::string lock_path(const std::string& folder) { return (std::filesystem::path(folder) / "study.lock").string(); }

std::string this_process(const std::string& what) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return fmt::format("process {} on {} ({}since {})\n", ::getpid(), host.data(), what.empty() ? "" : what + ", ",
                     since.data());
}

std::string text_of(int file) {
  std::array<char, 512> text{};
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  const std::string_view line = trim({text.data(), count > 0 ? static_cast<std::size_t>(count) : 0});
  return line.empty() ? "another process" : on_one_line(line);
}

// Where files cannot be locked at all, nobody seems to hold one.
bool is_held_elsewhere(int file, int kind) { return ::flock(file, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

bool is_called(int file, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(file, &ours) == 0 && ::stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

}  // namespace

StudyLock::StudyLock(const std::string& folder) : path_(lock_path(folder)) {
  for (std::filesystem::path place = folder; !place.empty() && !std::filesystem::exists(place);
       place = place.parent_path()) {
    made_.push_back(place.string());
  }
  io::prepare_folder(folder);
  for (int tries = 0; !try_to_lock(); ++tries) {
    if (tries == kTries) {
      throw ConfigError(
          fmt::format("{}: {} trains this study; wait for it (`modlab study status {}` says how far it is), or choose "
                      "another folder",
                      folder, who_trains(folder).value_or("another process"), folder));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  note("");
}

void StudyLock::note(const std::string& what) {
  // On a full disk nobody learns who it is, and that is all.
  const std::string text = this_process(what);
  [[maybe_unused]] const bool is_written =
      ::ftruncate(file_, 0) == 0 && ::pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool StudyLock::try_to_lock() {
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) {
    throw FormatError(fmt::format("{}: cannot be written ({}); choose another place", path_, std::strerror(errno)));
  }
  // Whoever held it takes the file away in the end: a lock on a file without a name means nothing.
  if (!is_held_elsewhere(file, LOCK_EX) && is_called(file, path_)) {
    file_ = file;
    return true;
  }
  ::close(file);
  return false;
}

StudyLock::~StudyLock() {
  std::error_code ignored;
  if (is_called(file_, path_)) {  // the folder may have been deleted, and made again by someone else
    std::filesystem::remove(path_, ignored);
  }
  for (const std::string& folder : made_) {
    std::filesystem::remove(folder, ignored);  // which keeps what is not empty
  }
  ::close(file_);
}

std::optional<std::string> who_trains(const std::string& folder) {
  const int file = ::open(lock_path(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    return std::nullopt;
  }
  std::optional<std::string> who = is_held_elsewhere(file, LOCK_SH) ? std::optional(text_of(file)) : std::nullopt;
  ::close(file);
  return who;
}

}  // namespace modlab::studies

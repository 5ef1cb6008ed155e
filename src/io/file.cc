#include "io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryEnding = ".modlab.tmp";

std::string temporary_name(const std::string& name) {
  return fmt::format("{}.{}{}", name, ::getpid(), kTemporaryEnding);
}

// The process that a temporary name is of, or nothing.
std::optional<pid_t> process_of(std::string_view name) {
  if (!name.ends_with(kTemporaryEnding)) {
    return std::nullopt;
  }
  name.remove_suffix(kTemporaryEnding.size());
  const std::size_t dot = name.rfind('.');
  const std::optional<long long> process =
      dot == std::string_view::npos ? std::nullopt : parse_integer(name.substr(dot + 1));
  return process && *process > 0 && *process <= std::numeric_limits<pid_t>::max()
             ? std::optional(static_cast<pid_t>(*process))
             : std::nullopt;
}

// Its process may run on another machine, where its number means nothing: the lock tells.
bool is_left_behind(const fs::path& path, pid_t process) {
  if (process == ::getpid() || ::kill(process, 0) == 0 || errno != ESRCH) {
    return false;
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    return false;
  }
  const bool is_locked = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return !is_locked;
}

// Folders are looked through once: a population may be saved as thousands of files.
bool is_first_look(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(folder).second;
}

// Also one of the files that belong to it.
bool is_database(std::string path) {
  for (const std::string_view ending : {"-wal", "-shm", "-journal"}) {
    if (path.ends_with(ending)) {
      path.erase(path.size() - ending.size());
      break;
    }
  }
  constexpr std::string_view kHead = "SQLite format 3";
  std::array<char, kHead.size()> head{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  return file && std::fread(head.data(), 1, head.size(), file.get()) == head.size() &&
         std::string_view(head.data(), head.size()) == kHead;
}

}  // namespace

void remove_left_behind(const std::string& folder) {
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::optional<pid_t> process = process_of(entry->path().filename().string());
    std::error_code none;
    if (process && is_left_behind(entry->path(), *process)) {
      fs::remove_all(entry->path(), none);
    }
  }
}

std::string read_file(const std::string& path, std::size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FormatError(fmt::format("{}: is a folder; name a file in it", path));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    throw FormatError(fmt::format("{}: cannot be read ({}); check the path", path, std::strerror(errno)));
  }
  std::string text;
  char block[1 << 14];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    if (text.size() + count > max_bytes) {
      throw FormatError(fmt::format("{}: larger than {} bytes, the most such a file may have", path, max_bytes));
    }
    text.append(block, count);
  }
  if (std::ferror(file.get()) != 0) {
    throw FormatError(fmt::format("{}: cannot be read to its end ({})", path, std::strerror(errno)));
  }
  return text;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  std::error_code ignored;
  if (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored)) {
    fail("not a regular file");
  }
  if (is_database(path_)) {
    fail("it is a database, such as the results of a study");
  }
  const std::string folder = fs::path(path_).parent_path().string();
  if (is_first_look(folder)) {
    remove_left_behind(folder.empty() ? "." : folder);
  }
  // A process that had our number may have left one.
  fs::remove(temporary_, ignored);
  file_.reset(std::fopen(temporary_.c_str(), "wbxe"));
  if (!file_) {
    fail(std::strerror(errno));
  }
  ::flock(::fileno(file_.get()), LOCK_EX | LOCK_NB);
}

AtomicFile::~AtomicFile() {
  if (file_) {
    file_.reset();
    std::remove(temporary_.c_str());
  }
}

void AtomicFile::fail(const std::string& reason) {
  throw FormatError(fmt::format("{}: cannot be written ({}); choose another place", path_, reason));
}

void AtomicFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    fail(std::strerror(errno));
  }
}

void AtomicFile::commit() {
  // Flushing comes first: on a full disk the error shows only here.
  if (std::fflush(file_.get()) != 0) {
    fail(std::strerror(errno));
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    fail(error.message());
  }
  file_.reset();
}

TemporaryFolder::TemporaryFolder(const std::string& parent, const std::string& name)
    : path_(temporary_name((fs::path(parent) / name).string())) {
  remove_left_behind(parent);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (::mkdir(path_.c_str(), 0700) != 0) {
    throw FormatError(fmt::format("{}: cannot be written to ({}); choose another place", parent, std::strerror(errno)));
  }
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ::flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void prepare_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw FormatError(fmt::format("{}: cannot be made a folder ({}); choose another place", path,
                                  error ? error.message() : "a file of that name exists"));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    throw FormatError(fmt::format("{}: cannot be written to ({}); choose another place", path, std::strerror(errno)));
  }
}

}  // namespace modlab::io

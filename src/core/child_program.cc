#include "core/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/text.h"

namespace modlab {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(10);
// A program that was asked to end is left this many looks of time to clean up after itself.
constexpr int kPatience = 100;
constexpr std::size_t kLongestComplaint = 200;

// A nameless file in memory, which works on a full disk too.
class CaughtText {
 public:
  CaughtText() : file_(::memfd_create("modlab", MFD_CLOEXEC)) {}
  ~CaughtText() { ::close(file_); }
  CaughtText(const CaughtText&) = delete;
  CaughtText& operator=(const CaughtText&) = delete;

  int file() const { return file_; }

  // What comes first is the reason, what follows its consequences.
  std::string first_line() const {
    std::array<char, 4096> block;
    const ssize_t count = ::pread(file_, block.data(), block.size(), 0);
    const std::string_view text = trim({block.data(), count > 0 ? static_cast<std::size_t>(count) : 0});
    return std::string(text.substr(0, std::min(text.find('\n'), kLongestComplaint)));
  }

 private:
  int file_;
};

// What posix_spawn is told, released in the end.
struct SpawnPlan {
  SpawnPlan(const std::string& folder, int standard_error) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, standard_error, STDERR_FILENO);
    ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    ::posix_spawnattr_init(&attributes);
    // A group of its own: whatever it starts ends with it. And a pipe that breaks ends it, which this program ignores.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t ignored_here;
    ::sigemptyset(&ignored_here);
    ::sigaddset(&ignored_here, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

bool has_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split_text(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    if (::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

ChildOutcome run_program(const std::vector<std::string>& words, const std::string& folder,
                         const InterruptNote& interrupts, std::optional<std::uint64_t> most_bytes) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const CaughtText caught;
  const SpawnPlan plan(folder, caught.file());
  pid_t id = 0;
  if (const int error = ::posix_spawnp(&id, arguments[0], &plan.actions, &plan.attributes, arguments.data(), environ);
      error != 0) {
    // As a shell counts a program that cannot be started.
    return {127, std::strerror(error)};
  }
  if (most_bytes) {
    const rlimit limit{*most_bytes, *most_bytes};
    ::prlimit(id, RLIMIT_FSIZE, &limit, nullptr);
  }
  int status = 0;
  for (int looks_after_interrupt = 0; ::waitpid(id, &status, WNOHANG) == 0;) {
    if (interrupts.arrived()) {
      ::kill(-id, ++looks_after_interrupt > kPatience ? SIGKILL : SIGTERM);
    }
    std::this_thread::sleep_for(kLookEvery);
  }
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), caught.first_line()};
}

}  // namespace modlab

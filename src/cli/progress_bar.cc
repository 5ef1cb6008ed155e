#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "cli/terminal.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainLineEvery = std::chrono::seconds(10);

// A signal handler may touch nothing but lock-free atomics.
std::atomic<bool> interrupted{false};
void on_interrupt(int /*signal*/) { interrupted = true; }

}  // namespace

ProgressBar::ProgressBar(Watched work, bool quiet)
    : work_(std::move(work)),
      quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_line_(begin_) {
  interrupted = false;
  std::signal(SIGINT, &on_interrupt);
  std::signal(SIGTERM, &on_interrupt);
  thread_ = std::thread([this] { watch(); });
}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (is_terminal_ && !quiet_) {
    fmt::print(stderr, "\r\033[K");
  }
}

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void ProgressBar::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kRedraw, [this] { return done_; })) {
    if (interrupted) {
      work_.stop();
    }
    if (!quiet_) {
      draw();
    }
  }
}

void ProgressBar::draw() {
  const double elapsed = seconds();
  const experiments::Status status = work_.status(elapsed);
  const double share = status.share;
  const std::string left = share > 0 ? duration_text(elapsed * (1 - share) / share) : "?";
  if (is_terminal_) {
    const std::string text = fmt::format("{}, {} left", status.text, left);
    fmt::print(stderr, "\r\033[K{}", progress_line(share, text, terminal_width(stderr)));
    std::fflush(stderr);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_line_ >= kPlainLineEvery) {
    last_line_ = now;
    fmt::print(stderr, "{:.0f} %: {}, {} left\n", 100 * share, status.text, left);
  }
}

}  // namespace modlab::cli

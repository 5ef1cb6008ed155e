#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainLineEvery = std::chrono::seconds(10);

}  // namespace

ProgressBar::ProgressBar(Watched work, bool quiet)
    : work_(std::move(work)),
      quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_line_(begin_) {
  interrupts_.emplace();
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {
    interrupts_.reset();  // nobody would look at it: Ctrl-C ends the program, and what is committed stays
  }
}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
  if (is_terminal_ && !quiet_) {
    say("\r\033[K");
  }
}

double ProgressBar::seconds() const {
  // A clock that jumps must not make a rate negative or infinite.
  constexpr double kShortest = 1e-6;
  return std::max(kShortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
}

void ProgressBar::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kRedraw, [this] { return done_; })) {
    if (interrupts_->arrived()) {
      work_.stop();
    }
    try {
      if (!quiet_) {
        draw();
      }
    } catch (const std::exception&) {
      // Without memory for a line there is none; the work has its own to say of that.
    }
  }
}

void ProgressBar::draw() {
  const double elapsed = seconds();
  const experiments::Status status = work_.status(elapsed);
  const double share = std::clamp(status.share, 0.0, 1.0);
  const std::string left = share > 0 ? duration_text(elapsed * (1 - share) / share) : "?";
  if (is_terminal_) {
    const std::string text = fmt::format("{}, {} left", status.text, left);
    say(fmt::format("\r\033[K{}", progress_line(share, text, terminal_width(stderr))));
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_line_ >= kPlainLineEvery) {
    last_line_ = now;
    say(fmt::format("{:.0f} %: {}, {} left\n", 100 * share, status.text, left));
  }
}

}  // namespace modlab::cli

#include "cli/standard_streams.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/errors.h"

namespace modlab::cli {
namespace {

[[noreturn]] void fail_output(int reason) {
  if (reason == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw FormatError(fmt::format("standard output cannot be written ({}); send it to another place",
                                reason == 0 ? "it was cut short" : std::strerror(reason)));
}

}  // namespace

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void flush_output() {
  errno = 0;
  // An earlier error is remembered though its reason is not.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail_output(errno);
  }
}

void blame_output(const std::system_error& error) {
  if (std::ferror(stdout) != 0) {
    fail_output(error.code().value());
  }
}

}  // namespace modlab::cli

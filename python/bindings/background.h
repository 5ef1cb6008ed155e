#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "bindings.h"
#include "experiments/experiment.h"

namespace modlab::python {

// Work on a thread of its own: Python's waits with the interpreter free, draws a bar and hears Ctrl-C. The work must
// not touch Python. Whoever owns one declares it last, so that it ends before what it works on.
class Background {
 public:
  struct Watched {
    std::function<void()> execute;
    std::function<void()> stop;
    std::function<experiments::Status(double seconds)> status;
  };

  explicit Background(Watched work) : work_(std::move(work)) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void start();
  // Whether it is over, after so many seconds at most. Throws what the work threw. For one thread at a time.
  bool wait(double seconds);
  void stop() { work_.stop(); }
  double seconds() const;
  experiments::Status status() const { return work_.status(seconds()); }

 private:
  Watched work_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point end_;
  std::exception_ptr failure_;
  bool over_ = false;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;
};

// start, wait, stop, status and seconds of a class that has a Background as `background()`.
template <typename Owner, typename... Options>
void bind_background(py::class_<Owner, Options...>& bound) {
  bound.def("start", [](Owner& owner) { owner.background().start(); });
  bound.def(
      "wait", [](Owner& owner, double seconds) { return owner.background().wait(seconds); },
      py::call_guard<py::gil_scoped_release>());
  bound.def("stop", [](Owner& owner) { owner.background().stop(); });
  bound.def("status", [](const Owner& owner) {
    const experiments::Status status = owner.background().status();
    return py::make_tuple(status.share, status.text);
  });
  bound.def_property_readonly("seconds", [](const Owner& owner) { return owner.background().seconds(); });
}

// As many threads as asked for, or as the machine has. Throws ConfigError.
int thread_count(std::optional<long long> asked);

}  // namespace modlab::python

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <utility>

#include "experiments/experiment.h"
#include "experiments/side_by_side.h"
#include "io/unfinished.h"
#include "methods/mask/masked_digits.h"

namespace modlab::experiments {

// Larger networks and their masks: one network after the other on every thread; a network alone is shared by all of
// them.
class SoloMaskWork : public Work {
 public:
  SoloMaskWork(std::span<const Run> runs, Resources resources) : runs_(runs), resources_(std::move(resources)) {}

  void execute(const Sink& sink) override {
    run_side_by_side(runs_.size(), resources_.threads, progress_.stop, [&](std::size_t at, int threads) {
      if (std::optional<Result> result = carry_out(at, threads, progress_)) {
        sink({{&runs_[at], std::move(*result)}});
        unfinished(at).clear();
        ++finished_;
      }
    });
  }

  Status status(double seconds) const override {
    const auto done = static_cast<double>(progress_.steps.load());
    return {done / static_cast<double>(std::max<std::int64_t>(1, steps_ - progress_.found.load())),
            fmt::format("{} of {} networks masked, {:.0f} steps/s", finished_.load(), runs_.size(),
                        seconds > 0 ? done / seconds : 0)};
  }
  void stop() override { progress_.stop = true; }

 protected:
  // One network with its masks; nothing if it was asked to stop.
  virtual std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const = 0;
  // Training steps of all runs.
  void add_steps(std::int64_t steps) { steps_ += steps; }
  const Run& run(std::size_t at) const { return runs_[at]; }
  // Where parts of a run are kept until all of it is done.
  io::Unfinished unfinished(std::size_t at) const { return {resources_.unfinished, runs_[at].id()}; }
  const Resources& resources() const { return resources_; }

 private:
  std::span<const Run> runs_;
  Resources resources_;
  std::int64_t steps_ = 0;
  methods::DigitProgress progress_;
  std::atomic<std::size_t> finished_{0};
};

}  // namespace modlab::experiments

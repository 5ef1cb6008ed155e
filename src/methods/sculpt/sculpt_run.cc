#include "methods/sculpt/sculpt_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "methods/sculpt/published_training.h"

namespace modlab::methods {
namespace {

// Where the authors did not train a network like it: the rate of most of theirs, batches that grow with the table, and
// as many epochs as it takes.
PublishedTraining usual_training(const tasks::TaskSuite& suite) {
  constexpr double kUsualRate = 0.05;
  constexpr int kSmallestBatch = 8;
  constexpr int kLargestBatch = 32;
  return {kUsualRate, std::clamp((1 << suite.inputs()) / 2, kSmallestBatch, kLargestBatch), 0};
}

}  // namespace

SculptRun published_sculpt_run() {
  SculptRun run;
  run.epochs = run.batch_size = 0;
  run.lr = 0;
  run.weight_decay = 0.0001;
  run.init = models::Init::kKaiming;
  return run;
}

SculptRun resolve(const SculptRun& given, const tasks::TaskSuite& suite) {
  SculptRun spec = given;
  if (suite.images() || suite.tasks.size() > 1) {
    throw ConfigError(fmt::format("task '{}' {}; networks are sculpted on one task of bits", spec.task,
                                  suite.images() ? "is on images" : "is a suite of several tasks"));
  }
  check(spec.detect);
  if (spec.hidden.empty()) {
    spec.hidden = {24, 24};
  }
  const bool same_widths = std::ranges::count(spec.hidden, spec.hidden.front()) == std::ssize(spec.hidden);
  const std::optional<PublishedTraining> published =
      same_widths ? published_training(spec.task, static_cast<int>(spec.hidden.size()), spec.hidden.front())
                  : std::nullopt;
  const PublishedTraining training = published.value_or(usual_training(suite));
  spec.lr = spec.lr > 0 ? spec.lr : training.lr;
  spec.batch_size = spec.batch_size > 0 ? spec.batch_size : training.batch_size;
  spec.epochs = spec.epochs > 0 ? spec.epochs : training.epochs;
  spec.sculpt.epoch_search = spec.sculpt.epoch_search || spec.epochs == 0;
  if (spec.sculpt.epoch_search) {
    spec.epochs = 0;
  }
  return spec;
}

}  // namespace modlab::methods

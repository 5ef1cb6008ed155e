#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tasks/task.h"

// What kinds of networks on images have in common, whoever trains them.
namespace modlab::experiments {

inline constexpr auto kUnseenPart = "unseen";
inline constexpr auto kImageTableTitle =
    "Mean accuracy on unseen combinations in %, chosen by validation, ± standard error within splits";

std::vector<Measure> image_task_measures();
Parts image_parts();
std::vector<Column> image_columns();
// `base`: what always saying 0 scores on the combinations that a run's split keeps for the test.
std::string image_footnote(std::span<const Run> runs, const std::function<double(const Run& run)>& base);
double unseen_base(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite);
// What chance reaches in such a run.
void add_image_chance(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite, Numbers& numbers);

}  // namespace modlab::experiments

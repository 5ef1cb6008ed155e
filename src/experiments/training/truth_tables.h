#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tasks/task.h"

// What kinds of networks on truth tables have in common, whoever trains them.
namespace modlab::experiments {

Parts table_parts();
std::vector<Column> table_columns();
// `base`: what always saying the more frequent value of a run's test rows scores.
std::string table_footnote(std::span<const Run> runs, const std::function<double(const Run& run)>& base);
Measure base_of_tests_measure();
// In percent, on the test rows of a split.
double base_of_tests(double ratio, std::uint32_t split_seed, const tasks::TaskSuite& suite);

inline constexpr auto kTableTitle = "Mean test accuracy in %, chosen by validation, ± standard error within splits";

}  // namespace modlab::experiments

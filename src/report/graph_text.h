#pragma once

#include <optional>
#include <string>

#include "tasks/task.h"

namespace modlab::report {

// A key and what there is to say of it, broken into lines of the page's width.
std::string entry(const std::string& key, const std::string& value, std::size_t key_width = 12);

// A suite in words, with so many rows of its truth tables; without a number as many as a page holds.
std::string describe_suite(const tasks::TaskSuite& suite, std::optional<int> rows);

}  // namespace modlab::report

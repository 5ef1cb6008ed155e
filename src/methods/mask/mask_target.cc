#include "methods/mask/mask_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "io/csv_file.h"
#include "io/file.h"

namespace modlab::methods {
namespace {

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kMostTargets = 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 26U;

std::uint32_t all_outputs(const tasks::TaskSuite& suite) { return (1U << suite.outputs()) - 1; }

const std::vector<std::string>& output_names(const tasks::TaskSuite& suite) { return suite.tasks.front().output_names; }

std::size_t rows_of_task(const tasks::TaskSuite& suite) { return std::size_t{1} << suite.inputs(); }

std::vector<std::uint32_t> all_rows(const tasks::TaskSuite& suite) {
  std::vector<std::uint32_t> rows(rows_of_task(suite) * suite.tasks.size());
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

// What outputs read, by the names of gates and inputs; empty where the graph is not known.
std::vector<std::string> names_of_read(const tasks::TaskSuite& suite) {
  std::vector<std::string> names;
  if (suite.tasks.size() == 1 && suite.tasks.front().graph) {
    const tasks::FunctionGraph& graph = *suite.tasks.front().graph;
    for (const tasks::Wire& wire : graph.outputs) {
      names.push_back(tasks::wire_text(graph, wire));
    }
  }
  return names;
}

// An output goes by its own name, or by that of the gate that it reads, as the task's file may list it.
std::uint32_t output_bit(const std::string& name, const tasks::TaskSuite& suite, const std::string& source) {
  std::vector<std::string> names = output_names(suite);
  const std::vector<std::string> read = names_of_read(suite);
  if (const auto gate = std::ranges::find(read, name); gate != read.end()) {
    return 1U << (gate - read.begin());
  }
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    names.insert(names.end(), read.begin(), read.end());
    const std::string nearest = did_you_mean(name, names);
    throw ConfigError(fmt::format("{}: {} has no output '{}'{}", source, suite.name, name,
                                  nearest.empty() ? "; it has " + join_text(names, ", ") : nearest));
  }
  return 1U << (found - names.begin());
}

std::vector<MaskTarget> by_output(const tasks::TaskSuite& suite) {
  std::vector<MaskTarget> targets;
  for (std::size_t output = 0; output < output_names(suite).size(); ++output) {
    targets.push_back({output_names(suite)[output], all_rows(suite), 1U << output});
  }
  return targets;
}

std::vector<MaskTarget> by_task(const tasks::TaskSuite& suite) {
  std::vector<MaskTarget> targets;
  for (std::size_t task = 0; task < suite.tasks.size(); ++task) {
    std::vector<std::uint32_t> rows(rows_of_task(suite));
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(task * rows_of_task(suite)));
    targets.push_back({suite.tasks[task].name, std::move(rows), all_outputs(suite)});
  }
  return targets;
}

std::vector<MaskTarget> by_group(const std::string& text, const tasks::TaskSuite& suite) {
  std::vector<MaskTarget> targets;
  for (const std::string& group : split_text(text, '/')) {
    MaskTarget target{group, all_rows(suite), 0};
    for (const std::string& name : split_text(group, '+')) {
      target.outputs |= output_bit(name, suite, "targets");
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

// What a line of the file adds to its target.
struct Line {
  std::string target;
  std::vector<std::uint32_t> rows;
  std::uint32_t outputs = 0;
};

class TargetFile {
 public:
  TargetFile(const std::string& text, const std::string& path, const tasks::TaskSuite& suite)
      : path_(path), suite_(suite), csv_(io::parse_csv(text, path, kMostLines, 4)) {
    for (const char* name : {"target", "row", "output"}) {
      if (!column(name)) {
        throw FormatError(fmt::format("{}: the first line must name the columns target, row and output", path));
      }
    }
  }

  std::vector<MaskTarget> targets() const {
    std::vector<MaskTarget> list;
    for (const io::CsvRow& row : csv_.rows) {
      const Line line = read(row);
      auto found = std::ranges::find(list, line.target, &MaskTarget::name);
      if (found == list.end()) {
        if (list.size() == kMostTargets) {
          throw FormatError(fmt::format("{}: more than {} targets", path_, kMostTargets));
        }
        found = list.insert(list.end(), MaskTarget{line.target, {}, 0});
      }
      found->rows.insert(found->rows.end(), line.rows.begin(), line.rows.end());
      found->outputs |= line.outputs;
    }
    for (MaskTarget& target : list) {
      std::ranges::sort(target.rows);
      target.rows.erase(std::unique(target.rows.begin(), target.rows.end()), target.rows.end());
    }
    if (list.empty()) {
      throw FormatError(fmt::format("{}: no target selects any row", path_));
    }
    return list;
  }

 private:
  std::optional<std::size_t> column(const std::string& name) const {
    const auto found = std::ranges::find(csv_.header, name);
    return found == csv_.header.end() ? std::nullopt : std::optional<std::size_t>(found - csv_.header.begin());
  }

  std::string cell(const io::CsvRow& row, const std::string& name) const {
    const std::optional<std::size_t> at = column(name);
    return at ? row.cells[*at] : "*";
  }

  Line read(const io::CsvRow& row) const {
    const std::string place = fmt::format("{}:{}", path_, row.line);
    Line line{cell(row, "target"), {}, 0};
    if (line.target.empty()) {
      throw FormatError(place + ": a target needs a name");
    }
    const std::string output = cell(row, "output");
    line.outputs = output == "*" ? all_outputs(suite_) : output_bit(output, suite_, place);
    const std::string number = cell(row, "row");
    for (std::size_t task = 0; task < suite_.tasks.size(); ++task) {
      const std::string wanted = cell(row, "task");
      if (wanted != "*" && wanted != suite_.tasks[task].name) {
        continue;
      }
      const auto first = static_cast<std::uint32_t>(task * rows_of_task(suite_));
      if (number == "*") {
        for (std::uint32_t at = 0; at < rows_of_task(suite_); ++at) {
          line.rows.push_back(first + at);
        }
        continue;
      }
      const std::optional<long long> at = parse_integer(number);
      if (!at || *at < 0 || *at >= static_cast<long long>(rows_of_task(suite_))) {
        throw FormatError(fmt::format("{}: a row is a whole number from 0 to {} or *, not '{}'", place,
                                      rows_of_task(suite_) - 1, number));
      }
      line.rows.push_back(first + static_cast<std::uint32_t>(*at));
    }
    if (line.rows.empty()) {
      throw FormatError(fmt::format("{}: {} has no task '{}'", place, suite_.name, cell(row, "task")));
    }
    return line;
  }

  std::string path_;
  const tasks::TaskSuite& suite_;
  io::Csv csv_;
};

// The gates that some outputs depend on.
std::set<tasks::Wire> gates_below(const tasks::FunctionGraph& graph, std::uint32_t outputs) {
  std::set<tasks::Wire> gates;
  std::vector<tasks::Wire> open;
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    if (((outputs >> output) & 1U) != 0) {
      open.push_back(graph.outputs[output]);
    }
  }
  while (!open.empty()) {
    tasks::Wire wire = open.back();
    open.pop_back();
    wire.negated = false;
    if (wire.level > 0 && gates.insert(wire).second) {
      const tasks::Gate& gate =
          graph.levels[static_cast<std::size_t>(wire.level) - 1][static_cast<std::size_t>(wire.index)];
      open.insert(open.end(), gate.inputs.begin(), gate.inputs.end());
    }
  }
  return gates;
}

}  // namespace

MaskTarget whole_target(const tasks::TaskSuite& suite) { return {"all", all_rows(suite), all_outputs(suite)}; }

std::vector<MaskTarget> mask_targets(const std::string& text, const tasks::TaskSuite& suite) {
  if (text == "outputs") {
    return by_output(suite);
  }
  if (text == "tasks") {
    if (suite.tasks.size() < 2) {
      throw ConfigError(fmt::format("targets: {} is one task; masks for its outputs are `outputs`", suite.name));
    }
    return by_task(suite);
  }
  if (text.ends_with(".csv")) {
    return parse_mask_targets(io::read_file(text, kMostBytes), text, suite);
  }
  return by_group(text, suite);
}

std::vector<MaskTarget> parse_mask_targets(const std::string& text, const std::string& path,
                                           const tasks::TaskSuite& suite) {
  return TargetFile(text, path, suite).targets();
}

std::vector<bool> need_common_gate(const std::vector<MaskTarget>& targets, const tasks::TaskSuite& suite) {
  std::vector<bool> common;
  if (suite.tasks.size() != 1 || !suite.tasks.front().graph) {
    return common;
  }
  std::vector<std::set<tasks::Wire>> gates;
  for (const MaskTarget& target : targets) {
    gates.push_back(gates_below(*suite.tasks.front().graph, target.outputs));
  }
  for (std::size_t first = 0; first < gates.size(); ++first) {
    for (std::size_t second = first + 1; second < gates.size(); ++second) {
      common.push_back(
          std::ranges::any_of(gates[first], [&](const tasks::Wire& gate) { return gates[second].contains(gate); }));
    }
  }
  return common;
}

double target_accuracy(const MaskTarget& target, const std::vector<std::uint32_t>& said,
                       const std::vector<std::uint32_t>& right) {
  const auto good = std::ranges::count_if(
      target.rows, [&](std::uint32_t row) { return ((said[row] ^ right[row]) & target.outputs) == 0; });
  return 100.0 * static_cast<double>(good) / static_cast<double>(target.rows.size());
}

}  // namespace modlab::methods

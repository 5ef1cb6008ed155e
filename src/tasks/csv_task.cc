// CSV truth tables, in and out.
#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "io/csv_file.h"
#include "io/yaml_file.h"
#include "tasks/graph_file.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

constexpr std::size_t kMaxNameLength = 32;

struct Columns {
  std::vector<int> inputs;
  std::vector<int> outputs;
};

Columns sort_columns(const std::vector<std::string>& header, const std::string& source) {
  Columns columns;
  for (std::size_t column = 0; column < header.size(); ++column) {
    if (header[column].empty()) {
      throw FormatError(fmt::format("{}: column {} has no name; name inputs x0, x1, ... and outputs y0, y1, ...",
                                    source, column + 1));
    }
    if (header[column].size() > kMaxNameLength || !is_printable(header[column])) {
      throw FormatError(fmt::format("{}: column {} is called {}; a name has at most {} printable letters", source,
                                    column + 1, io::quote_for_message(header[column]), kMaxNameLength));
    }
    const auto here = header.begin() + static_cast<std::ptrdiff_t>(column);
    if (std::find(header.begin(), here, *here) != here) {
      throw FormatError(fmt::format("{}: two columns are called {}; give each its own name", source,
                                    io::quote_for_message(header[column])));
    }
    (is_output_name(header[column]) ? columns.outputs : columns.inputs).push_back(static_cast<int>(column));
  }
  if (columns.inputs.empty() || columns.outputs.empty()) {
    throw FormatError(
        fmt::format("{}: no {} column in the header; names that start with 'y' or 'out' are outputs, all "
                    "others inputs",
                    source, columns.inputs.empty() ? "input" : "output"));
  }
  if (columns.inputs.size() > kMaxInputs || columns.outputs.size() > kMaxOutputs) {
    throw FormatError(fmt::format("{}: {} inputs and {} outputs; at most {} and {} are possible", source,
                                  columns.inputs.size(), columns.outputs.size(), kMaxInputs, kMaxOutputs));
  }
  return columns;
}

bool read_bit(const std::string& cell, const std::string& column, const std::string& source, int line) {
  const std::optional<double> value = parse_real(cell);
  if (!value || (*value != 0 && *value != 1)) {
    throw FormatError(fmt::format("{}:{}: column {} is {}; a truth table has only 0 and 1", source, line,
                                  io::quote_for_message(column), io::quote_for_message(cell)));
  }
  return *value == 1;
}

std::string row_bits(int inputs, int row) {
  std::string bits;
  for (int input = 0; input < inputs; ++input) {
    bits += input_bit(inputs, row, input) ? '1' : '0';
  }
  return bits;
}

}  // namespace

TaskSuite parse_task_csv(const std::string& text, const std::string& name, const std::string& source) {
  // One row more than the largest table has, so that a repeated row is reported as such.
  const io::Csv csv = io::parse_csv(text, source, (1U << kMaxInputs) + 1, kMaxInputs + kMaxOutputs);
  const Columns columns = sort_columns(csv.header, source);
  const int inputs = static_cast<int>(columns.inputs.size());
  const int row_count = 1 << inputs;

  TruthTable table{inputs, static_cast<int>(columns.outputs.size()), std::vector<std::uint32_t>(row_count, 0)};
  std::vector<int> line_of_row(row_count, 0);
  for (const io::CsvRow& read : csv.rows) {
    int row = 0;
    for (const int column : columns.inputs) {
      row = 2 * row + (read_bit(read.cells[column], csv.header[column], source, read.line) ? 1 : 0);
    }
    std::uint32_t bits = 0;
    for (std::size_t output = 0; output < columns.outputs.size(); ++output) {
      const int column = columns.outputs[output];
      bits |= static_cast<std::uint32_t>(read_bit(read.cells[column], csv.header[column], source, read.line)) << output;
    }
    if (line_of_row[row] != 0) {
      throw FormatError(
          fmt::format("{}:{}: row {} {} line {}; keep one of the two", source, read.line, row_bits(inputs, row),
                      bits == table.rows[row] ? "repeats" : "contradicts the outputs of", line_of_row[row]));
    }
    line_of_row[row] = read.line;
    table.rows[row] = bits;
  }
  const auto missing = std::ranges::find(line_of_row, 0);
  if (missing != line_of_row.end()) {
    throw FormatError(fmt::format("{}: row {} is missing ({} of the {} rows for {} inputs are there); add it", source,
                                  row_bits(inputs, static_cast<int>(missing - line_of_row.begin())), csv.rows.size(),
                                  row_count, inputs));
  }

  Task task{name, "Truth table from " + source, std::nullopt, std::move(table), {}, {}, std::nullopt, {}};
  for (const int column : columns.inputs) {
    task.input_names.push_back(csv.header[column]);
  }
  for (const int column : columns.outputs) {
    task.output_names.push_back(csv.header[column]);
  }
  return {task.name, task.about, {task}, {text, {}}};
}

std::string truth_table_csv(const Task& task) {
  // An output's name decides how it is read back, so a name that would be taken for an input gives way; and so does one
  // that would be cut apart or taken for a comment or a formula.
  const auto keeps = [](const std::vector<std::string>& names, bool outputs) {
    return std::ranges::all_of(names, [&](const std::string& name) {
      return is_output_name(name) == outputs && name.find_first_of(",;\"#") == std::string::npos &&
             io::csv_cell(name) == name && !name.starts_with(io::kByteOrderMark);
    });
  };
  const bool keep_names = keeps(task.input_names, false) && keeps(task.output_names, true);
  std::vector<std::string> header;
  for (int input = 0; input < task.table.inputs; ++input) {
    header.push_back(keep_names ? task.input_names[input] : fmt::format("x{}", input));
  }
  for (int output = 0; output < task.table.outputs; ++output) {
    header.push_back(keep_names ? task.output_names[output] : fmt::format("y{}", output));
  }
  std::string csv = join_text(header, ",") + "\n";
  for (int row = 0; row < static_cast<int>(task.table.rows.size()); ++row) {
    for (int input = 0; input < task.table.inputs; ++input) {
      csv += input_bit(task.table.inputs, row, input) ? "1," : "0,";
    }
    for (int output = 0; output < task.table.outputs; ++output) {
      csv += output_bit(task.table, row, output) ? "1," : "0,";
    }
    csv.back() = '\n';
  }
  return csv;
}

}  // namespace modlab::tasks

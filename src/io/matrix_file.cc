#include "io/matrix_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "io/csv_file.h"
#include "io/file.h"
#include "io/npz.h"

namespace modlab::io {
namespace {

constexpr std::size_t kMaxBytes = 1'000'000'000;
constexpr std::size_t kMaxLines = 1'000'000;
constexpr std::size_t kMaxColumns = 100'000;

bool are_numbers(const std::vector<std::string>& cells) {
  return std::ranges::all_of(cells, [](const std::string& cell) { return parse_real(cell).has_value(); });
}

// "0,1,2" or "1,2,3".
bool are_counted(const std::vector<std::string>& cells) {
  for (const long long first : {0, 1}) {
    long long next = first;
    if (cells.size() > 1 &&
        std::ranges::all_of(cells, [&](const std::string& cell) { return parse_integer(cell) == next++; })) {
      return true;
    }
  }
  return false;
}

Matrix matrix_of(const NamedTensor& tensor, const std::string& path) {
  if (tensor.shape.size() != 2) {
    throw FormatError(fmt::format("{}: an array of {}; a matrix has 2", path,
                                  counted(static_cast<long long>(tensor.shape.size()), "dimension")));
  }
  return {tensor.shape[0], tensor.shape[1], {tensor.values.begin(), tensor.values.end()}, {}, {}};
}

Matrix matrix_from_npz(std::string_view bytes, const std::string& path, const std::string& array) {
  const std::vector<NamedTensor> tensors = decode_npz(bytes, path);
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) {
    names.push_back(tensor.name);
  }
  if (array.empty() && tensors.size() > 1) {
    throw FormatError(
        fmt::format("{}: it has {} arrays ({}); name one with --array", path, names.size(), join_text(names, ", ")));
  }
  const auto found = array.empty() ? names.begin() : std::ranges::find(names, array);
  if (found == names.end()) {
    throw FormatError(
        fmt::format("{}: no array '{}'{}; it has {}", path, array, did_you_mean(array, names), join_text(names, ", ")));
  }
  return matrix_of(tensors[static_cast<std::size_t>(found - names.begin())],
                   fmt::format("{}: array '{}'", path, *found));
}

Matrix matrix_from_csv(std::string_view bytes, const std::string& path) {
  Csv csv = parse_csv(std::string(bytes), path, kMaxLines, kMaxColumns);
  const bool has_header = !are_numbers(csv.header) || are_counted(csv.header);
  if (!has_header) {
    csv.rows.insert(csv.rows.begin(), {1, csv.header});
  }
  const bool names_first =
      csv.header.size() > 1 && !csv.rows.empty() &&
      ((has_header && csv.header.front().empty()) ||
       std::ranges::none_of(csv.rows, [](const CsvRow& row) { return parse_real(row.cells.front()).has_value(); }));
  const std::size_t first = names_first ? 1 : 0;
  Matrix matrix{csv.rows.size(), csv.header.size() - first, {}, {}, {}};
  if (has_header) {
    matrix.column_names.assign(csv.header.begin() + static_cast<std::ptrdiff_t>(first), csv.header.end());
  }
  for (const CsvRow& row : csv.rows) {
    if (names_first) {
      matrix.row_names.push_back(row.cells.front());
    }
    for (std::size_t column = first; column < row.cells.size(); ++column) {
      const std::optional<double> value = parse_real(row.cells[column]);
      if (!value) {
        throw FormatError(fmt::format("{}:{}: '{}' is no number", path, row.line, row.cells[column]));
      }
      matrix.values.push_back(*value);
    }
  }
  return matrix;
}

}  // namespace

Matrix decode_matrix(std::string_view bytes, const std::string& path, const std::string& array) {
  refuse_pickle(bytes, path);
  const bool is_npz = is_zip(bytes);
  if (!array.empty() && !is_npz) {
    throw FormatError(fmt::format("{}: only npz files have arrays with names; leave out --array", path));
  }
  Matrix matrix = is_npz          ? matrix_from_npz(bytes, path, array)
                  : is_npy(bytes) ? matrix_of(decode_npy(bytes, path), path)
                                  : matrix_from_csv(bytes, path);
  if (matrix.rows == 0 || matrix.columns == 0) {
    throw FormatError(fmt::format("{}: a matrix without numbers", path));
  }
  return matrix;
}

Matrix read_matrix(const std::string& path, const std::string& array) {
  return decode_matrix(read_file(path, kMaxBytes), path, array);
}

}  // namespace modlab::io

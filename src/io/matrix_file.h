#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace modlab::io {

// A table of numbers.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;             // row after row
  std::vector<std::string> row_names;     // empty where the file has none
  std::vector<std::string> column_names;  // empty where the file has none
};

// Reads a matrix from anyone, by what the file's bytes are: one of numpy's (npy, or npz with `array` naming one of
// several), or CSV with or without a header and a first column of names. A first line of 0, 1, 2 or 1, 2, 3 and so on
// is a header, as pandas writes it. Throws FormatError.
Matrix read_matrix(const std::string& path, const std::string& array = "");
Matrix decode_matrix(std::string_view bytes, const std::string& path, const std::string& array = "");

}  // namespace modlab::io

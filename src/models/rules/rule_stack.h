#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/layer_stack.h"
#include "models/rules/rule_samples.h"
#include "models/turn_weights.h"

namespace modlab::models {

inline std::size_t tensor_of(const engine::Layout& layout, const std::string& name) {
  const auto found = std::ranges::find(layout.tensors, name, &engine::Tensor::name);
  return static_cast<std::size_t>(found - layout.tensors.begin());
}

// The layers NAME.layer0, NAME.layer1 and so on of a layout.
template <typename T>
LayerStack<T> stack_of(const engine::Layout& layout, const std::string& name, std::vector<int> widths, int x_stride,
                       const engine::solo::Kernels<T>& kernels) {
  std::vector<std::size_t> tensors;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    tensors.push_back(tensor_of(layout, name + ".layer" + std::to_string(layer) + ".weight"));
  }
  return {std::move(widths), std::move(tensors), x_stride, kernels};
}

// What says each rule, [rule][padded rule]: 1 on the diagonal.
template <typename T>
AlignedVector<T> every_rule(int rules) {
  using engine::solo::padded;
  AlignedVector<T> values(static_cast<std::size_t>(rules) * padded(rules));
  for (int rule = 0; rule < rules; ++rule) {
    values[static_cast<std::size_t>(rule) * padded(rules) + rule] = 1;
  }
  return values;
}

// Tokens as networks on sequences read them, [row][padded inputs]: their data, and a 1 in the column of their rule.
template <typename T>
void read_tokens(const RuleBatch& batch, int data_columns, int rules, AlignedVector<T>& x) {
  const std::ptrdiff_t stride = engine::solo::padded(data_columns + rules);
  for (std::ptrdiff_t row = 0; row < batch.rows(); ++row) {
    T* token = x.data() + row * stride;
    std::copy_n(batch.data.data() + row * batch.columns, data_columns, token);
    std::fill_n(token + data_columns, rules, T{0});
    token[data_columns + batch.said[static_cast<std::size_t>(row)]] = 1;
  }
}

// Calls work(width), with a constant where the width is that of a small module: few numbers at a time are moved by
// instructions and not by loops.
template <typename Work>
void with_known_width(int width, const Work& work) {
  switch (width) {
    case 1:
      return work(std::integral_constant<int, 1>());
    case 2:
      return work(std::integral_constant<int, 2>());
    case 4:
      return work(std::integral_constant<int, 4>());
    case 8:
      return work(std::integral_constant<int, 8>());
    case 16:
      return work(std::integral_constant<int, 16>());
    default:
      return work(width);
  }
}

// Columns of rows that lie apart: `width` of them from each row.
template <typename T>
void copy_columns(const T* from, std::ptrdiff_t from_stride, int rows, int width, T* to, std::ptrdiff_t to_stride) {
  with_known_width(width, [&](auto count) {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(from + row * from_stride, static_cast<int>(count), to + row * to_stride);
    }
  });
}

// The same, added to what is there.
template <typename T>
void add_columns(const T* from, std::ptrdiff_t from_stride, int rows, int width, T* to, std::ptrdiff_t to_stride) {
  with_known_width(width, [&](auto count) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < static_cast<int>(count); ++column) {
        to[row * to_stride + column] += from[row * from_stride + column];
      }
    }
  });
}

// Some rows of [row][padded width], one after the other, and back to their places.
template <typename T>
void gather_rows(const T* from, int width, const std::vector<int>& rows, AlignedVector<T>& to) {
  const std::ptrdiff_t stride = engine::solo::padded(width);
  to.resize(rows.size() * static_cast<std::size_t>(stride));
  for (std::size_t place = 0; place < rows.size(); ++place) {
    std::copy_n(from + rows[place] * stride, stride, to.data() + static_cast<std::ptrdiff_t>(place) * stride);
  }
}
template <typename T>
void scatter_rows(const AlignedVector<T>& from, int width, const std::vector<int>& rows, T* to) {
  const std::ptrdiff_t stride = engine::solo::padded(width);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    std::copy_n(from.data() + static_cast<std::ptrdiff_t>(place) * stride, stride, to + rows[place] * stride);
  }
}

}  // namespace modlab::models

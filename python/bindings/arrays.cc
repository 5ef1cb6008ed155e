#include "arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"

namespace modlab::python {

std::string shape_text(const py::array& array) {
  return py::str(py::tuple(py::cast(std::vector<py::ssize_t>(array.shape(), array.shape() + array.ndim()))));
}

py::array_t<float, py::array::c_style> as_floats(const py::array& array, const std::string& what) {
  // Truth values, whole and real numbers; numpy would make numbers of texts and of the real part of complex ones too.
  const char kind = array.dtype().kind();
  if (std::string("biuf").find(kind) == std::string::npos) {
    throw ConfigError(fmt::format("{} must be an array of numbers, not of {}", what,
                                  std::string(py::str(py::object(array.dtype())))));
  }
  return py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(array);
}

io::NamedTensor as_tensor(const std::string& name, const py::array& array, const std::string& what) {
  const auto floats = as_floats(array, what);
  return {name, std::vector<std::size_t>(floats.shape(), floats.shape() + floats.ndim()),
          std::vector<float>(floats.data(), floats.data() + floats.size())};
}

std::vector<std::uint32_t> as_rows(const py::array& array, int inputs, const std::string& what) {
  const auto bits = as_floats(array, "the input");
  if (bits.ndim() < 1 || bits.ndim() > 2 || bits.shape(bits.ndim() - 1) != inputs) {
    throw ConfigError(fmt::format("{} takes an array of shape (samples, {}), not {}", what, inputs, shape_text(array)));
  }
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(bits.size() / inputs));
  const float* bit = bits.data();
  for (std::uint32_t& row : rows) {
    for (int input = 0; input < inputs; ++input, ++bit) {
      if (*bit != 0 && *bit != 1) {
        throw ConfigError(fmt::format("{} takes zeros and ones, not {:g}", what, *bit));
      }
      row = 2 * row + (*bit == 1 ? 1 : 0);
    }
  }
  return rows;
}

py::dict tensor_views(const engine::Layout& layout, const std::vector<float>& parameters, const py::handle& owner) {
  py::dict views;
  for (const engine::Tensor& tensor : layout.tensors) {
    const std::vector<py::ssize_t> shape(tensor.shape.begin(), tensor.shape.end());
    py::array_t<float> view(shape, parameters.data() + tensor.offset, owner);
    view.attr("setflags")(py::arg("write") = false);
    views[py::str(tensor.name)] = std::move(view);
  }
  return views;
}

py::dict file_tensors(const io::TensorFile& file) {
  py::dict arrays;
  for (const io::NamedTensor& tensor : file.tensors) {
    py::array_t<float> array(std::vector<py::ssize_t>(tensor.shape.begin(), tensor.shape.end()));
    std::ranges::copy(tensor.values, array.mutable_data());
    arrays[py::str(tensor.name)] = std::move(array);
  }
  return arrays;
}

py::array_t<float> as_answers(const std::vector<float>& said, const std::vector<py::ssize_t>& shape) {
  py::array_t<float> array(shape);
  std::ranges::copy(said, array.mutable_data());
  return array;
}

}  // namespace modlab::python

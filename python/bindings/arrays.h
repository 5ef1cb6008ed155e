#pragma once

#include <span>
#include <string>
#include <vector>

#include "bindings.h"
#include "engine/network.h"
#include "io/safetensors.h"

// From numpy's arrays to what the library takes, and back. Throws ConfigError with what was expected.
namespace modlab::python {

// "(3, 5)".
std::string shape_text(const py::array& array);

// Numbers of any type as floats, the last dimension running fastest. `what` is the array's name in messages.
py::array_t<float, py::array::c_style> as_floats(const py::array& array, const std::string& what);
io::NamedTensor as_tensor(const std::string& name, const py::array& array, const std::string& what);

// Rows of zeros and ones, [sample][input], or one of them, as numbers of rows of a truth table: the first input is the
// most significant bit.
std::vector<std::uint32_t> as_rows(const py::array& array, int inputs, const std::string& what);

// The tensors of a layout by name: views of `parameters`, which `owner` keeps alive. Nobody can write to them.
py::dict tensor_views(const engine::Layout& layout, const std::vector<float>& parameters, const py::handle& owner);
// The tensors of a file, as arrays of their own.
py::dict file_tensors(const io::TensorFile& file);

// [sample][output], or without samples where one was asked about.
py::array_t<float> as_answers(const std::vector<float>& said, const std::vector<py::ssize_t>& shape);

}  // namespace modlab::python

#pragma once

// Debian's headers of pybind11 are not held to our warnings; CMake names them as a system's.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>
#include <string>

namespace modlab::python {

namespace py = pybind11;

// What is bound, a file each. module.cc has the list.
void bind_errors(py::module_& module);
void bind_settings(py::module_& module);
void bind_tasks(py::module_& module);
void bind_population(py::module_& module);
void bind_networks(py::module_& module);
void bind_modules(py::module_& module);
void bind_trials(py::module_& module);
void bind_measures(py::module_& module);
void bind_studies(py::module_& module);

// Structures go to Python as JSON, which it reads faster than we could build dictionaries; what is not a number is
// null.
inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace modlab::python

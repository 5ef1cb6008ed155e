#include "core/errors.h"

#include <mutex>
#include <utility>
#include <vector>

#include "bindings.h"
#include "core/notice.h"

namespace modlab::python {
namespace {

// Lines that the library has to say and that nobody has fetched yet.
struct Notices {
  std::mutex mutex;
  std::vector<std::string> lines;
};
Notices& notices() {
  static Notices the_ones;
  return the_ones;
}

}  // namespace

void bind_errors(py::module_& module) {
  // The sentences are the program's own. A mistake in an argument is also a ValueError, as in other packages.
  const auto base = py::register_exception<UserError>(module, "Error");
  py::register_exception<ConfigError>(module, "ConfigError", py::make_tuple(base, py::handle(PyExc_ValueError)));
  py::register_exception<FormatError>(module, "FormatError", py::make_tuple(base, py::handle(PyExc_ValueError)));

  set_notice([](const std::string& line) {
    const std::lock_guard lock(notices().mutex);
    notices().lines.push_back(line);
  });
  module.def("notices", [] {
    const std::lock_guard lock(notices().mutex);
    return std::exchange(notices().lines, {});
  });
}

}  // namespace modlab::python

#include "bindings.h"

namespace {

using namespace modlab::python;

}  // namespace

// Everything here is for modlab/*.py, which is what people see.
PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of modlab; use the package modlab.";
  module.attr("version") = MODLAB_VERSION;
  bind_errors(module);
  bind_settings(module);
  bind_tasks(module);
  bind_networks(module);
  bind_population(module);
  bind_modules(module);
  bind_trials(module);
  bind_measures(module);
  bind_studies(module);
}

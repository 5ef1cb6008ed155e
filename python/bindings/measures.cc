#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "core/errors.h"
#include "io/npz.h"
#include "methods/mask/mask_comparison.h"
#include "report/mask_text.h"
#include "report/module_use_text.h"

namespace modlab::python {
namespace {

using Arrays = std::vector<std::pair<std::string, py::array>>;

// Which module serves which rule.
report::UseLook use_of(const py::array& matrix, const std::vector<std::string>& rules,
                       const std::vector<std::string>& modules) {
  const auto values = as_floats(matrix, "the matrix of module use");
  constexpr int kMost = measures::ModuleUse::kMostRules;
  if (values.ndim() != 2 || values.shape(0) > kMost || values.shape(1) > kMost || values.size() == 0) {
    throw ConfigError(fmt::format("module use is a matrix of rules by modules, at most {} of each, not of shape {}",
                                  kMost, shape_text(matrix)));
  }
  // In double precision, as a file is read.
  const auto exact = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(matrix);
  const auto rows = static_cast<std::size_t>(values.shape(0));
  const auto columns = static_cast<std::size_t>(values.shape(1));
  if ((!rules.empty() && rules.size() != rows) || (!modules.empty() && modules.size() != columns)) {
    throw ConfigError(fmt::format("{} rules and {} modules have names, but the matrix is of shape {}", rules.size(),
                                  modules.size(), shape_text(matrix)));
  }
  return report::look_at_use("module use",
                             measures::ModuleUse(static_cast<int>(rows), static_cast<int>(columns),
                                                 std::vector<double>(exact.data(), exact.data() + exact.size())),
                             rules, modules);
}

methods::MaskComparison compare(const std::vector<std::pair<std::string, Arrays>>& masks, bool nonzero, bool logits) {
  if (masks.size() < 2) {
    throw ConfigError("give two masks or more");
  }
  if (nonzero && logits) {
    throw ConfigError("nonzero and logits exclude each other");
  }
  std::vector<models::WeightMask> list;
  for (const auto& [name, arrays] : masks) {
    std::vector<io::NamedTensor> tensors;
    for (const auto& [tensor, array] : arrays) {
      tensors.push_back(as_tensor(tensor, array, fmt::format("tensor {} of {}", tensor, name)));
    }
    list.push_back(models::decode_weight_mask(io::encode_npz(tensors), name,
                                              nonzero  ? models::Keeping::kNonzero
                                              : logits ? models::Keeping::kPositive
                                                       : models::Keeping::kOne));
  }
  return methods::compare_masks(list);
}

}  // namespace

void bind_measures(py::module_& module) {
  py::class_<report::UseLook>(module, "Use")
      .def("json", [](const report::UseLook& self) { return json_text(report::module_use_json(self)); })
      .def("text", &report::module_use_text)
      .def("svg", &report::module_use_svg);
  module.def("collapse", &use_of, py::arg("matrix"), py::arg("rules"), py::arg("modules"));
  py::class_<methods::MaskComparison>(module, "Overlap")
      .def("json", [](const methods::MaskComparison& self) { return json_text(report::mask_comparison_json(self)); })
      .def("text", [](const methods::MaskComparison& self) { return report::mask_comparison_text(self, false); });
  module.def("overlap", &compare, py::arg("masks"), py::arg("nonzero"), py::arg("logits"));
}

}  // namespace modlab::python

#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "methods/detect/module_look.h"

namespace modlab::report {

// Adding zero turns -0 into 0.
double rounded(double value, double unit);
std::string percent_text(double share);

// A text about the modules of one network, written bit by bit; units and layers have their names.
class ModuleWriter {
 public:
  explicit ModuleWriter(const methods::ModuleLook& look) : look_(look), layers_(look.network().layers()) {}

 protected:
  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...);
  }
  std::string take() { return std::move(text_); }

  // "a b c .. z (26)" where there are many.
  std::string units_text(const std::vector<methods::UnitPlace>& places) const;
  std::string units_text(int layer, const std::vector<int>& units) const;
  std::string layer_text(int layer) const;

  const methods::ModuleLook& look_;
  int layers_;

 private:
  std::string text_;
};

}  // namespace modlab::report

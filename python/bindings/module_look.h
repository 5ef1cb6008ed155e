#pragma once

#include <memory>
#include <optional>

#include "bindings.h"
#include "methods/detect/module_look.h"
#include "task.h"

namespace modlab::python {

// How modules are looked for, by the program's names.
struct LookOptions {
  double threshold = methods::DetectSettings{}.threshold;
  double merging = methods::DetectSettings{}.merging;
  bool merge_at_equal = false;
  std::string features;
  bool weighted = false;
  int hops = 0;
  std::string linkage;
  std::string distance;
  std::string index;
  bool lesion = false;
  int null = 0;
  bool stability = false;
  long long seed = 0;

  methods::LookSettings settings() const;
};

// A network of layers and the modules that were found in it.
class Modules {
 public:
  // `task` is what the network has learned, where that is known.
  Modules(models::NamedNetwork network, const methods::LookSettings& settings, const std::optional<Task>& task);

  const methods::ModuleLook& look() const { return *look_; }

 private:
  std::unique_ptr<const methods::ModuleLook> look_;
};

}  // namespace modlab::python

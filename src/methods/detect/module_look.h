#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/detect/agreement.h"
#include "methods/detect/criteria.h"
#include "methods/detect/cross_edges.h"
#include "methods/detect/detect.h"
#include "methods/detect/lesion.h"
#include "methods/detect/module_function.h"
#include "methods/detect/null_model.h"
#include "methods/detect/stability.h"
#include "methods/detect/unit_names.h"
#include "models/layered_network_file.h"
#include "tasks/task.h"

namespace modlab::methods {

struct LookSettings {
  DetectSettings detect;
  bool stability = false;
  int null_draws = 0;  // 0: no null model
  bool lesion = false;
  std::uint64_t seed = 0;  // of null models and renumberings
  std::string task;        // for all networks; empty: what each file says
};

// A network against the task that it has learned.
struct TaskLook {
  std::shared_ptr<const tasks::Task> task;
  double accuracy = 0;  // the share of right bits of the whole truth table, from 0 to 1
  std::vector<Criterion> criteria;
  std::optional<TruthAgreement> agreement;
  std::vector<int> same_as_truth;
  std::vector<ModuleFunction> functions;
  std::optional<LesionTest> lesions;
};

// Everything that `modlab detect` says of one network.
struct ModuleLook {
  models::NamedNetwork named;
  DetectSettings settings;
  Detection detection;
  Hierarchy hierarchy;
  std::vector<CrossEdge> crossing;
  std::vector<UnitPlace> constants;
  std::optional<TaskLook> task;
  std::string no_task;  // why there is none, if the file names one
  std::optional<Stability> stability;
  std::optional<NullModel> null_model;
  UnitNames names;

  const models::LayeredNetwork& network() const { return named.network; }
  // "m1", in the order of the hierarchy.
  std::string module_name(std::size_t module) const;
  // The same with the name of the true module that it is, if it is one: "m1 = G".
  std::string full_module_name(std::size_t module) const;
  // Live edges.
  int live_edges() const;
};

// Looks at networks one after the other and reads each task only once.
class ModuleLooker {
 public:
  // Throws ConfigError if a task is asked for that is not one on bits.
  explicit ModuleLooker(LookSettings settings);

  // Throws ConfigError where the network does not fit the task or the settings; one that the file alone names is then
  // left out.
  ModuleLook look(models::NamedNetwork named);

 private:
  // Nothing, with the reason, if it is not built in or several in one.
  std::shared_ptr<const tasks::Task> find_task(const std::string& name, std::string& reason);
  void look_at_task(ModuleLook& look, std::shared_ptr<const tasks::Task> task) const;

  LookSettings settings_;
  std::shared_ptr<const tasks::Task> asked_for_;
  std::map<std::string, std::shared_ptr<const tasks::Task>> known_;
};

// "8-36-36-4" for the units of each layer.
std::string sizes_text(const std::vector<int>& widths);
std::vector<int> live_sizes(const Detection& detection);

}  // namespace modlab::methods

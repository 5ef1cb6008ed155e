#include "methods/detect/module_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/errors.h"
#include "methods/detect/table_values.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

std::shared_ptr<const tasks::Task> task_called(const std::string& name) {
  tasks::TaskSuite suite = tasks::load_task(name);
  if (suite.tasks.size() > 1) {
    throw ConfigError(fmt::format("{} is {} tasks that one network learns together; name a single one of them", name,
                                  suite.tasks.size()));
  }
  return std::make_shared<const tasks::Task>(std::move(suite.tasks.front()));
}

// What the file calls the task, if anything.
std::string task_of_file(const models::NamedNetwork& named) {
  const auto found = named.about.find("task");
  return found != named.about.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string ModuleLook::module_name(std::size_t module) const { return fmt::format("m{}", module + 1); }

std::string ModuleLook::full_module_name(std::size_t module) const {
  const int truth = task ? task->same_as_truth[module] : -1;
  return truth < 0 ? module_name(module) : fmt::format("{} = {}", module_name(module), task->task->modules[truth].name);
}

int ModuleLook::live_edges() const {
  int edges = std::accumulate(hierarchy.inside_edges.begin(), hierarchy.inside_edges.end(), 0);
  for (const ModuleEdge& edge : hierarchy.edges) {
    edges += edge.edges;
  }
  return edges;
}

ModuleLooker::ModuleLooker(LookSettings settings) : settings_(std::move(settings)) {
  if (!settings_.task.empty()) {
    asked_for_ = task_called(published_task(settings_.task).value_or(settings_.task));
  }
}

std::shared_ptr<const tasks::Task> ModuleLooker::find_task(const std::string& name, std::string& reason) {
  const std::string builtin = published_task(name).value_or(name);
  if (const auto found = known_.find(builtin); found != known_.end()) {
    return found->second;
  }
  // A file may come from anywhere, so that it cannot name other files.
  const std::vector<std::string> names = tasks::builtin_task_names();
  if (std::ranges::find(names, builtin) == names.end()) {
    reason = fmt::format("the file names task {}, which is not built in; --task says where it is", name);
    return nullptr;
  }
  try {
    return known_.emplace(builtin, task_called(builtin)).first->second;
  } catch (const ConfigError& error) {
    reason = error.what();
    return nullptr;
  }
}

void ModuleLooker::look_at_task(ModuleLook& look, std::shared_ptr<const tasks::Task> task) const {
  check_fits(look.network(), *task);
  TaskLook found;
  const std::vector<double> accuracies = output_accuracies(look.network(), task->table);
  found.accuracy = std::accumulate(accuracies.begin(), accuracies.end(), 0.0) / static_cast<double>(accuracies.size());
  found.criteria = criteria(look.detection, *task);
  found.agreement = truth_agreement(look.detection, *task);
  found.same_as_truth = same_as_truth(look.hierarchy, *task);
  found.functions = module_functions(look.network(), look.hierarchy, *task);
  if (settings_.lesion) {
    found.lesions = lesion_test(look.network(), look.hierarchy, *task);
  }
  look.names = UnitNames(look.network(), *task);
  found.task = std::move(task);
  look.task = std::move(found);
}

ModuleLook ModuleLooker::look(models::NamedNetwork named) {
  const UnitNames names(named.network);
  ModuleLook look{std::move(named), settings_.detect, {}, {}, {}, {}, {}, {}, {}, {}, names};
  look.detection = detect(look.network(), settings_.detect);
  look.hierarchy = hierarchy(look.network(), look.detection);
  look.crossing = cross_edges(look.network(), look.hierarchy);
  look.constants = constant_units(look.network(), look.detection.live);
  const std::string name = task_of_file(look.named);
  const auto task = asked_for_ || name.empty() ? asked_for_ : find_task(name, look.no_task);
  try {
    if (task) {
      look_at_task(look, task);
    }
  } catch (const ConfigError& error) {
    if (asked_for_) {
      throw ConfigError(fmt::format("{}: {}", look.named.id, error.what()));
    }
    look.no_task = error.what();
  }
  if (settings_.lesion && !look.task) {
    throw ConfigError(fmt::format("{}: lesions are tested on a task; name it with --task{}", look.named.id,
                                  look.no_task.empty() ? "" : " (" + look.no_task + ")"));
  }
  if (settings_.stability) {
    StabilitySettings variations;
    variations.seed = settings_.seed;
    look.stability = stability(look.network(), settings_.detect, variations);
  }
  if (settings_.null_draws > 0) {
    look.null_model = null_model(look.network(), settings_.detect, {settings_.null_draws, settings_.seed});
  }
  return look;
}

std::string sizes_text(const std::vector<int>& widths) { return fmt::format("{}", fmt::join(widths, "-")); }

std::vector<int> live_sizes(const Detection& detection) {
  std::vector<int> sizes;
  for (const std::vector<int>& units : detection.live) {
    sizes.push_back(static_cast<int>(units.size()));
  }
  return sizes;
}

}  // namespace modlab::methods

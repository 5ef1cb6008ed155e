#include "models/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/errors.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMaxRuns = 5'000'000;

}  // namespace

RunSpec starting_spec(const std::string& task, ModelKind model) {
  RunSpec spec;
  spec.task = task;
  spec.model = model;
  spec.on_images = tasks::load_task(task).images().has_value();
  if (spec.on_images) {
    spec.ratio = 0.8;
    spec.epochs = 200;
    spec.batch_size = 128;
    spec.lr_input = spec.lr_module = 0.01;
    spec.weight_decay = 0.0001;
    spec.tau = 0.5;
    spec.noise = 0;
  }
  if (spec.is_sculpted()) {
    spec.epochs = spec.batch_size = 0;
    spec.lr = 0;
    spec.weight_decay = 0.0001;
    spec.init = Init::kKaiming;
  }
  return spec;
}

std::vector<RunSpec> all_combinations(const std::vector<Choices>& choices) {
  std::size_t count = 1;
  for (const Choices& choice : choices) {
    if (choice.values.empty()) {
      return {};
    }
    if (choice.values.size() > kMaxRuns / count) {
      throw ConfigError(fmt::format("these settings multiply to more than {} runs; split them up", kMaxRuns));
    }
    count *= choice.values.size();
  }
  std::vector<std::size_t> at(choices.size(), 0);
  // What a run is to begin with depends on its task and its model.
  std::map<std::pair<std::string, ModelKind>, RunSpec> starts;
  const auto start = [&]() -> const RunSpec& {
    RunSpec named;
    for (std::size_t choice = 0; choice < choices.size(); ++choice) {
      if (const Setting& setting = *choices[choice].setting; setting.name == "task" || setting.name == "model") {
        setting.set(named, choices[choice].values[at[choice]]);
      }
    }
    const std::pair key(named.task, named.model);
    const auto found = starts.find(key);
    return found != starts.end() ? found->second
                                 : starts.emplace(key, starting_spec(named.task, named.model)).first->second;
  };
  std::unordered_set<std::string> seen;
  std::vector<RunSpec> runs;
  for (std::size_t index = 0; index < count; ++index) {
    RunSpec spec = start();
    for (std::size_t choice = 0; choice < choices.size(); ++choice) {
      choices[choice].setting->set(spec, choices[choice].values[at[choice]]);
    }
    // Equal names are equal runs.
    if (seen.insert(run_id(spec)).second) {
      runs.push_back(std::move(spec));
    }
    for (std::size_t choice = choices.size(); choice-- > 0;) {
      if (++at[choice] < choices[choice].values.size()) {
        break;
      }
      at[choice] = 0;
    }
  }
  return runs;
}

}  // namespace modlab::models

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

RunSpec starting_spec(const std::string& task) {
  RunSpec spec;
  spec.task = task;
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
  const auto task_choice =
      std::ranges::find_if(choices, [](const Choices& choice) { return choice.setting->name == "task"; });
  std::map<std::string, RunSpec> starts;
  const auto start = [&](const std::string& task) -> const RunSpec& {
    const auto found = starts.find(task);
    return found != starts.end() ? found->second : starts.emplace(task, starting_spec(task)).first->second;
  };
  std::unordered_set<std::string> seen;
  std::vector<RunSpec> runs;
  std::vector<std::size_t> at(choices.size(), 0);
  for (std::size_t index = 0; index < count; ++index) {
    RunSpec spec = start(task_choice == choices.end()
                             ? RunSpec().task
                             : task_choice->values[at[static_cast<std::size_t>(task_choice - choices.begin())]]);
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

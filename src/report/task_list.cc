#include "report/task_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "experiments/experiment.h"
#include "report/graph_text.h"
#include "tasks/task_file.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using tasks::TaskSuite;

// Tasks whose names differ only in the last number stand on one line: sculpt/4-1-2-{2,4,8}.
struct Family {
  std::string name;  // up to the last number
  std::vector<long long> numbers;
  std::string about;  // of all of them: up to the last ';'
};

std::vector<Family> find_families(const std::vector<TaskSuite>& suites) {
  std::vector<Family> families;
  for (const TaskSuite& suite : suites) {
    const std::size_t split = suite.name.rfind('-') + 1;
    const std::string name = suite.name.substr(0, split);
    auto family = std::ranges::find(families, name, &Family::name);
    if (family == families.end()) {
      families.push_back({name, {}, suite.about.substr(0, suite.about.rfind(';'))});
      family = families.end() - 1;
    }
    family->numbers.push_back(parse_integer(suite.name.substr(split)).value_or(0));
  }
  for (Family& family : families) {
    std::ranges::sort(family.numbers);
  }
  return families;
}

std::string family_list(const std::vector<TaskSuite>& suites) {
  constexpr std::size_t kNameWidth = 31;
  std::string list;
  for (const Family& family : find_families(suites)) {
    const std::string numbers = fmt::format("{}", fmt::join(family.numbers, ","));
    list += entry(family.name + (family.numbers.size() == 1 ? numbers : "{" + numbers + "}"), family.about, kNameWidth);
  }
  return list;
}

}  // namespace

ordered_json task_list_json() {
  ordered_json list = ordered_json::array();
  for (const std::string& name : tasks::builtin_task_names()) {
    const TaskSuite suite = tasks::load_task(name);
    list.push_back({{"name", name}, {"about", suite.about}, {"tasks", suite.tasks.size()}});
    if (suite.images()) {
      list.back()["images"] = suite.images()->images;
    }
  }
  for (const experiments::Experiment* kind : experiments::all()) {
    for (const experiments::OwnTask& task : kind->own_tasks()) {
      list.push_back({{"name", task.name}, {"about", task.about}, {"kind", kind->name()}});
    }
  }
  return list;
}

std::string task_list_text() {
  std::string singles;
  std::string on_images;
  std::string suites;
  std::vector<TaskSuite> sculpted;
  constexpr std::size_t kNameWidth = 15;
  for (const std::string& name : tasks::builtin_task_names()) {
    const TaskSuite suite = tasks::load_task(name);
    if (name.starts_with("sculpt/")) {
      sculpted.push_back(suite);
      continue;
    }
    std::string& list = suite.images() ? on_images : suite.tasks.size() == 1 ? singles : suites;
    list += entry(name, suite.about, kNameWidth);
  }
  std::string drawn;
  for (const experiments::Experiment* kind : experiments::all()) {
    for (const experiments::OwnTask& task : kind->own_tasks()) {
      drawn += entry(task.name, task.about, kNameWidth);
    }
  }
  return fmt::format(
      "Built-in tasks\n{}\nTasks on images of digits, whose bits are the inputs\n{}\n"
      "Suites, which one network learns together\n{}\n"
      "Tasks of Neural Sculpting, with their modules\n{}\n"
      "Data that is drawn instead of looked up, without a graph, for 'modlab train' or 'modlab mask'\n{}\n"
      "'modlab graph depth2' shows one of them; a YAML or CSV file of your own works too.\n",
      singles, on_images, suites, family_list(sculpted), drawn);
}

}  // namespace modlab::report

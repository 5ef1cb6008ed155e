#include "studies/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"
#include "studies/study_check.h"
#include "studies/study_difference.h"
#include "tasks/task_file.h"

namespace modlab::studies {
namespace {

// Without their folders, which mean nothing elsewhere.
std::string file_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  std::ranges::transform(files, std::back_inserter(names), [](const std::string& file) {
    return on_one_line(std::filesystem::path(file).filename().string());
  });
  return join_text(names, ", ");
}

// "results/boolean-quick-rescued", or with a number where that exists.
std::string free_place_beside(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) {
    folder.pop_back();
  }
  std::string place = folder + "-rescued";
  for (int number = 2; std::filesystem::exists(place); ++number) {
    place = fmt::format("{}-rescued-{}", folder, number);
  }
  return place;
}

Study with_overrides(Study study, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    apply_override(study, text);
  }
  return study;
}

// The tasks of a preset that are files or given, by the names that the study has for them.
tasks::NamedTasks tasks_of(const Study& study, const std::string& preset, const tasks::NamedTasks& given) {
  tasks::NamedTasks found;
  for (const Grid& grid : preset_grids(study, preset)) {
    for (const Choices& choice : grid.parameters) {
      if (experiments::find_setting(choice.name)->role != settings::Setting::Role::kTask) {
        continue;
      }
      for (const std::string& name : choice.values) {
        if (const auto at_hand = given.find(name); at_hand != given.end()) {
          found[name] = at_hand->second;
        } else if (!found.contains(name) && experiments::owner_of(name) == nullptr) {
          found[name] = std::make_shared<const tasks::TaskSuite>(tasks::load_task_from(study.folder, name));
        }
      }
    }
  }
  return found;
}

StoredStudy stored_form(const StudyRequest& request) {
  return {request.study.name, request.study.text, request.study.source,
          request.preset,     request.overrides,  request.shard};
}

Study study_in(Store& store) {
  const StoredStudy& stored = store.study();
  return with_overrides(parse_study(stored.text, stored.name, stored.source), stored.overrides);
}

// Finished runs that a plan does not have.
std::size_t runs_besides(const StudyPlan& plan, RunSet finished) {
  for (const PlannedRun& run : plan.runs) {
    finished.erase(run.number());
  }
  return finished.size();
}

// What became of the study since it was run there last, and what that means for the runs.
std::string changes_since(Store& before, const StudyRequest& request, const StudyPlan& plan) {
  std::string difference;
  try {
    difference = study_difference(study_in(before), before.study().preset, request.study, request.preset);
  } catch (const UserError&) {
    difference = "this version of modlab does not read its file as it was";
  }
  if (difference.empty()) {
    return "";
  }
  const RunSet finished = before.finished();
  const std::size_t besides = runs_besides(plan, finished);
  return fmt::format(
      "The study in {} has changed: {}. {}", request.folder, difference,
      besides == 0
          ? fmt::format("All of its {} runs are still in the grid.", finished.size())
          : fmt::format(
                "{} of its {} runs are not in the grid any more: they stay in the store with in_grid 0, and report "
                "and tables leave them out. The words of before bring them back; --out keeps the two apart.",
                besides, finished.size()));
}

}  // namespace

std::string machine_text(const experiments::Resources& resources) {
  std::string cpu = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      cpu = trim(line.substr(line.find(':') + 1));
      break;
    }
  }
  return fmt::format("{}, {} thread{}, {}", cpu, resources.threads, resources.threads == 1 ? "" : "s",
                     resources.kernels->target);
}

Study study_with(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  return with_overrides(load_study(name_or_path), overrides);
}

StudyRequest make_request(const std::string& name_or_path, const std::vector<std::string>& overrides,
                          const std::string& preset, const std::string& folder, const Shard& shard) {
  return make_request(load_study(name_or_path), {}, overrides, preset, folder, shard);
}

StudyRequest make_request(Study study, const tasks::NamedTasks& given, const std::vector<std::string>& overrides,
                          const std::string& preset, const std::string& folder, const Shard& shard) {
  StudyRequest request;
  request.shard = shard;
  request.overrides = overrides;
  request.study = with_overrides(std::move(study), overrides);
  request.preset = preset.empty() ? request.study.default_preset : preset;
  find_preset(request.study, request.preset);
  request.tasks = tasks::TasksAtHand(tasks_of(request.study, request.preset, given));
  // Words that leave series out may leave settings of the file without use.
  if (overrides.empty()) {
    check_settings(request.study);
  } else {
    check_overrides(request.study, overrides);
  }
  request.folder = !folder.empty()
                       ? folder
                       : "results/" + request.study.name + (request.preset.empty() ? "" : "-" + request.preset) +
                             (shard.is_whole() ? "" : "-" + shard.file_text());
  return request;
}

RunSet finished_in(const std::string& folder) {
  std::optional<Store> store = Store::open_if_any(folder);
  return store ? store->finished() : RunSet();
}

StudyInWork::StudyInWork(const StudyRequest& request, const experiments::Resources& resources,
                         const std::vector<std::string>& network_files)
    : folder_(request.folder),
      request_(request),
      tasks_(request.tasks),
      plan_(plan_study(request.study, request.preset)) {
  const bool is_given = !network_files.empty();
  if (is_given && !request.shard.is_whole()) {
    throw ConfigError("networks: files are judged by one process; leave --shard out");
  }
  origin_ = {is_given ? "" : machine_text(resources), file_names(network_files)};
  lock_.emplace(folder_);
  RunSet finished;
  if (std::optional<Store> before = Store::open_if_any(request.folder)) {
    before->check_fits(stored_form(request), origin_, plan_.tasks());
    finished = before->finished();
    changes_ = changes_since(*before, request, plan_);
  }
  if (is_given) {
    try {
      std::vector<experiments::Run> runs = missing_runs(plan_, {});
      planned_ = runs.size();
      batch_.emplace(Batch::of_networks(std::move(runs), network_files));
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("study {}: {}", request.study.name, error.what()));
    }
  } else {
    experiments::Resources with_folder = resources;
    with_folder.unfinished = folder_ + "/unfinished";
    std::vector<experiments::Run> runs = runs_of(request.shard, missing_runs(plan_, {}));
    planned_ = runs.size();
    std::erase_if(runs, [&](const experiments::Run& run) { return finished.contains(run.number); });
    batch_.emplace(std::move(runs), with_folder, wanted_for(plan_.keep));
  }
  store_.emplace(Store::open_or_create(folder_, stored_form(request_), origin_, &plan_));
}

StudyInWork::~StudyInWork() {
  if (store_) {
    store_->close();
  }
}

std::size_t StudyInWork::missing() {
  const RunSet finished = store_->finished();
  return static_cast<std::size_t>(std::ranges::count_if(
      batch_->runs(), [&](const experiments::Run& run) { return !finished.contains(run.number); }));
}

void StudyInWork::execute() {
  batch_->execute([this](std::vector<experiments::FinishedRun>&& finished) { take(finished); });
  leave_if_moved();  // after the last commit, too
}

void StudyInWork::take(std::span<const experiments::FinishedRun> finished, std::optional<std::int64_t> origin) {
  const std::lock_guard lock(mutex_);
  if (origin) {
    store_->add(finished, *origin);
  } else {
    store_->add(finished);
  }
  leave_if_moved();
}

void StudyInWork::leave_if_moved() {
  if (!store_->has_moved()) {
    return;
  }
  const std::string gone = std::exchange(folder_, free_place_beside(folder_));
  lock_.emplace(folder_);
  store_->copy_to(folder_);
  store_.emplace(Store::open_or_create(folder_, stored_form(request_), origin_, &plan_));
  give_notice(fmt::format("{} was deleted or moved; what is trained goes to {} instead", gone, folder_));
}

const Findings& StudyInWork::finish() {
  findings_.emplace(request_.study, plan_, *store_);
  keep_choices(*findings_, *store_);
  return *findings_;
}

void keep_choices(const Findings& findings, Store& store) {
  std::vector<ChosenRun> chosen;
  for (const Cell& cell : findings.cells()) {
    for (const Cell::Split& split : cell.splits) {
      for (const Record* record : split.runs) {
        chosen.push_back({findings.plan().series[record->run->series], record->run->number(), cell.restarts});
      }
    }
  }
  store.keep_choices(chosen, findings.study().analysis.snapshot, findings.table().size());
}

OpenedStudy::OpenedStudy(const std::string& folder)
    : store_(Store::open(folder)),
      tasks_(store_.tasks_at_hand()),
      study_(study_in(store_)),
      plan_(plan_study(study_, store_.study().preset)) {
  store_.check_tasks(plan_.tasks());
}

std::size_t OpenedStudy::other_runs() { return runs_besides(plan_, store_.finished()); }

const Findings& OpenedStudy::findings() {
  if (!findings_) {
    findings_.emplace(study_, plan_, store_);
  }
  return *findings_;
}

StoredRuns stored_runs(const std::string& folder, const std::vector<std::string>& ids) {
  Store store = Store::open(folder);
  StoredRuns found;
  found.tasks = store.tasks_at_hand();
  for (const std::string& id : ids) {
    std::optional<experiments::Run> run = store.run(id);
    if (!run) {
      throw ConfigError(fmt::format("{} has no run '{}'; `modlab export` lists them", store.path(), id));
    }
    found.runs.push_back(std::move(*run));
  }
  return found;
}

}  // namespace modlab::studies

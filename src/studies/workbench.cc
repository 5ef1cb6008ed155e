#include "studies/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"

namespace modlab::studies {
namespace {

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

}  // namespace

Study study_with(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  return with_overrides(load_study(name_or_path), overrides);
}

StudyRequest make_request(const std::string& name_or_path, const std::vector<std::string>& overrides,
                          const std::string& preset, const std::string& folder) {
  StudyRequest request;
  request.overrides = overrides;
  request.study = study_with(name_or_path, overrides);
  request.preset = preset.empty() ? request.study.default_preset : preset;
  find_preset(request.study, request.preset);
  request.folder =
      !folder.empty() ? folder : "results/" + request.study.name + (request.preset.empty() ? "" : "-" + request.preset);
  return request;
}

RunSet finished_in(const std::string& folder) {
  return Store::exists(folder) ? Store::open(folder).finished() : RunSet();
}

StudyInWork::StudyInWork(const StudyRequest& request, const experiments::Resources& resources,
                         const std::vector<std::string>& network_files)
    : folder_(request.folder), request_(request), plan_(plan_study(request.study, request.preset)) {
  const bool is_given = !network_files.empty();
  if (is_given) {
    try {
      batch_.emplace(Batch::of_networks(missing_runs(plan_, {}), network_files));
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("study {}: {}", request.study.name, error.what()));
    }
  }
  origin_ = {is_given ? "" : machine_text(resources), file_names(network_files)};
  lock_.emplace(folder_);
  store_.emplace(Store::open_or_create(folder_, stored_study(), origin_));
  for (const auto& [name, facts] : plan_.tasks()) {
    store_->keep_task(facts);
  }
  if (!is_given) {
    batch_.emplace(missing_runs(plan_, store_->finished()), resources, wanted_for(plan_.keep));
  }
}

StudyInWork::~StudyInWork() {
  if (store_) {
    store_->close();
  }
}

std::size_t StudyInWork::missing() { return missing_runs(plan_, store_->finished()).size(); }

StoredStudy StudyInWork::stored_study() const {
  return {request_.study.name, request_.study.text, request_.study.source, request_.preset, request_.overrides};
}

void StudyInWork::execute() {
  batch_->execute([this](std::vector<experiments::FinishedRun>&& finished) { take(finished); });
  leave_if_moved();  // after the last commit, too
}

void StudyInWork::take(std::span<const experiments::FinishedRun> finished) {
  const std::lock_guard lock(mutex_);
  store_->add(finished);
  leave_if_moved();
}

void StudyInWork::leave_if_moved() {
  if (!store_->has_moved()) {
    return;
  }
  const std::string gone = std::exchange(folder_, free_place_beside(folder_));
  lock_.emplace(folder_);
  store_->copy_to(folder_);
  store_.emplace(Store::open_or_create(folder_, stored_study(), origin_));
  give_notice(fmt::format("{} was deleted or moved; what is trained goes to {} instead", gone, folder_));
}

OpenedStudy::OpenedStudy(const std::string& folder)
    : store_(Store::open(folder)),
      study_(with_overrides(parse_study(store_.study().text, store_.study().name, store_.study().source),
                            store_.study().overrides)),
      plan_(plan_study(study_, store_.study().preset)) {
  for (const auto& [name, facts] : plan_.tasks()) {
    store_.check_task(facts);
  }
}

const Findings& OpenedStudy::findings() {
  if (!findings_) {
    findings_.emplace(study_, plan_, store_);
  }
  return *findings_;
}

experiments::Run stored_run(Store& store, const std::string& id) {
  std::optional<experiments::Run> run = store.run(id);
  if (!run) {
    throw ConfigError(fmt::format("{} has no run '{}'; `modlab export` lists them", store.path(), id));
  }
  return std::move(*run);
}

}  // namespace modlab::studies

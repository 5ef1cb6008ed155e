#include "studies/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/errors.h"
#include "core/text.h"
#include "studies/study_check.h"

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
  std::ranges::transform(files, std::back_inserter(names),
                         [](const std::string& file) { return std::filesystem::path(file).filename().string(); });
  return join_text(names, ", ");
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
  check_settings(request.study);
  request.folder =
      !folder.empty() ? folder : "results/" + request.study.name + (request.preset.empty() ? "" : "-" + request.preset);
  return request;
}

RunSet finished_in(const std::string& folder) {
  return Store::exists(folder) ? Store::open(folder).finished() : RunSet();
}

StudyInWork::StudyInWork(const StudyRequest& request, const experiments::Resources& resources,
                         const std::vector<std::string>& network_files)
    : plan_(plan_study(request.study, request.preset)) {
  const bool is_given = !network_files.empty();
  if (is_given) {
    try {
      batch_.emplace(Batch::of_networks(missing_runs(plan_, {}), network_files));
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("study {}: {}", request.study.name, error.what()));
    }
  }
  const Origin origin = {is_given ? "" : machine_text(resources), file_names(network_files)};
  store_.emplace(Store::open_or_create(
      request.folder, {request.study.name, request.study.text, request.study.source, request.preset, request.overrides},
      origin));
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

void StudyInWork::execute() {
  batch_->execute([this](std::vector<experiments::FinishedRun>&& finished) { store_->add(finished); });
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

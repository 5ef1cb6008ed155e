#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/arguments.h"
#include "cli/opened_study.h"
#include "cli/progress_bar.h"
#include "cli/study_text.h"
#include "cli/threads.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "studies/given_networks.h"
#include "studies/run_sculpted.h"
#include "studies/run_study.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& study_options() {
  static const std::vector<Option> kOptions = {
      {"preset", Arity::kOne, "NAME", "quick, paper, deep, or what the study's file names", {}},
      {"out", Arity::kOne, "DIR", "folder of the results; default: results/STUDY-PRESET", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"networks",
       Arity::kMany,
       "FILES",
       "with run, of sculpted networks: judge the networks of these files instead",
       {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_study_help() {
  fmt::print(
      "modlab study: train a whole grid, choose settings by validation, check a paper's claims\n\n"
      "  modlab study list\n"
      "  modlab study show boolean --preset paper\n"
      "  modlab study run boolean --preset quick\n"
      "  modlab study run my-study.yaml --out my-results ratio=0.3,0.5 epochs=200\n"
      "  modlab study run sculpt-validation --preset published --networks nets.jsonl --out results/theirs\n"
      "  modlab study status results/boolean-quick\n\n"
      "A study is a YAML file; studies/README.md shows its form. Words of the form setting=values replace what the\n"
      "file says; keep=results|curves|best|all, ties=loss|updates|first, snapshot=best|last and series=NAME,... work\n"
      "too. Running a study again trains only what is missing.\n\n{}",
      describe_options(study_options()));
}

std::string machine_text(int threads, const char* target) {
  std::string cpu = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      cpu = trim(line.substr(line.find(':') + 1));
      break;
    }
  }
  return fmt::format("{}, {} thread{}, {}", cpu, threads, threads == 1 ? "" : "s", target);
}

// What `show` and `run` are about: a study, a preset, a folder.
struct StudyRequest {
  studies::Study study;
  std::string preset;
  std::string folder;
  std::vector<std::string> overrides;
};

StudyRequest read_study_request(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() < 2) {
    throw ConfigError("name a study or its file, such as `modlab study " + words.front() + " boolean`");
  }
  StudyRequest request;
  request.overrides.assign(words.begin() + 2, words.end());
  request.study = study_with(words[1], request.overrides);
  request.preset = arguments.text("preset", request.study.default_preset);
  studies::find_preset(request.study, request.preset);
  request.folder =
      arguments.text("out", "results/" + request.study.name + (request.preset.empty() ? "" : "-" + request.preset));
  return request;
}

int list_studies() {
  for (const std::string& name : studies::builtin_study_names()) {
    const studies::Study study = studies::load_study(name);
    std::vector<std::string> presets;
    for (const studies::Preset& preset : study.presets) {
      presets.push_back(fmt::format("{} {}", preset.name, studies::count_runs(study, preset.name)));
    }
    fmt::print("{:<18} {}\n{:<18} runs: {}\n", name, study.title, "", join_text(presets, ", "));
  }
  return 0;
}

// Runs that are trained, and those that are pruned as well.
struct MissingRuns {
  explicit MissingRuns(const std::vector<models::RunSpec>& runs) {
    for (const models::RunSpec& run : runs) {
      (run.is_sculpted() ? sculpted : trained).push_back(run);
    }
  }

  std::vector<models::RunSpec> trained;
  std::vector<models::RunSpec> sculpted;
};

int show_study(const Arguments& arguments) {
  const StudyRequest request = read_study_request(arguments);
  const int threads = thread_count(arguments);
  const studies::StudyPlan plan = studies::plan_study(request.study, request.preset);
  std::unordered_set<std::string> finished;
  if (studies::Store::exists(request.folder)) {
    finished = studies::Store::open(request.folder).finished();
  }
  fmt::print("{}: {}\n{}\n\n", request.study.name, request.study.title, request.study.about);
  for (const studies::Preset& preset : request.study.presets) {
    fmt::print("{} {:<6} {}\n", preset.name == request.preset ? "*" : " ", preset.name, preset.about);
  }
  fmt::print("\n{}\n", plan_table(request.study, plan, finished));
  fmt::print("Figures {}, claims {}, tuned: {}.\n", request.study.figures.size(), request.study.claims.size(),
             request.study.analysis.tune.empty() ? "nothing" : join_text(request.study.analysis.tune, ", "));
  const std::vector<models::RunSpec> missing = studies::missing_runs(plan, finished);
  const std::size_t planned = studies::different_runs(plan);
  fmt::print("{} of {} runs are in {}.\n", planned - missing.size(), planned, request.folder);
  if (!missing.empty()) {
    const MissingRuns sorted(missing);
    const double seconds =
        studies::estimate_seconds(models::make_plan(sorted.trained), plan.keep, threads, engine::kernels()) +
        studies::estimate_sculpted_seconds(sorted.sculpted, plan.suites, threads, engine::kernels());
    fmt::print("The other {} take about {} on {} thread{} of this machine.\n", missing.size(), duration_text(seconds),
               threads, threads == 1 ? "" : "s");
  }
  return 0;
}

// Trains what is missing; throws Interrupted if it was stopped.
void train_missing(const studies::StudyPlan& plan, studies::Store& store, int threads) {
  const std::vector<models::RunSpec> missing = studies::missing_runs(plan, store.finished());
  if (missing.empty()) {
    fmt::print("All {} runs are in the store already.\n", studies::different_runs(plan));
    return;
  }
  fmt::print("{} of {} runs to train on {} thread{}.\n", missing.size(), studies::different_runs(plan), threads,
             threads == 1 ? "" : "s");
  std::fflush(stdout);
  const MissingRuns sorted(missing);
  engine::Progress progress;
  double seconds = 0;
  if (!sorted.trained.empty()) {
    const models::Plan population = models::make_plan(sorted.trained);
    const ProgressBar bar(progress,
                          networks_trained(progress, population.runs.size(), models::total_epochs(population)), false);
    studies::run_study(population, plan.keep, threads, engine::kernels(), progress, store);
    seconds += bar.seconds();
  }
  if (!sorted.sculpted.empty() && !progress.stop) {
    methods::SculptProgress sculpting;
    const ProgressBar bar(sculpting.engine, trials_done(sculpting, studies::different_carvings(sorted.sculpted)),
                          false);
    studies::run_sculpted(sorted.sculpted, plan.suites, threads, engine::kernels(), sculpting, store);
    seconds += bar.seconds();
    progress.stop = sculpting.engine.stop.load();
  }
  if (progress.stop) {
    const std::size_t left = studies::missing_runs(plan, store.finished()).size();
    throw Interrupted(fmt::format("Stopped: {} runs are left. The same command goes on from here.", left));
  }
  fmt::print("{} runs in {}, {:.0f} a second.\n", missing.size(), duration_text(seconds),
             static_cast<double>(missing.size()) / seconds);
}

// Networks that others have trained, as far as they are runs of the study.
studies::GivenTrials read_networks(const studies::StudyPlan& plan, const std::string& study,
                                   const std::vector<std::string>& files) {
  if (!plan.is_sculpted()) {
    throw ConfigError(fmt::format("--networks is for studies of sculpted networks; {} is none", study));
  }
  std::vector<models::NamedNetwork> networks;
  for (const std::string& file : files) {
    std::ranges::move(models::read_layered_networks(file), std::back_inserter(networks));
  }
  studies::GivenTrials given = studies::given_trials(studies::missing_runs(plan, {}), plan.suites, networks);
  if (given.trials.empty()) {
    throw ConfigError(fmt::format("none of the {} networks in {} is of the study {}", networks.size(),
                                  join_text(files, ", "), study));
  }
  return given;
}

// Without their folders, which mean nothing elsewhere.
std::vector<std::string> file_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  std::ranges::transform(files, std::back_inserter(names),
                         [](const std::string& file) { return std::filesystem::path(file).filename().string(); });
  return names;
}

// However the training ends, the store is left as one file.
struct ClosedStore {
  studies::Store& store;
  ~ClosedStore() { store.close(); }
};

int run_study_verb(const Arguments& arguments) {
  const StudyRequest request = read_study_request(arguments);
  const int threads = thread_count(arguments);
  const studies::StudyPlan plan = studies::plan_study(request.study, request.preset);
  const std::vector<std::string>& files = arguments.words("networks");
  const bool is_given = arguments.has("networks");
  const studies::GivenTrials given = is_given ? read_networks(plan, request.study.name, files) : studies::GivenTrials();
  {
    const std::string machine = is_given ? studies::given_machine(join_text(file_names(files), ", "))
                                         : machine_text(threads, engine::kernels().target);
    studies::Store store = studies::Store::open_or_create(
        request.folder,
        {request.study.name, request.study.text, request.study.source, request.preset, request.overrides, machine});
    const ClosedStore closed{store};
    for (const auto& [name, suite] : plan.suites) {
      store.keep_task(name, suite);
    }
    fmt::print("{}: {}\n", request.study.name, request.study.title);
    if (is_given) {
      studies::judge_given(given, plan.suites, store);
      fmt::print("{} of {} networks are of this study, in {} of {} runs.\n", given.used, given.networks,
                 given.trials.size(), studies::different_runs(plan));
    } else {
      train_missing(plan, store, threads);
    }
  }
  OpenedStudy opened(request.folder);
  const std::vector<studies::ClaimResult> claims = studies::evaluate_claims(opened.findings());
  fmt::print("\n{}\n{}\n{}",
             plan.is_sculpted() ? "Tied networks with the true modules in %, mean over trials ± standard error"
                                : "Mean test accuracy in %, chosen by validation, ± standard error within splits",
             result_table(opened.findings()), plan.is_sculpted() ? "" : ties_text(opened.findings()));
  if (!claims.empty()) {
    fmt::print("\nClaims\n{}", claims_text(claims));
  }
  const std::string path = (std::filesystem::path(request.folder) / "report.html").string();
  write_report(opened, claims, path);
  fmt::print("\nReport: {}\n", path);
  return 0;
}

int show_status(const Arguments& arguments) {
  if (arguments.positional().size() != 2) {
    throw ConfigError("name the folder of a study, such as `modlab study status results/boolean-quick`");
  }
  OpenedStudy opened(arguments.positional()[1]);
  const std::unordered_set<std::string> finished = opened.store().finished();
  fmt::print("{}{}{}\n\n{}\n", opened.study().name, opened.store().study().preset.empty() ? "" : ", preset ",
             opened.store().study().preset, plan_table(opened.study(), opened.plan(), finished));
  const std::size_t left = studies::missing_runs(opened.plan(), finished).size();
  if (left == 0) {
    fmt::print("All {} runs are finished.\n", studies::different_runs(opened.plan()));
  } else {
    fmt::print("{} of {} runs are left; `modlab study run` with the same words goes on.\n", left,
               studies::different_runs(opened.plan()));
  }
  return 0;
}

}  // namespace

int run_study(std::span<const std::string> words) {
  const Arguments arguments(words, study_options());
  const std::vector<std::string>& positional = arguments.positional();
  if (arguments.has("help") || positional.empty()) {
    print_study_help();
    return 0;
  }
  const std::string& what = positional.front();
  if (what == "list") {
    return list_studies();
  }
  if (what == "show") {
    return show_study(arguments);
  }
  if (what == "run") {
    return run_study_verb(arguments);
  }
  if (what == "status") {
    return show_status(arguments);
  }
  const std::vector<std::string> known = {"list", "show", "run", "status"};
  const std::string nearest = did_you_mean(what, known);
  throw ConfigError(fmt::format("modlab study has no '{}'{}", what,
                                nearest.empty() ? "; it has list, show, run and status" : nearest));
}

}  // namespace modlab::cli

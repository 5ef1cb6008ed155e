#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/planning_note.h"
#include "cli/progress_bar.h"
#include "cli/study_parts.h"
#include "cli/study_submit.h"
#include "cli/study_text.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/interrupt_note.h"
#include "core/mpi_launch.h"
#include "core/text.h"
#include "studies/ranks/ranks.h"
#include "studies/workbench.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& study_options() {
  static const std::vector<Option> kOptions = {
      {"preset", Arity::kOne, "NAME", "quick, paper, deep, or what the study's file names", {}},
      {"out", Arity::kOne, "DIR", "folder of the results; default: results/STUDY-PRESET", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"mpi", Arity::kFlag, "", "with run, under mpirun: all ranks train; several ranks do so without being asked", {}},
      {"shard", Arity::kOne, "3/16", "with run and show: the third of sixteen parts, in a folder of its own", {}},
      {"slurm", Arity::kFlag, "", "with submit: for a cluster with Slurm", {}},
      {"shards", Arity::kOne, "N", "with submit: into how many jobs; default: of half an hour each", {}},
      {"partition", Arity::kOne, "NAME", "with submit: of the cluster", {}},
      {"run", Arity::kFlag, "", "with submit: give the jobs to sbatch at once", {}},
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
  print_help(
      "modlab study: train a whole grid, choose settings by validation, check a paper's claims\n\n"
      "  modlab study list\n"
      "  modlab study show boolean --preset paper\n"
      "  modlab study run boolean --preset quick\n"
      "  modlab study run my-study.yaml --out my-results ratio=0.3,0.5 epochs=200\n"
      "  modlab study run sculpt-validation --preset published --networks nets.jsonl --out results/theirs\n"
      "  modlab study status results/boolean-quick\n"
      "  modlab study run boolean --preset paper --shard 3/16      # a sixteenth of it, on any machine\n"
      "  mpirun -n 8 modlab study run boolean --preset paper       # eight processes, one store\n"
      "  modlab study merge results/boolean-paper results/boolean-paper-shard*\n"
      "  modlab study status results/boolean-paper-shard*\n"
      "  modlab study submit boolean --preset paper --slurm        # array jobs and their merge, for a cluster\n\n"
      "A study is a YAML file; studies/README.md shows its form. Words of the form setting=values replace what the\n"
      "file says; keep=results|curves|best|all, ties=loss|updates|first, snapshot=best|last and series=NAME,... work\n"
      "too. Running a study again trains only what is missing.\n\n{}",
      describe_options(study_options()));
}

studies::StudyRequest read_study_request(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() < 2) {
    throw ConfigError("name a study or its file, such as `modlab study " + words.front() + " boolean`");
  }
  return studies::make_request(
      words[1], {words.begin() + 2, words.end()}, arguments.text("preset"), arguments.text("out"),
      arguments.has("shard") ? studies::parse_shard(arguments.text("shard")) : studies::Shard{});
}

// How many runs a preset trains. A run may stand in several series, which only planning shows; a large plan takes
// seconds.
std::size_t runs_of(const studies::Study& study, const std::string& preset) {
  constexpr std::size_t kSoonPlanned = 15000;
  const std::size_t count = studies::count_runs(study, preset);
  return count <= kSoonPlanned ? studies::different_runs(studies::plan_study(study, preset)) : count;
}

int list_studies() {
  for (const std::string& name : studies::builtin_study_names()) {
    const studies::Study study = studies::load_study(name);
    std::vector<std::string> presets;
    for (const studies::Preset& preset : study.presets) {
      presets.push_back(fmt::format("{} {}", preset.name, runs_of(study, preset.name)));
    }
    fmt::print("{:<18} {}\n{:<18} runs: {}\n", name, study.title, "", join_text(presets, ", "));
  }
  return 0;
}

int show_study(const Arguments& arguments) {
  const studies::StudyRequest request = read_study_request(arguments);
  const int threads = thread_count(arguments);
  const studies::StudyPlan plan = while_planning([&] { return studies::plan_study(request.study, request.preset); });
  const studies::RunSet finished = studies::finished_in(request.folder);
  fmt::print("{}: {}\n{}\n\n", request.study.name, request.study.title, request.study.about);
  for (const studies::Preset& preset : request.study.presets) {
    fmt::print("{} {:<6} {}\n", preset.name == request.preset ? "*" : " ", preset.name, preset.about);
  }
  fmt::print("\n{}\n", plan_table(request.study, plan, finished));
  fmt::print("Figures {}, claims {}, tuned: {}.\n", request.study.figures.size(), request.study.claims.size(),
             request.study.analysis.tune.empty() ? "nothing" : join_text(request.study.analysis.tune, ", "));
  std::vector<experiments::Run> missing = studies::runs_of(request.shard, studies::missing_runs(plan, {}));
  const std::size_t planned = missing.size();
  std::erase_if(missing, [&](const experiments::Run& run) { return finished.contains(run.number); });
  const std::size_t left = missing.size();
  fmt::print("{} of {} runs are in {}.\n", planned - left, planned, request.folder);
  if (left > 0) {
    studies::Batch batch = while_planning([&] {
      return studies::Batch(std::move(missing), {threads, &engine::kernels()}, studies::wanted_for(plan.keep));
    });
    std::fflush(stdout);  // before it can be stopped
    const double seconds = while_planning([&] { return batch.estimate_seconds(); });
    fmt::print("The other {} take about {} on {} thread{} of this machine.\n", left, duration_text(seconds), threads,
               threads == 1 ? "" : "s");
  }
  return 0;
}

// Carries out what is missing, with the other ranks if there are any; throws Interrupted if it was stopped.
void carry_out(studies::StudyInWork& work, int threads, studies::StoreRank* ranks) {
  const std::string folder = work.folder();  // which may go away
  const std::size_t planned = work.planned();
  const std::size_t missing = work.batch().runs().size();
  if (missing == 0) {
    fmt::print("All {} runs are in the store already.\n", planned);
    return;
  }
  fmt::print("{} of {} runs to train on {} thread{}{}.\n", missing, planned, threads, threads == 1 ? "" : "s",
             ranks != nullptr ? fmt::format(" and {} other ranks", ranks->ranks() - 1) : "");
  std::fflush(stdout);
  double seconds = 0;
  bool is_stopped = false;
  if (ranks != nullptr) {
    work.note_who_trains(fmt::format("{} ranks", ranks->ranks()));
    ranks->begin(work);
    const ProgressBar bar(watched(*ranks), false);
    ranks->execute({threads, &engine::kernels()});
    seconds = bar.seconds();
    is_stopped = ranks->is_stopped() && work.missing() > 0;
  } else {
    const ProgressBar bar(watched(work.batch()), false);
    work.execute();
    seconds = bar.seconds();
    is_stopped = work.batch().is_stopped();
  }
  if (is_stopped) {
    throw Interrupted(fmt::format("Stopped: {} runs are left. The same command goes on from here{}.", work.missing(),
                                  work.folder() == folder ? "" : " with --out " + work.folder()));
  }
  fmt::print("{} runs in {}, {}.\n", missing, duration_text(seconds),
             rate_text(static_cast<double>(missing), seconds));
}

// The other ranks, if a launcher has started several, or MPI is asked for.
std::unique_ptr<Link> other_ranks(const Arguments& arguments) {
  const bool is_needed = arguments.has("mpi") || launched_ranks().value_or(1) > 1;
  return is_needed ? open_mpi_link() : nullptr;
}

int run_study_verb(const Arguments& arguments) {
  const std::unique_ptr<Link> link = other_ranks(arguments);
  if (link != nullptr && link->rank() > 0) {
    const int own_threads = arguments.has("threads") ? thread_count(arguments) : link->cores();
    const InterruptNote interrupts;
    studies::train_for_store(
        *link, {own_threads, &engine::kernels()}, [&] { return read_study_request(arguments); },
        [&] { return interrupts.arrived(); });
    return 0;
  }
  std::optional<studies::StoreRank> ranks;
  if (link != nullptr) {
    ranks.emplace(*link);
  }
  const studies::StudyRequest request = read_study_request(arguments);
  const int threads = link != nullptr && !arguments.has("threads") ? link->cores() : thread_count(arguments);
  const std::vector<std::string>& files = arguments.words("networks");
  if (link != nullptr && !files.empty()) {
    throw ConfigError("networks: files are judged by one process; start it without mpirun");
  }
  studies::StudyInWork work = while_planning([&] {
    return studies::StudyInWork(request, {threads, &engine::kernels()}, files);
  });
  fmt::print("{}: {}\n", request.study.name, request.study.title);
  if (const studies::Preset* preset = studies::find_preset(request.study, request.preset); preset != nullptr) {
    fmt::print("{}: {}\n", preset->name, preset->about);
  }
  if (!work.changes().empty()) {
    fmt::print("{}\n", work.changes());
  }
  if (files.empty()) {
    carry_out(work, threads, ranks && ranks->ranks() > 1 ? &*ranks : nullptr);
  } else {
    work.execute();
    fmt::print("{}\n", work.batch().remark());
  }
  if (!request.shard.is_whole()) {
    fmt::print("Finished {}. `modlab study merge OUT DIR...` puts all {} together; then there are findings.\n",
               request.shard.text(), request.shard.count);
    return 0;
  }
  show_findings(work.finish(), work.store(), work.folder());
  return 0;
}

int show_status(const Arguments& arguments) {
  if (arguments.positional().size() < 2) {
    throw ConfigError("name the folder of a study, such as `modlab study status results/boolean-quick`");
  }
  if (arguments.positional().size() > 2) {
    return show_status_of_parts({arguments.positional().begin() + 1, arguments.positional().end()});
  }
  studies::OpenedStudy opened = while_planning([&] { return studies::OpenedStudy(arguments.positional()[1]); });
  const studies::RunSet finished = opened.store().finished();
  fmt::print("{}{}{}\n\n{}\n", opened.study().name, opened.store().study().preset.empty() ? "" : ", preset ",
             opened.store().study().preset, plan_table(opened.study(), opened.plan(), finished));
  const studies::Shard shard = opened.store().study().shard;
  const std::vector<std::uint64_t> runs = studies::run_numbers(opened.plan(), shard);
  const auto left = std::ranges::count_if(runs, [&](std::uint64_t run) { return !finished.contains(run); });
  const std::optional<std::string> who = studies::who_trains(arguments.positional()[1]);
  const std::string part = shard.is_whole() ? "" : " of " + shard.text();
  if (left == 0) {
    fmt::print("All {} runs{} are finished.\n", runs.size(), part);
  } else {
    fmt::print("{} of {} runs{} are left; {}.\n", left, runs.size(), part,
               who ? *who + " trains them" : "no process trains them, `modlab study run` with the same words goes on");
  }
  fmt::print("{}", other_runs_text(opened));
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
  if (what == "merge") {
    return merge_studies(arguments);
  }
  if (what == "submit") {
    return submit_study(arguments, read_study_request(arguments));
  }
  const std::vector<std::string> known = {"list", "show", "run", "status", "merge", "submit"};
  const std::string nearest = did_you_mean(what, known);
  throw ConfigError(fmt::format("modlab study has no '{}'{}", what,
                                nearest.empty() ? "; it has list, show, run, status, merge and submit" : nearest));
}

}  // namespace modlab::cli

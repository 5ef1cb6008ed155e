#include "cli/study_submit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/planning_note.h"
#include "cli/terminal.h"
#include "core/child_program.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "studies/parcels.h"
#include "studies/slurm.h"

namespace modlab::cli {
namespace {

namespace fs = std::filesystem;

// A shard is to take about this long, where nobody says how many there are: short enough for a gap in a queue, long
// enough that starting it costs nothing.
constexpr double kSecondsOfShard = 1800;
constexpr int kMostShardsUnasked = 256;
// Nodes may be slower than this machine, and are shared with others.
constexpr double kSafety = 2;
constexpr long kMinutesBesides = 10;
constexpr double kMegabytesBesides = 256;
// Of the measured rate, what a slow disk may leave.
constexpr double kMergedASecond = 1000;

double megabytes_used() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int whole_number(const Arguments& arguments, const std::string& option, int most, int otherwise) {
  if (!arguments.has(option)) {
    return otherwise;
  }
  const std::optional<long long> number = parse_integer(arguments.text(option));
  if (!number || *number < 1 || *number > most) {
    throw ConfigError(
        fmt::format("{} must be a whole number from 1 to {}, not '{}'", option, most, arguments.text(option)));
  }
  return static_cast<int>(*number);
}

std::string plain_name(const std::string& text) {
  std::string name = text;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.'; }, '-');
  return name;
}

// What follows `modlab study run`: a study that is a file is named by its whole path.
std::vector<std::string> run_words(const Arguments& arguments, const studies::StudyRequest& request) {
  std::vector<std::string> words(arguments.positional().begin() + 1, arguments.positional().end());
  std::error_code ignored;
  if (fs::is_regular_file(words.front(), ignored)) {
    words.front() = fs::absolute(words.front()).string();
  }
  if (!request.preset.empty()) {
    words.insert(words.end(), {"--preset", request.preset});
  }
  return words;
}

// Gives the scripts to sbatch and says what became of them.
void submit(const fs::path& folder, int shards) {
  const InterruptNote interrupts;
  const ChildOutcome outcome = run_program({"sh", (folder / "submit.sh").string()}, folder.string(), interrupts);
  if (outcome.exit_code != 0) {
    throw ConfigError(fmt::format("slurm: sbatch does not take the jobs ({}); the scripts are in {}",
                                  outcome.complaint.empty() ? "no reason given" : outcome.complaint, folder.string()));
  }
  constexpr std::size_t kLongestLine = 1000;
  const std::vector<std::string> jobs =
      split_text(trim(io::read_file((folder / "jobs.txt").string(), kLongestLine)), ' ');
  fmt::print("Submitted: job {} with {} shards, and job {}, which merges them when all have finished.\n", jobs.front(),
             shards, jobs.back());
}

}  // namespace

int submit_study(const Arguments& arguments, const studies::StudyRequest& request) {
  if (!arguments.has("slurm")) {
    throw ConfigError("say for which scheduler, as in `modlab study submit boolean --slurm`");
  }
  if (!request.shard.is_whole()) {
    throw ConfigError("shard: submit makes the shards itself; say how many with --shards");
  }
  if (arguments.has("run") && !has_program("sbatch")) {
    throw ConfigError(
        "slurm: there is no sbatch on this machine; leave --run out, and submit the scripts where Slurm is");
  }
  if (request.folder.find('\n') != std::string::npos) {
    throw ConfigError("out: the name of a folder for jobs must be one line");
  }
  constexpr int kMostThreads = 1024;
  const int threads = whole_number(arguments, "threads", kMostThreads, 1);
  const int asked_shards = whole_number(arguments, "shards", studies::Shard::kMost, 0);

  const studies::StudyPlan plan = while_planning([&] { return studies::plan_study(request.study, request.preset); });
  std::vector<experiments::Run> runs = studies::missing_runs(plan, {});
  const std::size_t count = runs.size();
  const auto parcels =
      static_cast<int>(std::min<std::size_t>(studies::make_parcels(runs).size(), studies::Shard::kMost));
  const double before = megabytes_used();
  const double seconds = while_planning([&] {
    return studies::Batch(std::move(runs), {1, &engine::kernels()}, studies::wanted_for(plan.keep)).estimate_seconds();
  });
  const int wanted_shards =
      asked_shards > 0
          ? asked_shards
          : static_cast<int>(std::clamp(std::ceil(seconds / threads / kSecondsOfShard), 1.0, 1.0 * kMostShardsUnasked));
  studies::SlurmJobs jobs;
  jobs.shards = std::min(wanted_shards, parcels);
  jobs.threads = threads;
  jobs.name = plain_name(request.study.name + (request.preset.empty() ? "" : "-" + request.preset));
  jobs.program = fs::read_symlink("/proc/self/exe").string();
  jobs.directory = fs::current_path().string();
  jobs.words = run_words(arguments, request);
  jobs.folder = fs::absolute(request.folder).lexically_normal().string();
  while (jobs.folder.size() > 1 && jobs.folder.ends_with('/')) {
    jobs.folder.pop_back();
  }
  const fs::path scripts_folder = fs::path(jobs.folder) / "slurm";
  jobs.logs = scripts_folder.string();
  const double of_shard = seconds / jobs.shards / threads;
  jobs.minutes = static_cast<long>(std::ceil(kSafety * of_shard / 60)) + kMinutesBesides;
  const double work = std::max(0.0, megabytes_used() - before);
  constexpr double kSpare = 1.5;
  jobs.megabytes = static_cast<long>(std::ceil(kSpare * (before + work * threads) + kMegabytesBesides));
  jobs.merge_minutes = static_cast<long>(std::ceil(static_cast<double>(count) / kMergedASecond / 60)) + kMinutesBesides;
  constexpr double kBytesOfFindings = 4000;  // of a run: its plan, its numbers, what is chosen
  jobs.merge_megabytes = static_cast<long>(
      std::ceil(kSpare * before + static_cast<double>(count) * kBytesOfFindings / 1e6 + kMegabytesBesides));
  jobs.partition = arguments.text("partition");

  const studies::SlurmScripts scripts = studies::slurm_scripts(jobs);
  io::prepare_folder(scripts_folder.string());
  io::write_file((scripts_folder / "array.sh").string(), scripts.array);
  io::write_file((scripts_folder / "merge.sh").string(), scripts.merge);
  io::write_file((scripts_folder / "submit.sh").string(), scripts.submit);
  fmt::print(
      "{} runs as {} shard{} of about {} on {} core{} like those here; jobs ask for {} minutes and {} MB each.\n",
      count, jobs.shards, jobs.shards == 1 ? "" : "s", duration_text(of_shard), threads, threads == 1 ? "" : "s",
      jobs.minutes, jobs.megabytes);
  fmt::print("Scripts: {}/array.sh, merge.sh and submit.sh\n", scripts_folder.string());
  if (arguments.has("run")) {
    submit(scripts_folder, jobs.shards);
  } else {
    fmt::print("Submit them:  sh {}/submit.sh\n", scripts_folder.string());
  }
  fmt::print("How far it is: modlab study status {}-shard*of{}\n", request.folder, jobs.shards);
  return 0;
}

}  // namespace modlab::cli

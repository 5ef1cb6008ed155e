#include "studies/slurm.h"

#include <fmt/format.h>

namespace modlab::studies {
namespace {

// A word as a shell has it, whatever is in it.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? "'\\''" : std::string(1, letter);
  }
  return text + "'";
}

// A path in which Slurm puts numbers in the place of %.
std::string log_path(const std::string& folder, const std::string& file) {
  std::string text = "\"";
  for (const char letter : folder) {
    text += letter == '%' ? "%%" : std::string(1, letter);
  }
  return text + "/" + file + "\"";
}

std::string head(const SlurmJobs& jobs, const std::string& what, int cores, long minutes, long megabytes) {
  return fmt::format(
      "#!/bin/bash\n#SBATCH --job-name=modlab-{}{}\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={}\n"
      "#SBATCH --time={}\n#SBATCH --mem={}M\n{}",
      jobs.name, what, cores, minutes, megabytes,
      jobs.partition.empty() ? "" : fmt::format("#SBATCH --partition={}\n", jobs.partition));
}

}  // namespace

SlurmScripts slurm_scripts(const SlurmJobs& jobs) {
  std::string words;
  for (const std::string& word : jobs.words) {
    words += " " + quoted(word);
  }
  SlurmScripts scripts;
  scripts.array = head(jobs, "", jobs.threads, jobs.minutes, jobs.megabytes) +
                  fmt::format(
                      "#SBATCH --array=1-{0}\n#SBATCH --output={1}\n"
                      "# A shard: submitted again, it goes on where it stopped.\n"
                      "cd {2} || exit 1\n"
                      "exec {3} study run{4} --shard \"$SLURM_ARRAY_TASK_ID/{0}\" --threads {5} \\\n"
                      "  --out {6}-shard\"$SLURM_ARRAY_TASK_ID\"of{0}\n",
                      jobs.shards, log_path(jobs.logs, "shard-%a.out"), quoted(jobs.directory), quoted(jobs.program),
                      words, jobs.threads, quoted(jobs.folder));
  scripts.merge = head(jobs, "-merge", 1, jobs.merge_minutes, jobs.merge_megabytes) +
                  fmt::format(
                      "#SBATCH --output={0}\n"
                      "cd {1} || exit 1\n"
                      "shards=()\n"
                      "for number in $(seq {2}); do\n"
                      "  shards+=({3}-shard\"$number\"of{2})\n"
                      "done\n"
                      "exec {4} study merge {3} \"${{shards[@]}}\"\n",
                      log_path(jobs.logs, "merge.out"), quoted(jobs.directory), jobs.shards, quoted(jobs.folder),
                      quoted(jobs.program));
  scripts.submit =
      "#!/bin/sh\n"
      "# Submits the shards, and the merge for when all of them have finished. Words go to sbatch.\n"
      "set -eu\n"
      "cd \"$(dirname \"$0\")\"\n"
      "array=$(sbatch --parsable \"$@\" array.sh)\n"
      "array=${array%%;*}\n"
      "merge=$(sbatch --parsable --dependency=afterok:\"$array\" --kill-on-invalid-dep=yes \"$@\" merge.sh)\n"
      "echo \"$array ${merge%%;*}\" >jobs.txt\n"
      "echo \"shards: job $array; merge: job ${merge%%;*}\"\n";
  return scripts;
}

}  // namespace modlab::studies

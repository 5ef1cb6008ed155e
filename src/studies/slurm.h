#pragma once

#include <string>
#include <vector>

namespace modlab::studies {

// A study as jobs of a Slurm cluster: an array of shards, and a merge when all of them have finished.
struct SlurmJobs {
  std::string name;                // of the study, for people
  std::string program;             // path
  std::string directory;           // where it is run
  std::vector<std::string> words;  // of `modlab study run`: the study, its preset and what else was said
  std::string folder;              // of the result; shards are beside it
  std::string logs;                // folder
  int shards = 1;
  int threads = 1;  // of each
  long minutes = 60;
  long megabytes = 1024;
  long merge_minutes = 30;
  long merge_megabytes = 2048;
  std::string partition;  // empty: the cluster's own choice
};

// The shell scripts that `sbatch` takes, and the one that gives them to it, which writes their numbers into jobs.txt.
struct SlurmScripts {
  std::string array;
  std::string merge;
  std::string submit;
};
SlurmScripts slurm_scripts(const SlurmJobs& jobs);

}  // namespace modlab::studies

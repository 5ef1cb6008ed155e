#include "cluster/parts.h"

#include <random>

namespace modlab {
namespace {

using test::kPartsRuns;
using test::Outcome;
using test::Process;
using test::words_of;

class Parts : public test::PartsTest {
 protected:
  // A change of one run, behind the program's back.
  void spoil(const std::string& folder, const std::string& sql) const {
    io::Database(store(folder), io::Database::Mode::kWrite).execute(sql);
  }
};

TEST_F(Parts, ShardsPutTogetherAreTheStudy) {
  train("--out whole --threads 2");
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const std::string said = train(std::string("--threads 2 --shard ") + shard);
    EXPECT_NE(said.find("Finished shard "), std::string::npos) << said;
    EXPECT_EQ(said.find("Claims"), std::string::npos) << said;
  }
  const std::string again = train("--shard 2/3");
  EXPECT_NE(again.find("All 288 runs are in the store already."), std::string::npos) << again;
  const std::string status = output(words_of("study status results/small-shard2of3"));
  EXPECT_NE(status.find("All 288 runs of shard 2 of 3 are finished."), std::string::npos) << status;

  // Two of three: it says what is missing.
  const std::string part = output(words_of("study merge merged results/small-shard1of3 results/small-shard3of3"));
  EXPECT_NE(part.find("288 of 864 runs are missing in merged (not merged: shards 2 of 3)"), std::string::npos) << part;
  EXPECT_EQ(folder_.read("merged/report.html"), "");
  // The same with the third: what is there stays, and all is as in one piece.
  const std::string rest =
      output(words_of("study merge merged results/small-shard1of3 results/small-shard2of3 results/small-shard3of3"));
  EXPECT_NE(rest.find("288 runs of 3 folders in "), std::string::npos) << rest;
  EXPECT_NE(rest.find("All 864 runs of small are in merged."), std::string::npos) << rest;
  EXPECT_NE(rest.find("Claims"), std::string::npos) << rest;
  EXPECT_NE(folder_.read("merged/report.html"), "");
  expect_same_study("merged", "whole");
  // And again: nothing is left to do. The merged store is a store as any other.
  EXPECT_NE(output(words_of("study merge merged whole results/small-shard1of3")).find("0 runs of 2 folders"),
            std::string::npos);
  EXPECT_NE(train("--out merged").find("All 864 runs are in the store already."), std::string::npos);
}

TEST_F(Parts, StatusOfAllIsOneTable) {
  train("--threads 2 --shard 1/4");
  train("--threads 2 --shard 3/4");
  io::Database(store("results/small-shard3of4"), io::Database::Mode::kWrite)
      .execute("DELETE FROM results WHERE run IN (SELECT id FROM runs LIMIT 16)");
  const std::string status = output(words_of("study status results/small-shard1of4 results/small-shard3of4"));
  EXPECT_NE(status.find("results/small-shard1of4        1/4       224       224         0  -"), std::string::npos)
      << status;
  EXPECT_NE(status.find("results/small-shard3of4        3/4       208       192        16  nobody"), std::string::npos)
      << status;
  EXPECT_NE(status.find("448 of 864 runs are left; not among these folders: shards 2, 4 of 4."), std::string::npos)
      << status;
}

TEST_F(Parts, AReportOfAShardSaysThatItIsOne) {
  train("--threads 2 --shard 1/4");
  const std::string said = output(words_of("report results/small-shard1of4"));
  EXPECT_NE(said.find("shard 1 of 4"), std::string::npos) << said;
  EXPECT_NE(folder_.read("results/small-shard1of4/report.html").find("shard 1 of 4"), std::string::npos);
}

TEST_F(Parts, BadShardsAreRefused) {
  expect_refused("study run small.yaml --shard 0/16", {"counted from 1 to 16", "0 is none"});
  expect_refused("study run small.yaml --shard 17/16", {"17 is none"});
  expect_refused("study run small.yaml --shard third", {"'third'", "3/16"});
  expect_refused("study run small.yaml --shard 1/0", {"1 to 100000 shards"});
  train("--threads 2 --shard 1/4 --out part");
  expect_refused("study run small.yaml --shard 2/4 --out part", {"holds shard 1 of 4"});
  expect_refused("study run small.yaml --out part", {"holds shard 1 of 4", "the whole study"});
  expect_refused("study submit small.yaml --slurm --shard 1/4", {"--shards"});
}

TEST_F(Parts, WhatDoesNotFitIsNotMerged) {
  train("--threads 2 --shard 1/4 --out one");
  train("--threads 2 --shard 2/4 --out two");
  expect_refused("study merge", {"name the folder of the result"});
  expect_refused("study merge out", {"name the folder of the result"});
  expect_refused("study merge one one two", {"cannot be merged into itself"});
  expect_refused("study merge ./two/ one two", {"cannot be merged into itself"});
  expect_refused("study merge out one nowhere", {"nowhere: there is no study here"});
  train("--threads 2 --shard 2/4 --out words seed=0..5");
  expect_refused("study merge out one words", {"one was run with no words", "seed=0..5"});
  expect_refused("study merge two one", {"two holds shard 2 of 4"});
  std::string text = test::kPartsStudy;
  folder_.write("other.yaml", text.replace(text.find("name: small"), 11, "name: other"));
  output(words_of("study run other.yaml --threads 2 --shard 2/4 --out other"));
  expect_refused("study merge out one other", {"one holds the study small and other the study other"});
  folder_.write("changed.yaml",
                text.replace(text.find("name: other"), 11, "name: small").replace(text.find("300"), 3, "200"));
  output(words_of("study run changed.yaml --threads 2 --shard 2/4 --out changed"));
  expect_refused("study merge out one changed", {"the study in changed is not the one in one"});
  expect_refused("study status one other", {"name folders of one study"});
  std::filesystem::create_directories(folder_.file("text"));
  folder_.write("text/study.sqlite", "This is no store at all.");
  expect_refused("study merge out one text", {"text/study.sqlite"});
  spoil("two", "PRAGMA user_version = 4711");
  expect_refused("study merge out one two", {"newer modlab"});
  spoil("two", "PRAGMA user_version = 4");
  expect_refused("study merge out one two", {"earlier modlab"});
}

TEST_F(Parts, ARunThatDiffersInItsBitsIsRefused) {
  train("--threads 2 --shard 1/4 --out one");
  train("--threads 1 --shard 1/4 --out same");
  spoil("same", "UPDATE runs SET seconds = seconds + 1");
  EXPECT_EQ(run("study merge merged one same").exit_code, 0);
  const std::string id = [&] {
    io::Database database(store("same"), io::Database::Mode::kRead);
    io::Statement row = database.prepare("SELECT id FROM runs ORDER BY id LIMIT 1 OFFSET 100");
    EXPECT_TRUE(row.step());
    return std::string(row.text(0));
  }();
  spoil("same",
        "UPDATE results SET test_accuracy = test_accuracy + 1e-12 WHERE snapshot = 'last' AND run = '" + id + "'");
  expect_refused("study merge out one same", {"run " + id + " is not the same in one and same", "test_accuracy"});
  expect_refused("study merge merged same", {"run " + id + " is not the same in merged and same"});
  spoil("one",
        "UPDATE results SET test_accuracy = test_accuracy + 1e-12 WHERE snapshot = 'last' AND run = '" + id + "'");
  spoil("one", "UPDATE blobs SET data = zeroblob(4) WHERE name = 'curve' AND run = '" + id + "'");
  expect_refused("study merge out one same", {"run " + id, "its curve"});
}

TEST_F(Parts, ShardsAndMergesThatAreKilledGoOn) {
  train("--out whole --threads 2");
  std::mt19937 random(20261117);
  const int kills = test::wanted_kills(3, 12);
  int killed = 0;
  for (int round = 0; killed < kills; ++round) {
    const std::string folder = "shard-" + std::to_string(round);
    std::int64_t before = 0;
    while (killed < kills) {
      Process process(command(words_of("study run small.yaml --threads 2 --shard 1/2 --out " + folder)),
                      folder_.path().string());
      // As soon as it has come so far; or it is finished before that.
      const std::int64_t goal = before + 1 + static_cast<std::int64_t>(random() % 150);
      while (runs_in(folder) < goal && !has_ended(process)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      process.kill();
      const Outcome outcome = process.wait();
      const std::int64_t now = whole_runs_in(folder);
      EXPECT_GE(now, before);
      before = now;
      if (outcome.exit_code == 0) {
        break;
      }
      EXPECT_EQ(outcome.exit_code, -SIGKILL) << outcome.err;
      ++killed;
    }
    train("--threads 2 --shard 1/2 --out " + folder);
    EXPECT_EQ(whole_runs_in(folder), kPartsRuns / 2);
    // A merge is killed when the first block is there.
    train("--threads 2 --shard 2/2 --out other-" + std::to_string(round));
    const std::string merged = "merged-" + std::to_string(round);
    const test::Words merge = command({"study", "merge", merged, folder, "other-" + std::to_string(round)});
    {
      Process process(merge, folder_.path().string());
      while (runs_in(merged) == 0 && !has_ended(process)) {
        std::this_thread::yield();
      }
      process.kill();
      process.wait();
    }
    whole_runs_in(merged);
    const Outcome rest = Process(merge, folder_.path().string()).wait();
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    expect_same_study(merged, "whole");
  }
}

TEST_F(Parts, SlurmThatIsNotThere) {
  const test::Words before = folder_.names();
  const Outcome outcome = Process({"/usr/bin/env", "PATH=" + folder_.path().string(), MODLAB_PROGRAM, "study", "submit",
                                   "small.yaml", "--slurm", "--run"},
                                  folder_.path().string())
                              .wait();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("there is no sbatch on this machine"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder_.names(), before);
  expect_refused("study submit small.yaml", {"--slurm"});
  expect_refused("study submit small.yaml --slurm --shards 0", {"shards must be a whole number from 1"});
}

TEST_F(Parts, ScriptsForSlurmRunByHandAreTheStudy) {
  const std::string said =
      output(words_of("study submit small.yaml --slurm --shards 2 --partition short --out res seed=0..3"));
  EXPECT_NE(said.find("144 runs as 2 shards"), std::string::npos) << said;
  const std::string array = folder_.read("res/slurm/array.sh");
  for (const char* line : {"#SBATCH --array=1-2\n", "#SBATCH --partition=short\n", "#SBATCH --cpus-per-task=1\n",
                           "#SBATCH --time=1", "#SBATCH --mem="}) {
    EXPECT_NE(array.find(line), std::string::npos) << line << "\n" << array;
  }
  EXPECT_NE(folder_.read("res/slurm/submit.sh").find("afterok"), std::string::npos);
  // What Slurm would do.
  for (const char* task : {"1", "2"}) {
    const Outcome shard =
        Process({"/bin/bash", "res/slurm/array.sh"}, folder_.path().string(), {{"SLURM_ARRAY_TASK_ID", task}}).wait();
    EXPECT_EQ(shard.exit_code, 0) << shard.err;
  }
  const Outcome merge = Process({"/bin/bash", "res/slurm/merge.sh"}, folder_.path().string()).wait();
  EXPECT_EQ(merge.exit_code, 0) << merge.err;
  EXPECT_NE(merge.out.find("All 144 runs of small are in "), std::string::npos) << merge.out;
}

}  // namespace
}  // namespace modlab

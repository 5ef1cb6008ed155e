#include <random>

#include "cluster/parts.h"

namespace modlab {
namespace {

using test::kPartsRuns;
using test::Outcome;
using test::Process;
using test::words_of;

class Mpi : public test::PartsTest {
 protected:
  // As root, on as many ranks as one likes, bound to nothing: other tests run beside.
  static std::map<std::string, std::string> environment() {
    return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
            {"OMPI_MCA_hwloc_base_binding_policy", "none"},
            {"OMPI_MCA_btl", "self,vader"}};
  }
  test::Words on_ranks(int ranks, const std::string& words) const {
    return test::joined({MODLAB_MPIRUN, "-n", std::to_string(ranks), MODLAB_PROGRAM}, words_of(words));
  }
  Outcome run_ranks(int ranks, const std::string& words) const {
    return Process(on_ranks(ranks, words), folder_.path().string(), environment()).wait();
  }
  void SetUp() override {
    if (std::string(MODLAB_MPIRUN).empty()) {
      GTEST_SKIP() << "built without MPI";
    }
  }

  // The process of a rank; 0 if there is none (any more).
  static pid_t rank_process(pid_t launcher, int rank) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) {
        continue;
      }
      std::ifstream stat(entry.path() / "stat");
      std::string line;
      std::getline(stat, line);
      const std::size_t bracket = line.rfind(')');
      std::istringstream rest(bracket == std::string::npos ? "" : line.substr(bracket + 1));
      std::string state;
      pid_t parent = 0;
      if (!(rest >> state >> parent) || parent != launcher) {
        continue;
      }
      std::ifstream variables(entry.path() / "environ", std::ios::binary);
      std::stringstream text;
      text << variables.rdbuf();
      const std::string all = '\0' + text.str();
      if (all.find(std::string(1, '\0') + "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0') != std::string::npos) {
        return static_cast<pid_t>(std::stol(name));
      }
    }
    return 0;
  }
};

TEST_F(Mpi, RanksFindWhatOneProcessFinds) {
  train("--out whole --threads 2");
  for (const int ranks : {1, 2, 3}) {
    const std::string folder = "ranks" + std::to_string(ranks);
    const Outcome outcome = run_ranks(ranks, "study run small.yaml --out " + folder);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("864 runs in "), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("864 runs in "), outcome.out.rfind("864 runs in ")) << "one rank speaks";
    expect_same_study(folder, "whole");
  }
  // Of a shard, too; and what is finished is not trained again.
  EXPECT_EQ(run_ranks(2, "study run small.yaml --shard 1/2 --threads 1").exit_code, 0);
  EXPECT_EQ(runs_in("results/small-shard1of2"), kPartsRuns / 2);
  const Outcome again = run_ranks(2, "study run small.yaml --out ranks2");
  EXPECT_NE(again.out.find("All 864 runs are in the store already."), std::string::npos) << again.out << again.err;
}

TEST_F(Mpi, MistakesAreSaidOnce) {
  expect_refused("study run small.yaml --mpi", {"no launcher has started this process", "mpirun"});
  const test::Words before = folder_.names();
  for (const auto& [words, said] : {std::pair{"study run nowhere.yaml", "nowhere.yaml: cannot be read"},
                                    std::pair{"study run small.yaml lr=-1", "lr must be"},
                                    std::pair{"study run small.yaml --networks small.yaml", "judged by one process"}}) {
    const Outcome outcome = run_ranks(2, words);
    EXPECT_EQ(outcome.exit_code, 2) << words << outcome.err;
    const std::size_t place = outcome.err.find(said);
    EXPECT_NE(place, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(said, place + 1), std::string::npos) << outcome.err;
    EXPECT_EQ(folder_.names(), before) << words;
  }
}

TEST_F(Mpi, WithoutItsLibraryTheProgramSaysHowToGetIt) {
  std::filesystem::copy_file(MODLAB_PROGRAM, folder_.file("modlab"));
  const Outcome outcome = Process({folder_.file("modlab"), "study", "run", "small.yaml"}, folder_.path().string(),
                                  {{"OMPI_COMM_WORLD_SIZE", "2"}})
                              .wait();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("libmodlab_mpi.so is not there"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("./modlab --mpi"), std::string::npos) << outcome.err;
}

TEST_F(Mpi, RanksThatAreKilledLoseNothing) {
  train("--out whole --threads 2");
  std::mt19937 random(20261118);
  const int kills = test::wanted_kills(3, 18);
  std::map<int, int> killed_ranks;
  int killed = 0;
  for (int round = 0; killed < kills; ++round) {
    const std::string folder = "ranks-" + std::to_string(round);
    std::int64_t before = 0;
    while (killed < kills) {
      Process job(on_ranks(3, "study run small.yaml --out " + folder), folder_.path().string(), environment());
      const int victim = killed % 3;  // the store's rank is the first
      const std::int64_t goal = before + 1 + static_cast<std::int64_t>(random() % 300);
      while (runs_in(folder) < goal && !has_ended(job)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      const pid_t process = rank_process(job.id(), victim);
      const bool was_killed = process > 0 && ::kill(process, SIGKILL) == 0;
      const Outcome outcome = job.wait();
      const std::int64_t now = whole_runs_in(folder);
      EXPECT_GE(now, before) << "nothing that was there is lost";
      before = now;
      if (!was_killed || outcome.exit_code == 0) {
        break;
      }
      ++killed;
      ++killed_ranks[victim];
    }
    const Outcome rest = run_ranks(2, "study run small.yaml --out " + folder);
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(whole_runs_in(folder), kPartsRuns);
    expect_same_study(folder, "whole");
  }
  EXPECT_EQ(killed_ranks.size(), 3U);
}

}  // namespace
}  // namespace modlab

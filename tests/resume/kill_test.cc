#include <gtest/gtest.h>

#include <random>
#include <set>

#include "cluster/parts.h"
#include "core/errors.h"
#include "io/sqlite.h"

namespace modlab {
namespace {

using test::kPartsRuns;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kKills = 50;
// Under the sanitizers a study takes ten times as long: fewer kills will do.
constexpr int kKillsOfASlowProgram = 15;
constexpr Seconds kSlow(8);

class Kill : public test::PartsTest {
 protected:
  Words study(const std::string& folder) const {
    return command(words_of("study run small.yaml epochs=500 --threads 2 --out " + folder));
  }
  static bool has_tables(const std::string& path) {
    return io::Database(path, io::Database::Mode::kWrite)
               .integer("SELECT count(*) FROM sqlite_master WHERE name = 'runs'") == 1;
  }
  // How many runs a store has after a kill; it must be whole, with all parts of every run.
  std::int64_t done(const std::string& folder) const {
    const std::string path = folder_.file(folder + "/study.sqlite");
    if (!std::filesystem::exists(path)) {
      return 0;
    }
    // Readers put in order what the kill left behind.
    const Outcome status = run({"study", "status", folder});
    EXPECT_TRUE(status.exit_code == 0 || !has_tables(path)) << status.err;
    io::Database database(path, io::Database::Mode::kWrite);
    EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    if (!has_tables(path)) {
      return 0;
    }
    const std::int64_t runs = database.integer("SELECT count(*) FROM runs").value_or(-1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM results"), 2 * runs);
    EXPECT_EQ(database.integer("SELECT count(*) FROM blobs WHERE name = 'curve'"), runs);
    EXPECT_EQ(database.integer("SELECT count(*) FROM blobs WHERE name LIKE 'weights/%'"), 2 * runs);
    EXPECT_EQ(database.integer("SELECT count(*) FROM study"), 1);
    return runs;
  }
};

TEST_F(Kill, AtFiftyMomentsThenResumedGivesTheTablesOfAnUnbrokenRun) {
  const auto begin = Clock::now();
  const Outcome unbroken = Process(study("unbroken"), folder_.path().string()).wait();
  ASSERT_EQ(unbroken.exit_code, 0) << unbroken.err;
  const Seconds whole = Clock::now() - begin;
  const auto again = Clock::now();
  ASSERT_EQ(Process(study("unbroken"), folder_.path().string()).wait().exit_code, 0);
  const Seconds startup = Clock::now() - again;  // and the report, without any training

  // Delays are such that one store takes about two dozen kills: some fall into the start, most into the training, and
  // some into the analysis at the end. A store that is finished makes way for a new one.
  const double longest = startup.count() + whole.count() / 8;
  std::mt19937 random(20250711);
  std::vector<std::string> folders = {"killed-0"};
  int kills = 0;
  int in_the_middle = 0;
  int advanced = 0;
  std::int64_t before = 0;
  std::set<std::int64_t> moments;
  const int wanted = whole < kSlow ? kKills : kKillsOfASlowProgram;
  while (kills < wanted) {
    const std::string& folder = folders.back();
    Process process(study(folder), folder_.path().string());
    std::this_thread::sleep_for(Seconds(longest * static_cast<double>(random() % 1000 + 1) / 1000));
    process.kill();
    const Outcome outcome = process.wait();
    const std::int64_t now = done(folder);
    EXPECT_GE(now, before) << "nothing that was there is lost";
    advanced += now > before ? 1 : 0;
    before = now;
    if (outcome.exit_code == 0) {
      EXPECT_EQ(now, kPartsRuns);
      folders.push_back("killed-" + std::to_string(folders.size()));
      before = 0;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, -SIGKILL) << outcome.err;
    ++kills;
    in_the_middle += now > 0 && now < kPartsRuns ? 1 : 0;
    moments.insert(now);
  }
  RecordProperty("in_the_middle", in_the_middle);
  RecordProperty("stores", static_cast<int>(folders.size()));
  std::cout << kills << " kills, " << in_the_middle << " of them in the middle of " << folders.size() << " stores, at "
            << moments.size() << " different moments; a whole run takes " << whole.count() << " s, a finished one "
            << startup.count() << " s\n";
  EXPECT_GE(in_the_middle, wanted / 2) << "kills must hit the training";
  EXPECT_GE(static_cast<int>(moments.size()), wanted / 5);
  EXPECT_GE(advanced, wanted / 5);

  const auto expected = tables("unbroken");
  const std::vector<std::string> expected_parts = kept("unbroken");
  EXPECT_EQ(expected_parts.size(), 3U * kPartsRuns);
  for (const std::string& folder : folders) {
    const Outcome rest = Process(study(folder), folder_.path().string()).wait();
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(done(folder), kPartsRuns);
    EXPECT_EQ(tables(folder), expected) << folder;
    EXPECT_EQ(kept(folder), expected_parts) << folder;
  }
  for (const std::string& name : folder_.names()) {
    EXPECT_TRUE(name.ends_with("/study.sqlite") || name.ends_with("/report.html") || name.ends_with(".csv") ||
                name.ends_with("/csv") || name == "small.yaml" || name.find("/report.html.") != std::string::npos ||
                name.find('/') == std::string::npos)
        << "left behind: " << name;
  }
}

}  // namespace
}  // namespace modlab

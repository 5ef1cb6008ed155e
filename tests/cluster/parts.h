#pragma once

#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/sqlite.h"

namespace modlab::test {

// 3 x 2 x 2 x 3 x 24 = 864 runs in blocks of a few milliseconds.
inline constexpr auto kPartsStudy = R"(
name: small
title: A study in parts
tune: [lr]
parameters:
  task: {value: depth1}
  ratio: {values: [0.3, 0.5]}
  split_seed: {values: [40, 41, 42]}
  seed: {values: [0..23]}
  epochs: {value: 300}
  lr: {values: [0.1, 0.01]}
grids:
  - {series: dense, parameters: {model: dense}}
  - {series: modular, parameters: {model: modular}}
  - {series: shared, parameters: {model: modular-shared}}
claims:
  - id: C1
    text: Shared modules are better than modules of their own.
    checks:
      - {compare: [shared, modular], measure: test_accuracy}
      - {compare: [shared, modular], measure: updates, expect: less}
)";
inline constexpr int kPartsRuns = 864;

// A study that is trained in parts, beside one that was trained in one piece.
class PartsTest : public ProgramTest {
 protected:
  PartsTest() { folder_.write("small.yaml", kPartsStudy); }

  std::string train(const std::string& words) const { return output(words_of("study run small.yaml " + words)); }

  std::map<std::string, std::string> tables(const std::string& folder) const {
    output({"export", folder, "--csv"});
    std::map<std::string, std::string> texts;
    for (const char* name : {"runs.csv", "chosen.csv", "means.csv", "claims.csv"}) {
      texts[name] = folder_.read(folder + "/csv/" + name);
    }
    return texts;
  }
  std::string store(const std::string& folder) const { return folder_.file(folder + "/study.sqlite"); }
  // Everything that was kept of every run, in one order.
  std::vector<std::string> kept(const std::string& folder) const {
    io::Database database(store(folder), io::Database::Mode::kRead);
    std::vector<std::string> found;
    io::Statement row = database.prepare("SELECT run, name, data FROM blobs ORDER BY run, name");
    while (row.step()) {
      found.push_back(std::string(row.text(0)) + std::string(row.text(1)) + std::string(row.blob(2)));
    }
    return found;
  }
  void expect_same_study(const std::string& one, const std::string& other) const {
    EXPECT_EQ(tables(one), tables(other));
    EXPECT_EQ(kept(one), kept(other));
  }
  static bool has_ended(const Process& process) {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(process.id()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid != 0;
  }
  // Runs that a store has, from outside while it is written; 0 where there is none yet.
  std::int64_t runs_in(const std::string& folder) const {
    if (!std::filesystem::exists(store(folder))) {
      return 0;
    }
    try {
      io::Database database(store(folder), io::Database::Mode::kWrite);
      return database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'runs'") == 1
                 ? database.integer("SELECT count(*) FROM runs").value_or(0)
                 : 0;
    } catch (const std::exception&) {
      return 0;  // it is being made
    }
  }
  // The same after a kill: the store must be whole, with all parts of every run.
  std::int64_t whole_runs_in(const std::string& folder) const {
    if (!std::filesystem::exists(store(folder))) {
      return 0;
    }
    run({"study", "status", folder});  // readers put in order what the kill left behind
    io::Database database(store(folder), io::Database::Mode::kWrite);
    EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
    if (database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'runs'") == 0) {
      return 0;
    }
    const std::int64_t runs = database.integer("SELECT count(*) FROM runs").value_or(-1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM results"), 2 * runs);
    EXPECT_EQ(database.integer("SELECT count(*) FROM blobs"), 3 * runs);
    return runs;
  }
};

// How often processes are killed here: thirty times in all by `./test --all`.
inline int wanted_kills(int few, int many) { return std::getenv("MODLAB_ALL_KILLS") != nullptr ? many : few; }

}  // namespace modlab::test

#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

std::string own_network() { return std::string(MODLAB_TEST_DIR) + "/torch/files/untrained.pt"; }

#define NEEDS_LIBTORCH_TO_TRAIN()                                                 \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

class TrainedScript : public test::ProgramTest {
 protected:
  nlohmann::json trained(const std::string& more) {
    return json_output("train --task depth1 --json --model " + own_network() + " " + more)["runs"];
  }
};

TEST_F(TrainedScript, LearnsATaskAsOurNetworksDo) {
  NEEDS_LIBTORCH_TO_TRAIN();
  const nlohmann::json runs = trained("--seed 0..3 --epochs 300 --ratio 0.5");
  ASSERT_EQ(runs.size(), 4U);
  const nlohmann::json ours = json_output("train --task depth1 --model dense --seed 0 --epochs 3 --json")["runs"][0];
  for (const nlohmann::json& run : runs) {
    EXPECT_EQ(run["best"]["train_accuracy"], 100);
    EXPECT_EQ(run["best"]["train_rows"], ours["best"]["train_rows"]) << "the same split";
    EXPECT_EQ(run["best"]["test_base_rate"], ours["best"]["test_base_rate"]);
    EXPECT_LE(run["best_epoch"], 300);
  }
  EXPECT_NE(runs[0]["best"]["train_loss"], runs[1]["best"]["train_loss"]) << "seeds begin differently";
}

// The network has dropout and normalisation: what it draws and counts in training is its run's alone.
TEST_F(TrainedScript, IsTheSameBesideOthers) {
  NEEDS_LIBTORCH_TO_TRAIN();
  const nlohmann::json alone = trained("--seed 2 --epochs 20 --threads 1");
  const nlohmann::json beside = trained("--seed 0..3 --epochs 20 --threads 2");
  EXPECT_EQ(alone[0]["best"], beside[2]["best"]);
  EXPECT_EQ(alone[0]["last"], beside[2]["last"]);
}

TEST_F(TrainedScript, StandsInAStudyBesideOurs) {
  NEEDS_LIBTORCH_TO_TRAIN();
  folder_.write("mine.yaml",
                "name: mine\n"
                "title: Mine beside theirs\n"
                "parameters:\n"
                "  task: {value: depth1}\n"
                "  epochs: {value: 20}\n"
                "  split_seed: {values: [40, 41]}\n"
                "grids:\n"
                "  - series: dense\n"
                "    parameters: {model: {value: dense}}\n"
                "  - series: mine\n"
                "    parameters: {model: {value: \"" +
                    own_network() +
                    "\"}}\n"
                    "figures:\n"
                    "  - {id: F, title: Who learns, kind: bars, x: series, series: series, measures: [test_accuracy]}\n"
                    "claims:\n"
                    "  - {id: C, figure: F, text: Mine learns., checks: [{value: mine, measure: test_accuracy, expect: "
                    "at_least, threshold: 1}]}\n");
  const test::Outcome outcome = run({"study", "run", "mine.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Mine learns."), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 claims: "), std::string::npos) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "results/mine/report.html"));
}

TEST_F(TrainedScript, RefusesWhatDoesNotFit) {
  NEEDS_LIBTORCH_TO_TRAIN();
  for (const auto& [line, part] :
       {std::pair<std::string, std::string>{"train --task sculpt/4-2-4 --model " + own_network(),
                                            "shapes cannot be multiplied"},
        {"train --task depth1 --model missing.pt", "cannot be read"},
        {"train --task depth1 --hidden 5 --model " + own_network(), "hidden"}}) {
    const test::Outcome outcome = run(test::words_of(line));
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace modlab

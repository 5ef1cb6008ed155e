// Networks of PyTorch's on images and on rules, as users train them.

#include <gtest/gtest.h>

#include "cli/program.h"
#include "small_images.h"

namespace modlab {
namespace {

std::string task_network(const std::string& name) {
  return std::string(MODLAB_TEST_DIR) + "/torch/files/" + name + ".pt";
}

#define NEEDS_LIBTORCH_FOR_TASKS()                                                \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

constexpr auto kQuickRules =
    " --rules 2 --iterations 200 --evaluate-every 100 --test-samples 2000 --batch-size 64 --lr 0.003 ";
constexpr auto kQuickImages =
    " --task mnist-xor-and --images small-train-images,small-test-images --labels "
    "small-train-labels,small-test-labels --samples 10 --test-samples 10 ";

class TrainedTasks : public test::ProgramTest {
 protected:
  TrainedTasks() { test::SmallImages().write(folder_); }

  nlohmann::json runs_of(const std::string& more) const { return json_output("train --json " + more)["runs"]; }
  nlohmann::json best_of(const std::string& more) const { return runs_of(more)[0]["best"]; }
};

TEST_F(TrainedTasks, RulesHaveTheSameNumbersAsOurs) {
  NEEDS_LIBTORCH_FOR_TASKS();
  const nlohmann::json runs = runs_of(std::string("--task rules-mlp --model ") + task_network("rules_mlp") +
                                      ",monolithic --seed 0..1 --width 4" + kQuickRules);
  ASSERT_EQ(runs.size(), 4U);
  for (const nlohmann::json& run : runs) {
    EXPECT_LT(run["best"]["id_loss"], 0.8) << "always 0 has more";
    EXPECT_EQ(run["parameters"], runs[2]["parameters"]);
    for (const auto& [name, value] : runs[2]["best"].items()) {
      EXPECT_TRUE(run["best"].contains(name)) << name;
    }
    EXPECT_FALSE(run["best"].contains("collapse_avg")) << "there are no gates, which is not the same as 0";
    EXPECT_FALSE(run["best"].contains("activation"));
  }
  EXPECT_NE(runs[0]["best"]["id_loss"], runs[1]["best"]["id_loss"]) << "seeds begin differently";
}

TEST_F(TrainedTasks, SequencesAreTestedAtOtherLengths) {
  NEEDS_LIBTORCH_FOR_TASKS();
  for (const auto& [task, model] : {std::pair{"rules-mha", "rules_mha"}, std::pair{"rules-rnn", "rules_rnn"}}) {
    const std::string settings = std::string(" --rules 2 --iterations 10 --evaluate-every 10 --test-samples 64 ") +
                                 (task == std::string("rules-rnn") ? "--dim 3" : "");
    const nlohmann::json best = best_of("--task " + std::string(task) + " --model " + task_network(model) + settings);
    EXPECT_EQ(best["lengths"].size(), 5U) << task;
    EXPECT_GT(best["lengths"]["30"]["ood_loss"], 0) << task;
  }
}

TEST_F(TrainedTasks, GatesThatHaveANameAreMeasured) {
  NEEDS_LIBTORCH_FOR_TASKS();
  const auto measured = [&](const std::string& gates) {
    return best_of("--task rules-mlp --model " + task_network("gates_" + gates) + kQuickRules);
  };
  const nlohmann::json specialised = measured("rule");
  EXPECT_EQ(specialised["collapse_avg"], 0);
  EXPECT_NEAR(specialised["alignment"], 0, 1e-9);
  EXPECT_NEAR(specialised["imi"], 0, 1e-6);
  EXPECT_EQ(specialised["dead_modules"], 0);
  EXPECT_EQ(specialised["activation"], nlohmann::json::parse("[[1.0, 0.0], [0.0, 1.0]]"));
  const nlohmann::json collapsed = measured("collapsed");
  EXPECT_NEAR(collapsed["collapse_avg"], 1, 1e-9);
  EXPECT_NEAR(collapsed["collapse_worst"], 1, 1e-9);
  EXPECT_NEAR(collapsed["alignment"], 0.5, 1e-9) << "one of two rules has no module";
  EXPECT_EQ(collapsed["dead_modules"], 1);
  // Gates need not sum to 1: 3, 1, 1 and 0 are shares of 60, 20, 20 and 0 %, each rule the same.
  const nlohmann::json counts = measured("counts");
  EXPECT_NEAR(counts["collapse_avg"], (0.05 + 0.05 + 0.25) / 0.75, 1e-6);
  EXPECT_EQ(counts["dead_modules"], 1);
  EXPECT_NEAR(counts["imi"], 1, 1e-6);
  EXPECT_NEAR(counts["activation"][1][0], 0.6, 1e-6);
}

TEST_F(TrainedTasks, GatesOfSequencesAreThoseOfEveryToken) {
  NEEDS_LIBTORCH_FOR_TASKS();
  const nlohmann::json best =
      best_of("--task rules-rnn --dim 3 --rules 2 --iterations 4 --evaluate-every 4 --test-samples 64 --model " +
              task_network("gates_rnn"));
  EXPECT_EQ(best["activation"], nlohmann::json::parse("[[1.0, 0.0], [0.0, 1.0]]"));
}

TEST_F(TrainedTasks, ImagesHaveTheSameNumbersAsOurs) {
  NEEDS_LIBTORCH_FOR_TASKS();
  const nlohmann::json runs = runs_of("--hidden 24 --seed 0..3 --epochs 40 --model dense" + std::string(kQuickImages));
  const nlohmann::json theirs = runs_of("--seed 0..3 --epochs 40 --model " + task_network("images") + kQuickImages);
  ASSERT_EQ(theirs.size(), 4U);
  double mean[2] = {};
  for (std::size_t seed = 0; seed < 4; ++seed) {
    const nlohmann::json& one = runs[seed]["best"];
    const nlohmann::json& other = theirs[seed]["best"];
    for (const char* same : {"train_rows", "validation_rows", "unseen_rows", "seen_rows", "unseen_base_rate"}) {
      EXPECT_EQ(one[same], other[same]) << same;
    }
    EXPECT_GT(other["seen_accuracy"], 85) << "these images are easy";
    EXPECT_FALSE(other.contains("flops")) << "nobody has counted them";
    mean[0] += one["seen_accuracy"].get<double>() / 4;
    mean[1] += other["seen_accuracy"].get<double>() / 4;
  }
  EXPECT_NEAR(mean[0], mean[1], 5);
  EXPECT_EQ(runs_of("--epochs 2 --model " + task_network("images_flat") + kQuickImages).size(), 1U);
}

TEST_F(TrainedTasks, StandInAStudyBesideOurs) {
  NEEDS_LIBTORCH_FOR_TASKS();
  folder_.write(
      "mine.yaml",
      "name: mine\n"
      "title: Mine beside theirs\n"
      "parameters:\n"
      "  task: {value: rules-mlp}\n"
      "  iterations: {value: 100}\n"
      "  evaluate_every: {value: 50}\n"
      "  test_samples: {value: 1000}\n"
      "  task_seed: {values: [0..5]}\n"
      "grids:\n"
      "  - series: modular\n"
      "    parameters: {model: {value: modular}, width: {value: 4}}\n"
      "  - series: mine\n"
      "    parameters: {model: {value: \"" +
          task_network("gates_rule") +
          "\"}}\n"
          "figures:\n"
          "  - {id: F, title: Who, kind: bars, x: series, series: series, measures: [id_loss, collapse_avg]}\n"
          "claims:\n"
          "  - {id: C, figure: F, text: Mine specialise., checks: [{value: mine, measure: collapse_avg, "
          "expect: less, threshold: 0.01}]}\n");
  const test::Outcome outcome = run({"study", "run", "mine.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1 claims: 1 hold"), std::string::npos) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "results/mine/report.html"));
  const nlohmann::json networks = json_output("report results/mine --json")["mixtures"][0]["networks"];
  ASSERT_EQ(networks.size(), 3U) << "theirs, mine and random gates";
  EXPECT_EQ(networks[1]["name"], "mine");
  EXPECT_EQ(networks[1]["gates"], "learned");
  EXPECT_EQ(networks[1]["modules"], 2);
  EXPECT_EQ(networks[1]["activation"].back(), nlohmann::json({1000, 0, 0, 1000}));
}

TEST_F(TrainedTasks, RefuseWhatDoesNotFit) {
  NEEDS_LIBTORCH_FOR_TASKS();
  const std::string rules = std::string("train --curves curves.csv --save nets --task rules-mlp ") + kQuickRules;
  const std::string images = std::string("train --curves curves.csv --save nets ") + kQuickImages;
  // Beside the two notices, that its code runs and that it has no record, one line.
  const auto refused = [&](const std::string& line, const std::string& network, const std::string& part) {
    const test::Words before = folder_.names();
    const test::Outcome outcome = run(test::words_of(line + " --model " + task_network(network)));
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_EQ(outcome.out, "") << line;
    EXPECT_EQ(folder_.names(), before) << line;
    const std::string said = test::lines_of(outcome.err).back();
    EXPECT_NE(said.find(network + ".pt: "), std::string::npos) << outcome.err;
    EXPECT_NE(said.find(part), std::string::npos) << outcome.err;
  };
  refused(rules, "gates_negative", "its gates are negative in places");
  refused(rules, "gates_rows", "says 1 things of 2 samples; the first dimension of its gates");
  refused(rules, "gates_shape", "its gates have the shape (samples) where (samples, modules) is wanted");
  refused(rules, "rules_rnn", "rules-mlp gives a network inputs of shape (samples, 4)");
  refused(rules, "gates_rnn", "and wants outputs of shape (samples, 1)");
  refused("train --task rules-rnn --dim 3 --rules 2 ", "rules_mha", "(samples, 10, 5) and wants");
  refused(images, "rules_mlp", "(samples, 2, 8, 8) and wants outputs of shape (samples, 2)");
  refused(images, "plain", "(samples, 2, 8, 8)");
  expect_refused(rules + " --width 8 --model " + task_network("rules_mlp"), {"width"});
  expect_refused(images + " --hidden 8 --model " + task_network("images"), {"hidden"});
  expect_refused(rules + " --model missing.pt", {"missing.pt: cannot be read"});
}

}  // namespace
}  // namespace modlab

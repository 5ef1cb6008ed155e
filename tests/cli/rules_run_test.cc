#include <gtest/gtest.h>

#include "cli/program.h"
#include "core/text.h"

namespace modlab {
namespace {

class RulesRun : public test::ProgramTest {
 protected:
  nlohmann::json runs(const std::string& settings) const { return json_output("train --json " + settings)["runs"]; }
};

TEST_F(RulesRun, MixturesThatKnowTheRuleLearnIt) {
  const nlohmann::json found = runs(
      "--task rules-mlp --model gt-modular,modular,monolithic --rules 4 --width 16 --lr 0.002 --iterations 1200 "
      "--evaluate-every 300 --test-samples 4000");
  ASSERT_EQ(found.size(), 3U);
  constexpr double kZeroLoss = 1.443;  // of always saying 0
  for (const nlohmann::json& run : found) {
    for (const char* snapshot : {"best", "last"}) {
      const nlohmann::json& numbers = run[snapshot];
      EXPECT_LT(numbers["id_loss"].get<double>(), 0.6 * kZeroLoss) << run["model"];
      EXPECT_GT(numbers["ood_loss"].get<double>(), numbers["id_loss"].get<double>()) << run["model"];
      EXPECT_FALSE(numbers.contains("id_error")) << "numbers have no error";
    }
    EXPECT_LE(run["best"]["validation_loss"].get<double>(), run["last"]["validation_loss"].get<double>());
  }
  EXPECT_LT(found[0]["last"]["id_loss"].get<double>(), 0.1 * kZeroLoss);
  EXPECT_NEAR(found[0]["last"]["alignment"].get<double>(), 0, 1e-6);
  EXPECT_NEAR(found[0]["last"]["collapse_avg"].get<double>(), 0, 1e-6);
  EXPECT_EQ(found[0]["last"]["activation"], nlohmann::json::parse("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"));
  EXPECT_GT(found[1]["last"]["alignment"].get<double>(), 0.05) << "gates that are learned do not find the rules";
  EXPECT_EQ(found[1]["last"]["activation"].size(), 4U);
  EXPECT_FALSE(found[2]["last"].contains("activation"));
  EXPECT_FALSE(found[2]["last"].contains("alignment"));
}

TEST_F(RulesRun, ATaskOnRulesHasAModelOfItsOwnByDefault) {
  const nlohmann::json found = runs("--task rules-mlp --iterations 1 --test-samples 10");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["model"], "modular");
  expect_refused("train --task rules-mlp --model dense", {"rules-mlp", "not for dense"});
}

TEST_F(RulesRun, SavedNetworksShowWhichModuleServesWhichRule) {
  const nlohmann::json found = runs(
      "--task rules-mlp --model modular,monolithic --task-type classification --rules 3 --width 6 --lr 0.01 "
      "--iterations 90 --evaluate-every 30 --test-samples 600 --save nets");
  for (const char* snapshot : {"best", "last"}) {
    for (const nlohmann::json& run : found) {
      const std::string file = " nets/" + run["id"].get<std::string>() + ".safetensors --snapshot " + snapshot;
      for (const char* verb : {"show", "measure"}) {
        const nlohmann::json shown = json_output(verb + file + " --json");
        const nlohmann::json& told = run[snapshot];
        EXPECT_EQ(shown["model"], run["model"]);
        EXPECT_EQ(shown["iteration"], told["best_iteration"]);
        EXPECT_EQ(shown["id_loss"], told["id_loss"]) << "the same samples again";
        EXPECT_EQ(shown["id_error"], told["id_error"]);
        ASSERT_EQ(shown.contains("module_use"), run["model"] == "modular");
        if (shown.contains("module_use")) {
          EXPECT_EQ(shown["module_use"]["alignment"], told["alignment"]);
          EXPECT_EQ(shown["module_use"]["collapse_avg"], told["collapse_avg"]);
        }
        const std::string text = output(test::words_of(verb + file));
        EXPECT_NE(text.find(run["model"].get<std::string>() + " on rules-mlp, classification, 3 rules"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find(run["model"] == "modular" ? "collapse_avg" : "no modules to show"), std::string::npos);
      }
    }
  }
}

TEST_F(RulesRun, ParametersAreThePublishedOnes) {
  const std::string small = " --rules 8 --iterations 1 --test-samples 10 --batch-size 2";
  EXPECT_EQ(runs("--task rules-mlp --model modular --width 32" + small)[0]["parameters"], 36585);
  EXPECT_EQ(runs("--task rules-mha --model modular --width 64" + small)[0]["parameters"], 113545);
  EXPECT_EQ(runs("--task rules-rnn --model modular-op --width 32" + small)[0]["parameters"], 101866);
  EXPECT_EQ(json_output("flops --task rules-mha --model modular --rules 8 --width 64 --json")["parameters"], 113545);
  EXPECT_NE(output(test::words_of("flops --task rules-mha --model modular --rules 8 --width 64")).find("113545"),
            std::string::npos);
}

TEST_F(RulesRun, SequencesAreTestedAtSeveralLengths) {
  for (const char* task : {"rules-mha", "rules-rnn --dim 3"}) {
    const nlohmann::json run = runs(std::string("--model modular --rules 2 --width 4 --iterations 3 --batch-size 8 "
                                                "--test-samples 20 --task-type classification --task ") +
                                    task)[0];
    for (const char* snapshot : {"best", "last"}) {
      const nlohmann::json& lengths = run[snapshot]["lengths"];
      ASSERT_EQ(lengths.size(), 5U) << task;
      for (const char* length : {"3", "5", "10", "20", "30"}) {
        for (const char* name : {"loss", "ood_loss", "error", "ood_error"}) {
          EXPECT_TRUE(lengths[length][name].is_number()) << task << " " << length << " " << name;
        }
      }
      EXPECT_EQ(run[snapshot]["ood_loss"], lengths["30"]["ood_loss"]) << "both at once";
      EXPECT_EQ(run[snapshot]["id_error"], lengths["10"]["error"]);
    }
  }
}

TEST_F(RulesRun, TheSameBitsOnAnyNumberOfThreadsAndEveryTarget) {
  const std::string settings =
      "train --json --task rules-mlp --model modular-op --rules 3 --width 8 --iterations 40 --batch-size 32 --seed "
      "0..2 "
      "--test-samples 200 --threads ";
  const nlohmann::json one = json_output(test::words_of(settings + "1"))["runs"];
  const nlohmann::json two = json_output(test::words_of(settings + "2"))["runs"];
  const nlohmann::json scalar = json_output(test::words_of(settings + "2"), {{"MODLAB_TARGET", "scalar"}})["runs"];
  for (std::size_t run = 0; run < 3; ++run) {
    for (const char* part : {"id", "best", "last"}) {
      EXPECT_EQ(one[run][part], two[run][part]);
      EXPECT_EQ(one[run][part], scalar[run][part]);
    }
  }
}

TEST_F(RulesRun, CurvesHaveTheMeasuresOverTheIterations) {
  output(
      test::words_of("train --task rules-mlp --model modular --rules 2 --width 8 --iterations 100 --evaluate-every 40 "
                     "--test-samples 100 --curves curve.csv"));
  const test::Words lines = test::lines_of(folder_.read("curve.csv"));
  ASSERT_EQ(lines.size(), 5U) << "0, 40, 80 and 100";
  EXPECT_NE(lines[0].find("iteration,loss"), std::string::npos);
  EXPECT_NE(lines[0].find("alignment"), std::string::npos);
  EXPECT_NE(lines[4].find(",100,"), std::string::npos);
}

TEST_F(RulesRun, AStudyComparesOverTasks) {
  folder_.write("mine.yaml", R"(name: mine
tune: none
parameters:
  task: {value: rules-mlp}
  rules: {values: [2]}
  width: {value: 8}
  iterations: {value: 150}
  lr: {value: 0.002}
  batch_size: {value: 64}
  test_samples: {value: 500}
  task_seed: {values: [0..4]}
  seed: {values: [0, 1]}
grids:
  - series: oracle
    parameters: {model: {value: gt-modular}}
  - series: learned
    parameters: {model: {value: modular}}
figures:
  - {id: F, title: Loss, kind: lines, x: rules, series: series, measures: [id_loss, alignment]}
claims:
  - id: C
    text: Knowing the rule helps.
    checks:
      - {compare: [oracle, learned], measure: alignment, expect: less}
)");
  const std::string text = output({"study", "run", "mine.yaml", "--out", "out"});
  EXPECT_NE(text.find("20 runs"), std::string::npos) << text;
  EXPECT_NE(text.find("over 5 task seeds"), std::string::npos) << text;
  EXPECT_NE(text.find("1 claims: 1 hold"), std::string::npos) << text;
  // A run of it again, to the same bits.
  output({"export", "out", "--csv"});
  const std::string id = split_text(test::lines_of(folder_.read("out/csv/runs.csv"))[1], ',')[0];
  const nlohmann::json again = json_output({"train", "--from", "out", "--run", id, "--json"})["runs"][0];
  EXPECT_EQ(again["id"], id);
}

TEST_F(RulesRun, BadInput) {
  const std::string small = "train --save nets --csv runs.csv --task rules-mlp --model modular ";
  const std::string sets = "train --save nets --csv runs.csv --task rules-mha --model modular ";
  const std::string sequences = "train --save nets --csv runs.csv --task rules-rnn --model modular ";
  expect_refused(small + "--rules 0", {"rules", "'0'"});
  expect_refused(small + "--rules -2", {"rules", "'-2'"});
  expect_refused(small + "--rules 257", {"rules", "'257'"});
  expect_refused(small + "--rules two", {"rules", "'two'"});
  expect_refused(small + "--modules 0", {"modules", "'0'"});
  expect_refused(small + "--rules 32 --width 4", {"without units"});
  expect_refused("train --task rules-rnn --rules 256 --dim 512 --order 16", {"256 rules", "gigabyte"});
  expect_refused(small + "--modules 32 --width 4", {"without units"});
  expect_refused(small + "--width 0", {"width", "'0'"});
  expect_refused(sequences + "--rules 64 --width 1", {"without units"});
  expect_refused(sets + "--rules 3 --width 4", {"heads"});
  expect_refused("train --task rules-mha --model monolithic --rules 3 --width 4", {"heads"});
  expect_refused(sets + "--length 1", {"length 1"});
  expect_refused(sets + "--length 0", {"length", "'0'"});
  expect_refused(sets + "--search 3", {"search", "'3'"});
  expect_refused(small + "--length 4", {"--length"});
  expect_refused(small + "--batch-size 0", {"batch_size"});
  expect_refused(small + "--iterations 0", {"iterations"});
  expect_refused(small + "--evaluate-every 0", {"evaluate_every"});
  expect_refused(small + "--test-samples 0", {"test_samples"});
  expect_refused(small + "--lr -1", {"lr"});
  expect_refused(small + "--lr nan", {"lr"});
  expect_refused(small + "--clip -1", {"clip"});
  expect_refused(small + "--task-seed -1", {"task_seed"});
  expect_refused(sequences + "--dim 0", {"dim"});
  expect_refused(sequences + "--order 0", {"order"});
  expect_refused(small + "--task-type sorting", {"regression", "classification"});
  expect_refused("train --task rules-mlp --model dense", {"rules-mlp", "monolithic", "dense"});
  expect_refused("train --task rules-mlp --model monolithic --modules 3", {"--modules"});
}

TEST_F(RulesRun, MisspeltTasksAreToldTheNearest) {
  for (const char* model : {"modular", "gt-modular", "dense"}) {
    expect_refused(std::string("train --task rules-mlpp --model ") + model,
                   {"rules-mlpp", "did you mean 'rules-mlp'?"});
  }
  expect_refused("train --task rule-rnn --model modular", {"did you mean 'rules-rnn'?"});
  expect_refused("train --task depht2 --model modular", {"did you mean 'depth2'?"});
  expect_refused("flops --task rules-mhaa --model modular", {"did you mean 'rules-mha'?"});
  expect_refused("graph rules-mlp", {"rules-mlp", "no graph", "train"});
  EXPECT_NE(output({"graph"}).find("  rules-rnn "), std::string::npos);
  const std::string help = output({"train", "--task", "rules-mlp", "--help"});
  EXPECT_NE(help.find("--modules"), std::string::npos) << help;
}

// Of one rule or one module there is nothing to say, which counts as 0.
TEST_F(RulesRun, OneRuleOrOneModule) {
  const std::string tiny = " --width 4 --iterations 2 --batch-size 4 --test-samples 20";
  for (const char* counts : {"--rules 1", "--rules 3 --modules 1"}) {
    const nlohmann::json last = runs(std::string("--task rules-mlp --model modular ") + counts + tiny)[0]["last"];
    for (const char* measure : {"collapse_avg", "collapse_worst", "imi", "entropy"}) {
      EXPECT_EQ(last[measure], 0) << counts << " " << measure;
    }
    EXPECT_TRUE(last["alignment"].is_number()) << counts;
  }
}

TEST_F(RulesRun, ADivergedRunIsRecordedAsSuch) {
  const nlohmann::json run = runs(
      "--task rules-mlp --model monolithic --rules 2 --width 4 --iterations 40 --evaluate-every 10 --batch-size 8 "
      "--test-samples 20 --lr 1e6")[0];
  EXPECT_EQ(run["diverged"], true) << run;
}

}  // namespace
}  // namespace modlab

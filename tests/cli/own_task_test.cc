// Tasks as people write them: gates that need different numbers of values, and values that are passed on.

#include <gtest/gtest.h>

#include <map>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::Words;

// Two bits and two bits make two bits and a carry.
constexpr const char* kAdder = R"(inputs: [a1, a0, b1, b0]
levels:
  - {half: XOR a0 b0, low: AND a0 b0, part: XOR a1 b1, high: AND a1 b1}
  - {half2: ID half, sum: XOR part low, both: AND part low, high2: AND high high}
  - {s0: ID half2, s1: ID sum, carry: OR both high2}
outputs: {s0: s0, s1: s1, carry: carry}
)";
// Levels with one value for modules of two inputs, a gate of three, NOT beside ID.
constexpr const char* kChain = R"(inputs: [a, b, c]
levels:
  - {all: AND a b c, one: XOR a b, c1: ID c}
  - {two: OR all one c1}
  - {no: NOT two, yes: ID two}
outputs: [no, yes]
)";
constexpr const char* kModels = "dense,sparse,modular,modular-fc,modular-shared,modular-shared-fcms";

class OwnTask : public test::ProgramTest {
 protected:
  // The runs of each model.
  std::map<std::string, std::vector<json>> trained(const std::string& settings) const {
    std::map<std::string, std::vector<json>> by_model;
    const json printed = json_output("train --json --save nets " + settings);
    for (const json& run : printed["runs"]) {
      by_model[run["model"]].push_back(run);
    }
    return by_model;
  }
  json measured(const json& run) const {
    return json_output("measure nets/" + run["id"].get<std::string>() + ".safetensors --relaxed --json");
  }
};

TEST_F(OwnTask, AnAdderInAllSixArchitectures) {
  folder_.write("adder.yaml", kAdder);
  const auto runs = trained(
      std::string("--task adder.yaml --ratio 0.85 --epochs 1000 --lr 0.03 --noise 0 --seed 0..7 --model ") + kModels);
  ASSERT_EQ(runs.size(), 6U);
  const auto learned = [&](const std::string& model) {
    return std::ranges::count_if(runs.at(model), [](const json& run) { return run["last"]["train_accuracy"] == 100; });
  };
  for (const char* model : {"dense", "modular-fc", "modular-shared-fcms"}) {
    EXPECT_GE(learned(model), 5) << model;
  }
  for (const char* model : {"modular-fc", "modular-shared-fcms"}) {
    int exact = 0;
    for (const json& run : runs.at(model)) {
      const json found = measured(run);
      EXPECT_EQ(found["edit_distance"], 0) << model;
      EXPECT_EQ(found["tasks"][0]["relaxed_edit_distance"], 0) << model;
      EXPECT_GT(found["specialisation"].get<double>(), 0.5) << model;
      exact += found["tasks"][0]["accuracy"] == 100 ? 1 : 0;
    }
    EXPECT_GE(exact, 1) << model << ": right on rows that were never seen";
    const std::string text = output({"show", "nets/" + runs.at(model)[0]["id"].get<std::string>() + ".safetensors"});
    EXPECT_NE(text.find("The wiring is the true one"), std::string::npos) << text;
  }
  for (const char* model : {"modular", "modular-shared"}) {
    for (const json& run : runs.at(model)) {
      const json found = measured(run);
      const int distance = found["edit_distance"].get<int>();
      // For every edge that is missing another one is too many: what is free makes no odd number.
      EXPECT_EQ(distance % 2, 0) << model;
      EXPECT_GT(distance, 0) << model;
      EXPECT_LE(distance, 2 * (8 + 6 + 4 + 3)) << model;
      EXPECT_LE(found["tasks"][0]["relaxed_edit_distance"].get<int>(), distance) << model;
    }
  }
}

TEST_F(OwnTask, GraphShowsTheRoutingOfAnAdder) {
  folder_.write("adder.yaml", kAdder);
  const std::string text = output({"graph", "adder.yaml"});
  EXPECT_NE(text.find("L1: (2,4),(2,4),(1,3),(1,3); L2: (1),(3,2),(3,2),(4); L3: (1),(2),(3,4)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1 XOR, 2 AND, 3 ID, 4 OR"), std::string::npos) << text;
}

TEST_F(OwnTask, LevelsWithFewerValuesThanModulesRead) {
  folder_.write("chain.yaml", kChain);
  const std::string settings = "--task chain.yaml --ratio 0.7 --epochs 600 --lr 0.03 --noise 0 --seed 0..3 ";
  const auto runs = trained(settings + "--fan-in 3 --model " + kModels);
  ASSERT_EQ(runs.size(), 6U);
  for (const char* model : {"modular-fc", "modular-shared-fcms"}) {
    int learned = 0;
    for (const json& run : runs.at(model)) {
      EXPECT_EQ(measured(run)["edit_distance"], 0) << model;
      learned += run["last"]["train_accuracy"] == 100 ? 1 : 0;
    }
    EXPECT_GE(learned, 3) << model;
  }
  // What is known needs modules as wide as the widest gate; what is learned may try without.
  expect_refused("train " + settings + "--model modular-fc", {"gate 'all' needs 3 values", "set fan_in to 3"});
  EXPECT_EQ(json_output("train --json " + settings + "--model modular --modules 3,2,2 --epochs 2")["runs"].size(), 4U);
  expect_refused("train " + settings + "--model modular --fan-in 4", {"fan_in is 4", "3 candidates"});
}

TEST_F(OwnTask, SettingsThatMeanNothingAreRefused) {
  expect_refused("train --model dense --slots 3,2", {"--slots", "model dense", "shared kinds", "leave it out"});
  expect_refused("train --model modular --pool 3", {"--pool", "modular"});
  expect_refused("train --model dense,sparse --tau 1,2", {"--tau", "dense and sparse", "modular kinds"});
  expect_refused("train --samples 10", {"--samples", "task depth2"});
  expect_refused("flops --model modular-shared --hidden 5", {"--hidden", "modular-shared"});
  // It means something to one of them.
  EXPECT_EQ(json_output("train --json --epochs 1 --model dense,modular-shared --slots 4,3")["runs"].size(), 2U);
}

TEST_F(OwnTask, TheHeaderShowsWhatIsNotADefault) {
  const auto header = [&](const std::string& settings) {
    const std::string text = output(test::words_of("train --epochs 1 " + settings));
    return text.substr(0, text.find("\n\n"));
  };
  EXPECT_EQ(header("").find("slots"), std::string::npos);
  for (const char* shown : {"slots 4,3", "outputs_from all", "optimizer sgd", "seed 7"}) {
    const std::string settings = "--slots 4,3 --outputs-from all --optimizer sgd --seed 7";
    EXPECT_NE(header(settings).find(shown), std::string::npos) << header(settings);
    // A network without slots first changes nothing.
    EXPECT_NE(header(settings + " --model dense,modular-shared").find(shown), std::string::npos)
        << header(settings + " --model dense,modular-shared");
  }
  const std::string rates = header("--lr-input 0.2 --model dense,modular-shared");
  EXPECT_NE(rates.find("lr_input 0.2"), std::string::npos) << rates;
  EXPECT_EQ(rates.find("lr_structural"), std::string::npos) << rates;
}

}  // namespace
}  // namespace modlab

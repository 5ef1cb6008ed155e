// The commands of the published scripts for rule-based data. There is a script for each family; here a task says which.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::words_of;

constexpr auto kMlpFlags =
    "--task rules-mlp --encoder-dim 32 --dim 128 --gt-rules 4 --num-rules 4 --data-seed 3 --seed 2 ";
constexpr auto kMhaFlags =
    "--task rules-mha --dim 8 --att-dim 32 --seq-len 10 --search-version 2 --gt-rules 4 --num-rules 4 --data-seed 3 "
    "--seed 2 ";
constexpr auto kRnnFlags =
    "--task rules-rnn --enc-dim 8 --h-dim 32 --seq-len 6 --order 2 --d-dim 3 --gt-rules 4 --num-rules 4 "
    "--data-seed 3 --seed 2 ";

class PublishedRules : public test::ProgramTest {
 protected:
  json run_of(const std::string& command) const {
    const json printed = json_output("train --json " + command + " --iterations 1 --batch-size 2 --test-samples 8");
    EXPECT_EQ(printed["runs"].size(), 1U);
    return printed["runs"][0];
  }
  // The same network as our own words name, to the last number.
  void expect_same(const std::string& published, const std::string& ours) const {
    EXPECT_EQ(run_of(published), run_of(ours)) << published;
  }
};

TEST_F(PublishedRules, Mlp) {
  const std::string ours = "--task rules-mlp --width 32 --rules 4 --task-seed 3 --seed 2 --model ";
  expect_same(std::string(kMlpFlags) + "--model Monolithic", ours + "monolithic");
  expect_same(std::string(kMlpFlags) + "--model Modular --joint", ours + "modular");
  expect_same(std::string(kMlpFlags) + "--model Modular --op", ours + "modular-op");
  expect_same(std::string(kMlpFlags) + "--model GT_Modular", ours + "gt-modular");
  expect_same(std::string(kMlpFlags) + "--model Modular", ours + "modular-scorer");
  expect_same(std::string(kMlpFlags) + "--model Modular --joint --op False", ours + "modular");
}

TEST_F(PublishedRules, Mha) {
  const std::string ours =
      "--task rules-mha --width 8 --length 10 --search 2 --rules 4 --task-seed 3 --seed 2 --model ";
  expect_same(std::string(kMhaFlags) + "--model Monolithic --num-heads 8", ours + "monolithic");
  expect_same(std::string(kMhaFlags) + "--model Modular --num-heads 2", ours + "modular");
  expect_same(std::string(kMhaFlags) + "--model Modular --num-heads 2 --op", ours + "modular-op");
  expect_same(std::string(kMhaFlags) + "--model GT_Modular --num-heads 2", ours + "gt-modular");
}

TEST_F(PublishedRules, Rnn) {
  const std::string ours =
      "--task rules-rnn --width 8 --length 6 --order 2 --dim 3 --rules 4 --task-seed 3 --seed 2 --model ";
  expect_same(std::string(kRnnFlags) + "--model Monolithic", ours + "monolithic");
  expect_same(std::string(kRnnFlags) + "--model Modular", ours + "modular");
  expect_same(std::string(kRnnFlags) + "--model Modular --op", ours + "modular-op");
  expect_same(std::string(kRnnFlags) + "--model GT_Modular", ours + "gt-modular");
}

TEST_F(PublishedRules, ListsMultiply) {
  const json runs = json_output(
      "train --json --task rules-mlp --model Modular,GT_Modular --op --encoder-dim 4,8 --dim "
      "16,32 --gt-rules 2 --data-seed 0..1 --iterations 1 --test-samples 8")["runs"];
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(json_output("flops --json " + std::string(kMhaFlags) + "--model Modular --num-heads 2")["parameters"],
            json_output("flops --json --task rules-mha --model modular --search 2 --rules 4 --width 8")["parameters"]);
}

TEST_F(PublishedRules, OneOfTwoWidthsIsEnough) {
  EXPECT_EQ(run_of("--task rules-rnn --model GT_Modular --h-dim 64 --d-dim 3")["width"], 16);
  EXPECT_EQ(run_of("--task rules-mlp --model GT_Modular --dim 64")["width"], 16);
  EXPECT_EQ(run_of("--task rules-mha --model GT_Modular --dim 12")["width"], 12);
}

TEST_F(PublishedRules, WhatCannotBeIsRefused) {
  const auto refused = [&](const std::string& words, const test::Words& parts) {
    expect_refused("train " + words + " --save nets --csv runs.csv", parts);
  };
  refused("--task rules-mlp --model Modular --joint --encoder-dim 32 --dim 100", {"--dim", "128", "100"});
  refused("--task rules-mlp --model Modular --joint --dim 30", {"--dim", "4 times"});
  refused("--task rules-mlp --model Modular --joint --encoder-dim 32,64 --dim 128", {"--dim", "256"});
  refused("--task rules-mlp --model Modular --joint --encoder-dim many", {"--encoder-dim", "'many'"});
  refused("--task rules-mlp --model Modular --joint --op", {"--joint", "--op"});
  refused("--task rules-mlp --model GT_Modular --op", {"--op", "Modular"});
  refused("--task rules-rnn --model Modular --joint", {"--joint", "rules-rnn"});
  refused("--task rules-mlp --model Modular --joint --enc-dim 32", {"--enc-dim", "rules-mlp"});
  refused("--task rules-mlp --model Modular --joint --seq-len 10", {"--seq-len", "rules-mlp"});
  refused("--task rules-mha --model Modular --num-heads 4", {"--num-heads 4", "2 heads"});
  refused("--task rules-mha --model Monolithic --num-heads 2 --gt-rules 4", {"--num-heads 2", "8"});
  refused("--task rules-mha --model Modular --num-heads 0", {"--num-heads", "'0'"});
  refused("--task rules-mha --model Modular --dim 32 --att-dim 64", {"--att-dim", "128"});
  refused("--task rules-mlp --model Modular --joint --gt-rules 4 --rules 4", {"--gt-rules", "--rules"});
  refused("--task rules-mlp --model Modular --joint --encoder-dim 32 --width 32", {"--width"});
  refused("--task rules-mlp,rules-rnn --model Modular --gt-rules 4", {"rules-mlp, rules-rnn"});
  refused("--task depth2 --gt-rules 4", {"--gt-rules", "rules-mlp"});
  refused("--gt-rules 4", {"--gt-rules", "rules-mlp"});
  refused("--task depth2,rules-mlp --model modular --op", {"--op", "rules-mlp"});
  // Our own words mean what they meant.
  refused("--task rules-mlp --model modular --dim 8", {"--dim", "rules-rnn"});
}

}  // namespace
}  // namespace modlab

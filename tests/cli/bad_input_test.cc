// Section 8 of the first issue: whatever a person gets wrong is one clear line, exit code 2, and no file.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "cli/program.h"

namespace modlab {
namespace {

using test::Outcome;
using test::Words;

class BadInput : public test::ProgramTest {
 protected:
  // A refused training must not have made its output files either.
  void expect_refused_train(const std::string& settings, const Words& parts = {}) const {
    expect_refused("train --epochs 2 --curves curves.csv " + settings, parts);
  }
  void expect_refused_task(const std::string& text, const Words& parts) const {
    folder_.write("task.yaml", text);
    expect_refused_train("--task task.yaml", parts);
    expect_refused("graph task.yaml --svg task.svg", parts);
  }
  void expect_refused_table(const std::string& text, const Words& parts) const {
    folder_.write("table.csv", text);
    expect_refused_train("--task table.csv --model dense", parts);
    expect_refused("graph table.csv --svg table.svg", parts);
  }
};

TEST_F(BadInput, UnknownSettingNamesTheNearestKnownOne) {
  expect_refused_train("--wieght-decay 0.1", {"--wieght-decay", "'--weight-decay'"});
  expect_refused_train("--lr_structral 0.1", {"'--lr-structural'"});
  expect_refused_train("--splitseed 4", {"'--split-seed'"});
  expect_refused_train("--elephants 4", {"--elephants"});
  expect_refused_train("stray", {"stray"});
  expect_refused_train("--lr", {"--lr"});
  expect_refused("graph depth2 --swg x.svg", {"--swg", "svg"});
  expect_refused("show --snapshoot last x", {"snapshot"});
  expect_refused("trian --epochs 1", {"trian", "train"});
}

TEST_F(BadInput, UnknownTaskOrModelNamesTheNearestKnownOne) {
  expect_refused_train("--task dpeth2", {"dpeth2", "depth2"});
  expect_refused_train("--task elephants", {"elephants"});
  expect_refused_train("--task missing.yaml", {"missing.yaml"});
  expect_refused_train("--task missing/table.csv", {"missing/table.csv"});
  expect_refused("graph dpeth2 --svg x.svg", {"depth2"});
  expect_refused_train("--model modular-shred", {"modular-shred", "modular-shared"});
  expect_refused_train("--model elephants", {"elephants", "dense"});
  // One wrong name among right ones, too.
  expect_refused_train("--model dense,elephants --seed 0..3", {"elephants"});
}

TEST_F(BadInput, CyclicGraph) {
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 b\n    b: AND a x1\noutputs: [b]\n", {"task.yaml"});
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 b\n  - b: AND a x1\noutputs: [b]\n", {"task.yaml"});
  folder_.write("one.yaml", "tasks: [two.yaml]\n");
  folder_.write("two.yaml", "tasks: [one.yaml]\n");
  expect_refused_train("--task one.yaml", {".yaml"});
}

TEST_F(BadInput, GateThatReadsALaterLevelOrItself) {
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 b\n  - b: AND x0 x1\noutputs: [a]\n", {"task.yaml", "b"});
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 a\noutputs: [a]\n", {"task.yaml", "a"});
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 x1\n    b: AND a x1\noutputs: [b]\n", {"task.yaml"});
  expect_refused_task("inputs: 2\nlevels:\n  - a: XOR x0 zebra\noutputs: [a]\n", {"zebra"});
}

TEST_F(BadInput, ModuleThatPicksMoreCandidatesThanThereAre) {
  expect_refused_train("--model modular --fan-in 4 --modules 3,2", {"fan_in is 4", "level 2", "3"});
  expect_refused_train("--model modular-shared --fan-in 7", {"fan_in is 7", "level 1", "6"});
  expect_refused_train("--model modular --modules 3,1", {"2 outputs", "only 1 modules", "--outputs-from all"});
  expect_refused_train("--model modular --modules 1,2", {"fan_in", "level 2"});
}

TEST_F(BadInput, NumbersBeyondWhatIsPossible) {
  expect_refused_train("--epochs 1000000000", {"epochs", "from 1 to 10000000", "1000000000"});
  expect_refused_train("--seed 0..99999999", {"seed '0..99999999'", "more values than the 5000000"});
  expect_refused_train("--seed 5..2", {"is not a range"});
}

TEST_F(BadInput, FilesThatOtherVerbsOrProgramsRead) {
  folder_.write("networks.jsonl", R"({"layers":[{"n_in":1,"n_out":1,"edges":[[0,0,1]]}]})");
  for (const char* verb : {"show", "measure"}) {
    expect_refused(std::string(verb) + " networks.jsonl", {"networks.jsonl", "modlab detect"});
  }
  folder_.write("model.pt", "\x80\x02}q");
  for (const char* verb : {"show", "measure", "detect", "structure"}) {
    expect_refused(std::string(verb) + " model.pt", {"model.pt", "pickle", "safetensors"});
  }
}

TEST_F(BadInput, PoolOrSlotCountOfZero) {
  expect_refused_train("--model modular-shared --pool 0", {"pool", "'0'"});
  expect_refused_train("--model modular-shared --pool -1", {"pool"});
  expect_refused_train("--model modular-shared --slots 0,2", {"slots", "'0'"});
  expect_refused_train("--model modular-shared --slots 3,0", {"slots", "'0'"});
  expect_refused_train("--model modular --modules 3,0", {"modules", "'0'"});
  expect_refused_train("--model dense --hidden 0", {"hidden"});
  expect_refused_train("--model modular --fan-in 0", {"fan_in"});
  expect_refused_train("--model modular-shared --slots 3,,2", {"slots"});
}

TEST_F(BadInput, RatioThatLeavesAPartWithoutRows) {
  expect_refused_train("--ratio 0.001", {"ratio", "training"});
  expect_refused_train("--ratio 0", {"ratio"});
  expect_refused_train("--ratio 1", {"ratio"});
  expect_refused_train("--ratio 0.99", {"ratio"});
  expect_refused_train("--ratio 1.5", {"ratio"});
  expect_refused_train("--ratio -0.5", {"ratio"});
  expect_refused_train("--ratio nan", {"ratio"});
  expect_refused_train("--ratio half", {"ratio", "half"});
  // The smallest table that one can write leaves nothing to split.
  folder_.write("table.csv", "x0,y0\n0,1\n1,0\n");
  expect_refused_train("--task table.csv --model dense", {"2 rows"});
}

TEST_F(BadInput, NegativeOrNonFiniteRate) {
  for (const char* name : {"lr", "lr-structural", "lr-input", "lr-module", "weight-decay", "noise"}) {
    std::string shown = name;
    std::ranges::replace(shown, '-', '_');
    for (const char* value : {"-0.1", "nan", "inf", "-inf", "1e999", "0.1x", ""}) {
      expect_refused(Words{"train", "--curves", "curves.csv", "--" + std::string(name) + "=" + value}, {shown});
    }
  }
  expect_refused_train("--tau 0", {"tau"});
  expect_refused_train("--tau -1", {"tau"});
  expect_refused_train("--tau nan", {"tau"});
  expect_refused_train("--gamma 0", {"gamma"});
  expect_refused_train("--lr 0.1,nan", {"lr", "nan"});
  expect_refused_train("--density 0 --model sparse", {"density"});
  expect_refused_train("--density 1.5 --model sparse", {"density"});
  expect_refused_train("--epochs 0", {"epochs"});
  expect_refused_train("--batch-size 0", {"batch_size"});
  expect_refused_train("--seed -1", {"seed"});
  expect_refused_train("--seed 5..1", {"seed", "5..1"});
  expect_refused_train("--seed 0..99999999999", {"seed"});
  expect_refused_train("--seed 0..9999 --lr 0.1,0.2 --split-seed 0..9999", {"runs"});
  expect_refused_train("--threads 0", {"threads"});
  expect_refused_train("--threads many", {"threads"});
}

TEST_F(BadInput, FixedRoutingForATaskWithoutAGraph) {
  folder_.write("table.csv", "x0,x1,x2,y0\n0,0,0,0\n0,0,1,1\n0,1,0,1\n0,1,1,0\n1,0,0,1\n1,0,1,0\n1,1,0,0\n1,1,1,1\n");
  for (const char* task : {"random62", "table.csv"}) {
    for (const char* model : {"--model modular-fc", "--model modular-shared-fcms",
                              "--model modular --known-outputs true", "--model modular-shared --known-modules true"}) {
      expect_refused_train(std::string(model) + " --task " + task, {"graph"});
    }
  }
}

TEST_F(BadInput, TruthTableWithAMissingRow) {
  expect_refused_table("x0,x1,y0\n0,0,0\n0,1,1\n1,1,0\n", {"table.csv", "10"});
  expect_refused_table("x0,x1,y0\n", {"table.csv"});
  expect_refused_table("", {"table.csv"});
}

TEST_F(BadInput, TruthTableWithAContradictoryRow) {
  expect_refused_table("x0,x1,y0\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n0,1,0\n", {"table.csv"});
  expect_refused_table("x0,x1,y0\n0,0,0\n0,1,1\n0,1,0\n1,1,0\n", {"table.csv"});
  expect_refused_table("x0,x1,y0\n0,0,0\n0,1,2\n1,0,1\n1,1,0\n", {"table.csv:3"});
  expect_refused_table("x0,x1,y0\n0,0,0\n0,1\n1,0,1\n1,1,0\n", {"table.csv:3"});
}

class DamagedWeights : public BadInput {
 protected:
  DamagedWeights() {
    output(test::words_of("train --epochs 2 --model modular-shared --save nets"));
    for (const std::string& name : folder_.names()) {
      if (name.ends_with(".safetensors")) {
        bytes_ = folder_.read(name);
      }
    }
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), 8);
    header_end_ = 8 + static_cast<std::size_t>(length);
  }

  // The file with the first `from` of its header replaced, and the header's length put right.
  std::string with_header(const std::string& from, const std::string& to) const {
    std::string header = bytes_.substr(8, header_end_ - 8);
    const std::size_t at = header.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    header.replace(at, from.size(), to);
    return container(header) + bytes_.substr(header_end_);
  }
  static std::string container(const std::string& header) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header;
  }

  std::string bytes_;
  std::size_t header_end_ = 0;
};

TEST_F(DamagedWeights, TheWholeFileIsShown) {
  folder_.write("net.safetensors", bytes_);
  EXPECT_NE(output({"show", "net.safetensors"}).find("modular-shared on depth2"), std::string::npos);
}

TEST_F(DamagedWeights, TruncatedFileIsRefusedAtEveryLength) {
  ASSERT_GT(bytes_.size(), header_end_);
  std::vector<std::size_t> lengths = {0, 1, 7, 8, 9, header_end_ - 1, header_end_, header_end_ + 1, bytes_.size() - 1};
  for (std::size_t length = 16; length < bytes_.size(); length += 97) {
    lengths.push_back(length);
  }
  for (const std::size_t length : lengths) {
    folder_.write("net.safetensors", bytes_.substr(0, length));
    expect_refused("show net.safetensors", {"net.safetensors"});
  }
}

// A flipped byte may leave a file that can be read, with another number in it; it must never be worse than refused.
TEST_F(DamagedWeights, FlippedHeaderBytesAreRefusedOrShown) {
  std::mt19937 random(5);
  int refused = 0;
  for (int attempt = 0; attempt < 150; ++attempt) {
    std::string damaged = bytes_;
    const std::size_t at = random() % header_end_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 7)));
    folder_.write("net.safetensors", damaged);
    for (const char* form : {"show net.safetensors", "show net.safetensors --json"}) {
      const Outcome outcome = run(form);
      ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2)
          << form << " with byte " << at << " of the header flipped: exit code " << outcome.exit_code << "\n"
          << outcome.err << damaged.substr(at > 40 ? at - 40 : 8, 80);
      if (outcome.exit_code == 2) {
        ++refused;
        ASSERT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
      }
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_F(DamagedWeights, TensorsThatAreNotThoseOfTheSettingsAreRefused) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"(\"task\":\"depth2\")", R"(\"task\":\"two\\nlines\")"},
           {R"(\"model\":\"modular-shared\")", R"(\"model\":\"modular\")"},
           {R"(\"model\":\"modular-shared\")", R"(\"model\":\"two\\nlines\")"},
           {R"(\"model\":\"modular-shared\")", R"(\"model\":7)"},
           {R"(\"pool\":2)", R"(\"pool\":3)"},
           {R"(\"pool\":2)", R"(\"pool\":-)"},
           {R"(\"slots\":[3,2])", R"(\"slots\":[2,2])"},
           {R"(\"slots\":[3,2])", R"(\"slots\":[4096,4096,4096])"},
           {R"(\"slots\":[3,2])", R"(\"slots\":{\"a\":1})"},
           {R"(\"fan_in\":2)", R"(\"fan_in\":7)"},
           {R"("modlab.run")", R"("madlab.run")"},
           {R"("best/outputs")", R"("bist/outputs")"},
           {R"("last/outputs")", R"("last/out\nputs")"}}) {
    folder_.write("net.safetensors", with_header(from, to));
    expect_refused("show net.safetensors");
    expect_refused("show net.safetensors --json");
  }
}

// Scores are only printed: where they are gone or of another kind, the network can still be shown or refused.
TEST_F(DamagedWeights, ScoresOfAnotherKindAreNoReasonToFail) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"(\"best\":{)", R"(\"bust\":{)"},
           {R"(\"best_epoch\":)", R"(\"bust_epoch\":)"},
           {R"(\"best_epoch\":)", R"(\"best_epoch\":[],\"x\":)"},
           {R"(\"best_epoch\":)", R"(\"best_epoch\":\"late\",\"x\":)"},
           {R"(\"best_epoch\":)", R"(\"best_epoch\":1e99,\"x\":)"},
           {R"(\"best\":{)", R"(\"best\":7,\"x\":{)"},
           {R"(\"train_accuracy\":)", R"(\"train_accuracy\":null,\"x\":)"},
           {R"(\"train_accuracy\":)", R"(\"train_accuracy\":\"high\",\"x\":)"}}) {
    folder_.write("net.safetensors", with_header(from, to));
    const Outcome outcome = run("show net.safetensors");
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2)
        << to << ": exit code " << outcome.exit_code << ", " << outcome.err;
  }
}

TEST_F(DamagedWeights, OtherFilesAreNotNetworks) {
  folder_.write("empty.safetensors", "");
  folder_.write("text.safetensors", "this is not a network, whatever its name says");
  // Deep enough to exhaust the stack of whoever walks down into it.
  folder_.write("nested.safetensors",
                container("{\"a\":" + std::string(500'000, '[') + std::string(500'000, ']') + "}"));
  expect_refused("show empty.safetensors", {"empty.safetensors"});
  expect_refused("show text.safetensors", {"text.safetensors"});
  expect_refused("show nested.safetensors", {"nested.safetensors"});
  expect_refused("show missing.safetensors", {"missing.safetensors"});
  expect_refused("show nets", {"nets"});
  expect_refused("show", {"--save"});
  expect_refused("show text.safetensors --snapshot first", {"best", "last"});
}

// Tests may run as root, whom no permission stops: these are places where nobody can write.
TEST_F(BadInput, UnwritableOutput) {
  folder_.write("file", "a regular file");
  std::filesystem::create_directory(folder_.file("folder"));
  for (const char* place : {"file/x", "missing/x", "folder", "/dev/null/x"}) {
    expect_refused("train --epochs 2 --curves " + std::string(place), {place});
    expect_refused("graph depth2 --svg " + std::string(place), {place});
    expect_refused("graph depth2 --csv " + std::string(place), {place});
  }
  for (const char* place : {"file", "file/x", "/dev/null/x", "/dev/null"}) {
    expect_refused("train --epochs 2 --save " + std::string(place), {place});
    expect_refused("train --epochs 2 --curves curves.csv --save " + std::string(place), {place});
  }
  EXPECT_EQ(folder_.read("file"), "a regular file");
}

// What a person already has stays as it is when the new one cannot be made.
TEST_F(BadInput, RefusedCommandsLeaveOldFilesAlone) {
  folder_.write("curves.csv", "precious");
  folder_.write("picture.svg", "precious");
  expect_refused("train --epochs 2 --curves curves.csv --lr -1");
  expect_refused("graph dpeth2 --svg picture.svg");
  EXPECT_EQ(folder_.read("curves.csv"), "precious");
  EXPECT_EQ(folder_.read("picture.svg"), "precious");
}

}  // namespace
}  // namespace modlab

#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/npz.h"

namespace modlab {
namespace {

using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class Readme : public test::ProgramTest {
 protected:
  // Its commands in their order, and the task that it writes.
  void SetUp() override {
    std::filesystem::copy_file(MODLAB_TEST_DIR "/../README.md", folder_.file("README.md"));
    bool in_task = false;
    std::string task;
    for (const std::string& line : lines_of(folder_.read("README.md"))) {
      if (line.starts_with("./modlab ")) {
        commands_.push_back(line);
      }
      in_task = line == "```yaml" || (in_task && line != "```");
      if (in_task && line != "```yaml") {
        task += line + "\n";
      }
    }
    folder_.write("mine.yaml", task);
    std::filesystem::copy_file(MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz", folder_.file("theirs.jsonl"));
    std::filesystem::copy_file(MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz", folder_.file("mine.npz"));
    folder_.write("use.csv", "9,1\n2,8\n");
    folder_.write("one.npz", io::encode_npz({{"layers.0.weight", {2, 2}, {0.5, 0, 0, -1}}}));
    folder_.write("other.npz", io::encode_npz({{"layers.0.weight", {2, 2}, {0.5, 0, 2, 0}}}));
  }

  // The same command with less to do.
  std::string shortened(std::string line) const {
    line = replaced(line.substr(0, line.find(" #")), "./modlab", "'" MODLAB_PROGRAM "'");
    line = replaced(replaced(line, "--preset paper", "--preset quick"), "-paper", "-quick");
    if (line.find(" train ") != std::string::npos && line.find("--from") == std::string::npos) {
      line += line.find("rules-") == std::string::npos ? " --epochs 20" : " --iterations 5 --test-samples 50";
    }
    line = replaced(line, "study run sculpt-validation", "study show sculpt-validation");
    if (line.find("study run boolean") != std::string::npos || line.find("study submit boolean") != std::string::npos) {
      line += " epochs=2 ratio=0.5 lr=0.1";
    }
    if (line.find("study run rules-") != std::string::npos) {
      line += " iterations=5 evaluate_every=5 test_samples=20 task_seed=0";
    }
    if (line.find(" mask ") != std::string::npos) {
      line = replaced(line, "--steps 10000 --mask-steps 10000", "--steps 5 --digits 1");
      line += line.find("--network") == std::string::npos ? " --mask-steps 5" : " --mask-steps 5 --epochs 20";
    }
    if (line.find("study run masks-") != std::string::npos) {
      line += " mask_steps=5 epochs=20 split_seed=40";
    }
    line = replaced(line, " --figures out", "");
    line = replaced(line, "nets/ID.safetensors", "$(ls nets/*.safetensors | head -n 1)");
    return replaced(line, "--run ID", "--run $(sed -n 2p results/boolean-quick/csv/runs.csv | cut -d , -f 1)");
  }

  Words commands_;
};

// As a new user runs them, one after the other in one folder. Those on images and on networks of PyTorch's have tests
// of their own, as has Python, and one compares with PyTorch.
TEST_F(Readme, CommandsRun) {
  EXPECT_GT(commands_.size(), 25U);
  for (const std::string& command : commands_) {
    if (command.find("mnist") != std::string::npos || command.find("data show") != std::string::npos ||
        command.find("digit") != std::string::npos || command.find("--against torch") != std::string::npos ||
        command.find(".pt ") != std::string::npos || command.starts_with("./modlab python")) {
      continue;
    }
    const std::string line = shortened(command);
    const Outcome outcome = Process({"/bin/sh", "-c", line}, folder_.path().string()).wait();
    EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.err;
    EXPECT_NE(outcome.out, "") << line;
  }
}

}  // namespace
}  // namespace modlab

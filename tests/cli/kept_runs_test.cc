// Runs of every kind must keep their names and their bits: whoever replays a row of an old table gets that row. What
// they had been stands in data/kept_runs.txt, a line each: the command, the run's id, and SHA-256 sums of what it
// trained.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "cli/program.h"
#include "core/sha256.h"
#include "core/text.h"
#include "small_images.h"

namespace modlab {
namespace {

// Behind the header of a safetensors file lie the weights.
std::string weights_of(const std::string& file) {
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof(header));
  return file.substr(sizeof(header) + header);
}

class KeptRuns : public test::ProgramTest {
 protected:
  KeptRuns() {
    test::SmallImages().write(folder_);
    test::SmallImages{.rows = 16, .columns = 16, .per_digit = 2, .name = "large"}.write(folder_);
  }

  // Id and sums as a line of the file has them, from running its command.
  std::vector<std::string> replay(const std::string& command) const {
    if (command.starts_with("sculpt")) {
      const nlohmann::json trials = json_output(command + " --save carved --replace --json")["trials"];
      return {trials[0]["id"], sha256_hex(folder_.read("carved/networks.jsonl")),
              sha256_hex(folder_.read("carved/history.jsonl"))};
    }
    if (command.starts_with("mask")) {
      const nlohmann::json run = json_output(command + " --save masks --json")["runs"][0];
      const std::string id = run["id"];
      const std::string first = run["stages"][0]["name"];
      return {id, sha256_hex(weights_of(folder_.read("masks/" + id + ".network.safetensors"))),
              sha256_hex(weights_of(folder_.read("masks/" + id + ".logits-" + first + ".safetensors")))};
    }
    const nlohmann::json runs = json_output(command + " --save nets --curves curves.csv --json")["runs"];
    const std::string id = runs[0]["id"];
    return {id, sha256_hex(weights_of(folder_.read("nets/" + id + ".safetensors"))),
            sha256_hex(folder_.read("curves.csv"))};
  }
};

TEST_F(KeptRuns, HaveTheirNamesAndBits) {
  std::ifstream file(MODLAB_TEST_DIR "/data/kept_runs.txt");
  int runs = 0;
  for (std::string line; std::getline(file, line); ++runs) {
    std::vector<std::string> parts = split_text(line, '|');
    ASSERT_EQ(parts.size(), 4U) << line;
    for (std::string& part : parts) {
      part = trim(part);
    }
    const std::vector<std::string> found = replay(parts.front());
    EXPECT_EQ(found, std::vector<std::string>(parts.begin() + 1, parts.end())) << parts.front();
  }
  EXPECT_GT(runs, 35);
}

}  // namespace
}  // namespace modlab

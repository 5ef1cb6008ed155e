#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;

class Help : public test::ProgramTest {
 protected:
  Words verbs() const {
    Words found;
    for (const std::string& line : lines_of(output({"--help"}))) {
      const Words words = words_of(line);
      if (line.starts_with("  ") && words.size() > 2 && words[0] != "modlab" && words[0] != "Try:") {
        found.push_back(words[0]);
      }
    }
    return found;
  }
  // The example lines of a verb's help.
  Words examples(const std::string& verb) const {
    Words found;
    for (const std::string& line : lines_of(output({verb, "--help"}))) {
      if (line.starts_with("  modlab ")) {
        found.push_back(line.substr(2));
      }
    }
    return found;
  }
};

TEST_F(Help, EveryVerbHasHelpWithAnExample) {
  EXPECT_EQ(verbs(), (Words{"study", "report", "export", "train", "graph", "data", "show", "measure", "sculpt",
                            "detect", "structure", "flops", "bench"}));
  for (const std::string& verb : verbs()) {
    const Outcome outcome = run({verb, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << verb << outcome.err;
    EXPECT_EQ(outcome.err, "") << verb;
    EXPECT_FALSE(examples(verb).empty()) << verb;
  }
  EXPECT_EQ(output({"help"}), output({"--help"}));
  EXPECT_EQ(output({}), output({"--help"}));
  EXPECT_TRUE(output({"--version"}).starts_with("modlab "));
}

TEST_F(Help, ExamplesRun) {
  for (const char* verb : {"train", "show", "measure", "flops", "graph", "detect"}) {
    const Words lines = examples(verb);
    ASSERT_FALSE(lines.empty()) << verb;
    for (const std::string& line : lines) {
      std::string shell_line = "'" MODLAB_PROGRAM "'" + line.substr(std::string("modlab").size());
      if (line.starts_with("modlab train")) {
        shell_line += " --epochs 2";
      }
      // By the shell, as a user would: it expands nets/*.safetensors.
      const Outcome outcome = Process({"/bin/sh", "-c", shell_line}, folder_.path().string()).wait();
      EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.err;
      EXPECT_NE(outcome.out, "") << line;
    }
  }
  EXPECT_TRUE(std::filesystem::exists(folder_.file("depth3.svg")));
}

TEST_F(Help, TrainExplainsEverySettingAndNoPublishedFlag) {
  const std::string help = output({"train", "--help"});
  for (const char* name : {"--task", "--model", "--ratio", "--split-seed", "--seed", "--lr-structural", "--tau",
                           "--pool", "--gumbel", "--threads", "--curves", "--save", "--json"}) {
    EXPECT_NE(help.find("\n  " + std::string(name) + " "), std::string::npos) << name;
  }
  EXPECT_EQ(help.find("num_shared_modules"), std::string::npos);
}

}  // namespace
}  // namespace modlab

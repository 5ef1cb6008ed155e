#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/program.h"
#include "core/text.h"

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
      if (line.starts_with("  ") && words.size() > 2 && words[0] != "modlab") {
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
                            "detect", "structure", "mask", "collapse", "overlap", "flops", "bench"}));
  for (const std::string& verb : verbs()) {
    const Outcome outcome = run({verb, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << verb << outcome.err;
    EXPECT_EQ(outcome.err, "") << verb;
    EXPECT_FALSE(examples(verb).empty()) << verb;
  }
  EXPECT_EQ(output({"help"}), output({"--help"}));
  EXPECT_EQ(output({"-h"}), output({"--help"}));
  EXPECT_EQ(output({"help", "train"}), output({"train", "--help"}));
  EXPECT_EQ(output({"detect", "-h"}), output({"detect", "--help"}));
  EXPECT_EQ(output({"train", "--model", "dense", "-h"}), output({"train", "--model", "dense", "--help"}));
  expect_refused("help trian", {"unknown verb 'trian'", "train"});
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

// The page and the help are made from the same lists; this is that they say the same.
TEST_F(Help, SaysWhatTheDocsSay) {
  const auto in_one_line = [](const std::string& text) {
    std::string line;
    for (const std::string& word : words_of(text)) {
      line += word + " ";
    }
    return line;
  };
  const std::string help = in_one_line(output({"train", "--help", "all"}));
  std::ifstream page(MODLAB_TEST_DIR "/../docs/settings.md");
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) {
      continue;
    }
    // | `tau` | `T\|none` | 2.0 | modular kinds | meaning |
    Words cells = {""};
    for (std::size_t at = 1; at < line.size(); ++at) {
      if (line[at] == '|' && line[at - 1] != '\\') {
        cells.emplace_back();
      } else if (!(line[at] == '\\' && line[at + 1] == '|')) {
        cells.back() += line[at];
      }
    }
    ASSERT_GE(cells.size(), 5U) << line;
    for (const int quoted : {0, 1}) {
      std::erase(cells[quoted], '`');
    }
    for (std::string& cell : cells) {
      cell = trim(cell);
    }
    std::ranges::replace(cells[0], '_', '-');
    const std::string models = cells[3] == "all" ? "" : "; " + cells[3];
    const std::string expected =
        in_one_line("--" + cells[0] + " " + cells[1] + " " + cells[4] + " (default " + cells[2] + models + ")");
    EXPECT_NE(help.find(expected), std::string::npos) << expected;
    ++rows;
  }
  EXPECT_GT(rows, 60);
}

TEST_F(Help, OfMasksSaysWhatMasksHave) {
  for (const char* words : {"mask --help", "mask --task depth2 --help", "mask --network modular --help",
                            "mask --task add-mul --help", "mask --task permuted-mnist --help"}) {
    const std::string text = output(words_of(words));
    for (const char* name : {"--network", "--beta", "--mask-steps", "--samples", "--exclude"}) {
      EXPECT_NE(text.find(name), std::string::npos) << words << name;
    }
    EXPECT_EQ(text.find("--model NAME"), std::string::npos) << words;
  }
  EXPECT_NE(output(words_of("mask --help")).find("--targets"), std::string::npos);
  const std::string all = output(words_of("mask --help all"));
  EXPECT_NE(all.find("--prefer-old"), std::string::npos);
  EXPECT_EQ(all.find("--edge-steps"), std::string::npos) << "which is of sculpting";
}

TEST_F(Help, DocsListAllPages) {
  const auto text_of = [](const std::filesystem::path& file) {
    return (std::ostringstream() << std::ifstream(file).rdbuf()).str();
  };
  const std::filesystem::path docs = MODLAB_TEST_DIR "/../docs";
  const std::string list = text_of(docs / "README.md");
  for (const auto& entry : std::filesystem::directory_iterator(docs)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "README.md" || list.find("(" + name + ")") != std::string::npos) << name;
  }
}

TEST_F(Help, FitsNarrowTerminals) {
  Words all = verbs();
  all.insert(all.end(), {"--help", "train --help all"});
  for (const std::string& verb : all) {
    const std::string words = verb.find("--help") == std::string::npos ? verb + " --help" : verb;
    const std::string narrow =
        Process(test::joined({MODLAB_PROGRAM}, words_of(words)), folder_.path().string(), {{"COLUMNS", "60"}})
            .wait()
            .out;
    for (const std::string& line : lines_of(narrow)) {
      EXPECT_LE(line.size(), 60U) << words << ": " << line;
    }
    // Nothing is lost: without blanks, breaks and continued lines both say the same.
    const auto letters = [](std::string text) {
      std::erase_if(text, [](unsigned char letter) { return std::isspace(letter) != 0 || letter == '\\'; });
      return text;
    };
    EXPECT_EQ(letters(narrow), letters(output(words_of(words)))) << words;
  }
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

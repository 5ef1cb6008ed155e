// Networks on images from the command line, on small files of the test's own: what `train` prints and writes, and what
// `show` and `measure` say of a saved network.

#include <gtest/gtest.h>

#include <set>

#include "cli/program.h"
#include "engine/kernels/kernels.h"
#include "small_images.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Words;
using test::words_of;

constexpr const char* kParts[] = {"train", "validation", "unseen", "seen"};

class ImageRun : public test::ProgramTest {
 protected:
  ImageRun() {
    test::SmallImages().write(folder_);
    test::SmallImages{.rows = 16, .columns = 16, .per_digit = 2, .name = "large"}.write(folder_);
  }

  static std::string files(const std::string& name = "small") {
    return " --images " + name + "-train-images," + name + "-test-images --labels " + name + "-train-labels," + name +
           "-test-labels ";
  }
  json runs(const std::string& settings, const std::map<std::string, std::string>& environment = {}) const {
    return json_output(words_of("train --task mnist-xor-and --samples 3 --test-samples 2 --json " + settings),
                       environment)["runs"];
  }
  std::string trained(const std::string& settings) const {
    return "nets/" + runs("--save nets " + settings)[0]["id"].get<std::string>() + ".safetensors";
  }
  static std::string percent(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.2f %%", value);
    return text;
  }
};

TEST_F(ImageRun, JsonHasEveryPart) {
  const json all = runs("--model dense,modular-shared --hidden 20 --image-widths 20 --seed 0..1 --epochs 2" + files());
  ASSERT_EQ(all.size(), 4U);
  for (const json& run : all) {
    EXPECT_EQ(run["images"], json({"small-train-images", "small-test-images"}));
    EXPECT_EQ(run["labels"], json({"small-train-labels", "small-test-labels"}));
    EXPECT_EQ(run.contains("image_widths"), run["model"] != "dense");
    for (const char* snapshot : {"best", "last"}) {
      EXPECT_FALSE(run[snapshot].contains("test_accuracy")) << "it is called unseen here";
      for (const std::string part : kParts) {
        const double accuracy = run[snapshot][part + "_accuracy"].get<double>();
        EXPECT_GT(accuracy, 1) << "percent, not a share";
        EXPECT_LE(accuracy, 100);
        // Whole bits of 51, 6, 7 and 51 combinations.
        const double samples = part == "train" ? 51 * 3 : part == "seen" ? 51 * 2 : part == "unseen" ? 7 * 2 : 6 * 2;
        EXPECT_NEAR(accuracy / 100 * 2 * samples, std::round(accuracy / 100 * 2 * samples), 1e-9) << part;
        EXPECT_LE(run[snapshot][part + "_row_accuracy"].get<double>(), accuracy);
        EXPECT_GT(run[snapshot][part + "_loss"].get<double>(), 0);
      }
    }
  }
}

TEST_F(ImageRun, CurvesHaveEveryPart) {
  const json all = runs("--model modular --image-widths 20 --seed 0..1 --epochs 3 --curves curves.csv" + files());
  const Words lines = lines_of(folder_.read("curves.csv"));
  EXPECT_EQ(lines[0],
            "run,id,seed,epoch,train_loss,validation_loss,unseen_loss,seen_loss,train_accuracy,validation_accuracy,"
            "unseen_accuracy,seen_accuracy,train_row_accuracy,validation_row_accuracy,unseen_row_accuracy,"
            "seen_row_accuracy");
  ASSERT_EQ(lines.size(), 1 + 2 * 3U);
  const auto cell = [&](const std::string& line, std::size_t column) {
    std::istringstream stream(line);
    std::string text;
    for (std::size_t at = 0; at <= column; ++at) {
      std::getline(stream, text, ',');
    }
    return text;
  };
  for (std::size_t run = 0; run < 2; ++run) {
    const std::string& last = lines[3 * (run + 1)];
    EXPECT_EQ(std::ranges::count(last, ','), std::ranges::count(lines[0], ','));
    EXPECT_EQ(cell(last, 0), std::to_string(run));
    EXPECT_EQ(cell(last, 1), all[run]["id"]);
    EXPECT_EQ(cell(last, 3), "3");
    EXPECT_NEAR(std::stod(cell(last, 10)), all[run]["last"]["unseen_accuracy"].get<double>(), 1e-3);
    EXPECT_NEAR(std::stod(cell(last, 11)), all[run]["last"]["seen_accuracy"].get<double>(), 1e-3);
  }
}

// Runs on bits beside runs on images have no fourth part.
TEST_F(ImageRun, TablesMayMixTasks) {
  const json printed =
      json_output(words_of("train --task mnist-xor-and,depth1 --model dense --hidden 9 --epochs 2 "
                           "--samples 1 --test-samples 1 --json --curves curves.csv" +
                           files()));
  ASSERT_EQ(printed["runs"].size(), 2U);
  EXPECT_TRUE(printed["runs"][0]["best"].contains("unseen_accuracy"));
  EXPECT_TRUE(printed["runs"][1]["best"].contains("test_accuracy"));
  EXPECT_FALSE(printed["runs"][1]["best"].contains("seen_accuracy"));
  const Words lines = lines_of(folder_.read("curves.csv"));
  ASSERT_EQ(lines.size(), 5U);
  for (const std::string& line : lines) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ',')) << line;
  }
  // A column is there if some run has it: those on images have no test part, those on bits no seen one.
  EXPECT_NE(lines[0].find(",seen_accuracy"), std::string::npos);
  EXPECT_NE(lines[0].find(",test_accuracy"), std::string::npos);
  EXPECT_TRUE(lines[1].ends_with(",,,")) << lines[1];
  EXPECT_FALSE(lines[4].ends_with(",")) << lines[4];
  EXPECT_NE(lines[4].find(",,"), std::string::npos) << lines[4];
}

TEST_F(ImageRun, TheTableSaysUnseenAndSeen) {
  const std::string table = output(words_of(
      "train --task mnist-xor-and --model dense --hidden 9 --samples 1 --test-samples 1 --epochs 1 --seed 0..1" +
      files()));
  for (const char* part : {"unseen %", "seen %", "Unseen (digit combinations in no training sample)", "2 networks"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
}

TEST_F(ImageRun, ThreadsAndInstructionSetsChangeNothing) {
  const std::string settings =
      "--model dense,modular,modular-shared --hidden 20 --image-widths 20 --seed 0..1 --epochs 2" + files();
  const json expected = runs(settings + " --threads 1");
  EXPECT_EQ(runs(settings + " --threads 2"), expected);
  for (const std::string& target : engine::supported_targets()) {
    EXPECT_EQ(runs(settings, {{"MODLAB_TARGET", target}}), expected) << target;
  }
}

TEST_F(ImageRun, CompressedFilesAreReadAsWell) {
  const json expected = runs("--model dense --hidden 9 --epochs 1" + files());
  for (const char* name : {"small-train-images", "small-test-labels"}) {
    ASSERT_EQ(test::Process({"/bin/gzip", "-f", name}, folder_.path().string()).wait().exit_code, 0);
  }
  const json found = runs(
      "--model dense --hidden 9 --epochs 1 --images small-train-images.gz,small-test-images "
      "--labels small-train-labels,small-test-labels.gz");
  EXPECT_EQ(found[0]["best"], expected[0]["best"]);
}

TEST_F(ImageRun, ShowAModularNetwork) {
  const std::string file = trained("--model modular --epochs 2 --image-widths 20" + files());
  const json run = json::parse(folder_.read(file.substr(0, file.size() - 11) + "json"));
  const std::string text = output({"show", file});
  for (const std::string& part :
       {std::string("modular on mnist-xor-and, seed 0, split 40 at ratio 0.8"),
        "train " + percent(run["best"]["train_accuracy"]) + ", validation " +
            percent(run["best"]["validation_accuracy"]) + ", unseen " + percent(run["best"]["unseen_accuracy"]) +
            ", seen " + percent(run["best"]["seen_accuracy"]),
        std::string("image slot 1 reads image "), std::string("image slot 2 reads image "),
        std::string("Edit distance to the true graph: "), std::string("What an image module says"),
        std::string("module 2: |correlation| with the digit's bits "), std::string("first digit down")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // Two modules of three outputs, a column for each digit; then eight rows of digit pairs.
  EXPECT_EQ(std::ranges::count_if(lines_of(text), [](const std::string& line) { return line.starts_with("  out "); }),
            2 * 3);
  for (const std::string& line : lines_of(text)) {
    EXPECT_FALSE(line.ends_with(' ')) << '"' << line << '"';
  }
  // Brackets for the combinations that are not trained on.
  const std::string square = text.substr(text.find("[ ] unseen"));
  EXPECT_EQ(std::ranges::count(square, '['), 1 + 7);
  EXPECT_EQ(std::ranges::count(square, '('), 1 + 6);
}

TEST_F(ImageRun, ShowAsJson) {
  const std::string file =
      trained("--model modular-shared --image-pool 2 --image-slots 3 --epochs 2 --image-widths 20" + files());
  for (const char* snapshot : {"best", "last"}) {
    const json shown = json_output({"show", file, "--json", "--snapshot", snapshot});
    EXPECT_EQ(shown["snapshot"], snapshot);
    for (const auto& [name, size] :
         {std::pair{"images", 3U}, {"members", 3U}, {"inputs", 2U}, {"modules", 2U}, {"outputs", 2U}}) {
      EXPECT_EQ(shown["routing"][name].size(), size) << name;
    }
    ASSERT_EQ(shown["modules"].size(), 2U) << "of the pool";
    std::size_t reads = 0;
    for (const json& module : shown["modules"]) {
      reads += module["reads"].size();
      EXPECT_EQ(module["means"].size(), 3U);
      EXPECT_EQ(module["means"][0].size(), 8U);
      EXPECT_GE(module["specialisation"].get<double>(), 0);
    }
    EXPECT_EQ(reads, 3U) << "each slot reads one image";
    ASSERT_EQ(shown["combinations"].size(), 64U);
    std::map<std::string, double> sums;
    std::map<std::string, int> counts;
    std::set<json> digits;
    for (const json& combination : shown["combinations"]) {
      sums[combination["part"]] += combination["accuracy"].get<double>();
      ++counts[combination["part"]];
      digits.insert(combination["digits"]);
    }
    EXPECT_EQ(digits.size(), 64U);
    EXPECT_EQ(counts, (std::map<std::string, int>{{"train", 51}, {"unseen", 7}, {"validation", 6}}));
    // The parts' accuracies are the means of their combinations; what was trained on is looked at with other images.
    const json run = json::parse(folder_.read(file.substr(0, file.size() - 11) + "json"))[snapshot];
    EXPECT_NEAR(sums["train"] / 51, run["seen_accuracy"].get<double>(), 1e-3);
    EXPECT_NEAR(sums["unseen"] / 7, run["unseen_accuracy"].get<double>(), 1e-3);
    EXPECT_NEAR(sums["validation"] / 6, run["validation_accuracy"].get<double>(), 1e-3);
    ASSERT_FALSE(shown["examples"].empty());
    for (const json& example : shown["examples"]) {
      EXPECT_EQ(example["images"].size(), 2U);
      // Here image number n shows the digit n % 8.
      for (std::size_t image = 0; image < 2; ++image) {
        EXPECT_EQ(example["images"][image].get<int>() % 8, example["digits"][image]);
      }
      EXPECT_EQ(example["truth"].size(), 2U);
      for (const json& says : example["says"]) {
        EXPECT_TRUE(says.get<double>() >= 0 && says.get<double>() <= 1);
      }
    }
  }
}

TEST_F(ImageRun, ShowAndMeasureNetworksWithoutModules) {
  for (const std::string model : {"dense --hidden 9", "sparse --hidden 20 --density 0.5", "cnn --hidden 9"}) {
    const std::string file = trained("--model " + model + " --epochs 1" + files("large"));
    EXPECT_NE(output({"show", file}).find("no routing to show"), std::string::npos);
    const json shown = json_output({"show", file, "--json"});
    EXPECT_TRUE(shown["modules"].empty());
    EXPECT_EQ(shown["combinations"].size(), 64U);
    EXPECT_FALSE(shown.contains("routing"));
    EXPECT_NE(output({"measure", file}).find("without modules"), std::string::npos);
    const json measured = json_output({"measure", file, "--json"});
    EXPECT_TRUE(measured["edit_distance"].is_null());
    EXPECT_TRUE(measured["image_specialisation"].is_null());
    EXPECT_GT(measured["flops"]["training_flops"].get<double>(), 0);
  }
}

TEST_F(ImageRun, MeasureANetworkOfKnownRouting) {
  const std::string file = trained(
      "--model modular-shared-fcms --epochs 30 --samples 20 --test-samples 5 --lr 0.003 --image-widths 64 "
      "--module-widths 30,30 --batch-size 16" +
      files());
  const json measured = json_output({"measure", file, "--json"});
  EXPECT_EQ(measured["edit_distance"], 0);
  EXPECT_GT(measured["image_specialisation"].get<double>(), 0.3);
  EXPECT_FALSE(measured.contains("specialisation")) << "means nothing on images";
  const json run = json::parse(folder_.read(file.substr(0, file.size() - 11) + "json"));
  for (const char* part : {"train_accuracy", "validation_accuracy", "unseen_accuracy", "seen_accuracy"}) {
    EXPECT_EQ(measured[part], run["best"][part]) << part;
  }
  EXPECT_FALSE(measured.contains("test_accuracy"));
  // 51 combinations of 20 samples in batches of 16: 64 updates an epoch.
  EXPECT_EQ(measured["flops_exact"]["updates"], 64 * run["best_epoch"].get<int>());
  const std::string text = output({"measure", file});
  for (const char* part : {"modular-shared-fcms on mnist-xor-and", "Edit distance to the true graph: 0\n",
                           "|correlation| of the image slots with the digits' bits: ", "the paper's count"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_GT(run["last"]["seen_accuracy"].get<double>(), 95) << "and it has learned the small images";
}

TEST_F(ImageRun, ThreeImages) {
  const std::string file = "nets/" +
                           json_output(words_of("train --task mnist-three --model modular --image-widths 9 --samples 1 "
                                                "--test-samples 1 --epochs 1 --json --save nets" +
                                                files()))["runs"][0]["id"]
                               .get<std::string>() +
                           ".safetensors";
  const std::string text = output({"show", file});
  EXPECT_NE(text.find("image slot 3 reads image "), std::string::npos) << text;
  EXPECT_EQ(text.find("first digit down"), std::string::npos) << "three digits make no square";
  EXPECT_EQ(json_output({"show", file, "--json"})["combinations"].size(), 512U);
  EXPECT_EQ(run({"measure", file}).exit_code, 0);
}

TEST_F(ImageRun, ADivergedNetworkIsShownAllTheSame) {
  const std::string file = trained("--model modular --optimizer sgd --lr 1e6 --image-widths 9 --epochs 3" + files());
  for (const char* verb : {"show", "measure"}) {
    EXPECT_EQ(run({verb, file, "--snapshot", "last"}).exit_code, 0);
    json_output({verb, file, "--snapshot", "last", "--json"});
  }
}

// A network knows which images it was trained on; without them it cannot be looked at, and says so.
TEST_F(ImageRun, ImagesThatAreGone) {
  const std::string file = trained("--model modular --image-widths 9 --epochs 1" + files());
  std::filesystem::remove(folder_.file("small-test-images"));
  for (const char* verb : {"show", "measure"}) {
    expect_refused({verb, file}, {"small-test-images"});
  }
}

}  // namespace
}  // namespace modlab

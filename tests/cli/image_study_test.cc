// A study on images from the first run to the report, on small files of the test's own; and one on MNIST itself whose
// images are gone when the report is written.

#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/sqlite.h"
#include "small_images.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Outcome;
using test::Words;
using test::words_of;

// 3 models x 2 rates x 2 seeds = 12 runs.
constexpr auto kStudy = R"(
name: digits
title: Small digits
tune: [lr]
parameters:
  task: {value: mnist-xor-and}
  images: {value: "small-train-images,small-test-images"}
  labels: {value: "small-train-labels,small-test-labels"}
  samples: {value: 3}
  test_samples: {value: 2}
  hidden: {value: "20"}
  image_widths: {value: "20"}
  epochs: {value: 3}
  lr: {values: [0.01, 0.001]}
  seed: {values: [0, 1]}
grids:
  - {series: dense, parameters: {model: {value: dense}}}
  - {series: modular, parameters: {model: {value: modular}}}
  - {series: known, parameters: {model: {value: modular-shared-fcms}}}
figures:
  - {id: F1, title: Accuracy, x: series, kind: bars, measures: [unseen_accuracy, seen_accuracy, edit_distance]}
claims:
  - id: C1
    figure: F1
    text: Networks are better than nothing.
    checks:
      - {value: known, measure: seen_accuracy, expect: greater}
)";

class ImageStudyRun : public test::ProgramTest {
 protected:
  ImageStudyRun() {
    test::SmallImages().write(folder_);
    folder_.write("digits.yaml", kStudy);
  }
  std::int64_t count(const std::string& sql) const {
    return io::Database(folder_.file("out/study.sqlite"), io::Database::Mode::kRead).integer(sql).value_or(-1);
  }
  void execute(const std::string& sql) const {
    io::Database(folder_.file("out/study.sqlite"), io::Database::Mode::kWrite).execute(sql);
  }
};

TEST_F(ImageStudyRun, FromTheFirstRunToTheReport) {
  const std::string out = output(words_of("study run digits.yaml --out out"));
  EXPECT_NE(out.find("12 of 12 runs to train"), std::string::npos) << out;
  EXPECT_NE(out.find("Report: out/report.html"), std::string::npos) << out;
  EXPECT_EQ(count("SELECT count(*) FROM blobs WHERE name LIKE 'details/%'"), 24);
  EXPECT_NE(folder_.read("out/report.html").find("Small digits"), std::string::npos);
  const json first = json_output("report out --json");
  EXPECT_EQ(first["overview"]["done"], 12);
  // Three cells of two runs each.
  ASSERT_EQ(first["gallery"].size(), 6U);
  for (const json& network : first["gallery"]) {
    EXPECT_EQ(network["images"]["combinations"].size(), 64U);
    EXPECT_EQ(network["images"]["examples"][0]["pixels"].size(), 2U);
  }
  output(words_of("export out --csv --curves --out tables"));
  const std::string runs = folder_.read("tables/runs.csv");
  EXPECT_NE(lines_of(runs)[0].find("seen_accuracy"), std::string::npos);
  EXPECT_EQ(lines_of(runs).size(), 1 + 12U);
  EXPECT_EQ(lines_of(folder_.read("tables/curves.csv")).size(), 1 + 12 * 3U);

  // As if some had never been trained: only those are, and all is as it was.
  execute("DELETE FROM runs WHERE id IN (SELECT id FROM runs ORDER BY id LIMIT 5)");
  for (const char* table : {"results", "blobs"}) {
    execute("DELETE FROM " + std::string(table) + " WHERE run NOT IN (SELECT id FROM runs)");
  }
  EXPECT_NE(output(words_of("study status out")).find("5 of 12 runs are left"), std::string::npos);
  EXPECT_NE(output(words_of("study run digits.yaml --out out --threads 1")).find("5 of 12 runs to train"),
            std::string::npos);
  EXPECT_EQ(json_output("report out --json")["gallery"], first["gallery"]);
  output(words_of("export out --csv --out again"));
  EXPECT_EQ(folder_.read("again/runs.csv"), runs);

  // Any of them is replayed by its name.
  const std::string id = first["gallery"][0]["id"];
  const json run = json_output("train --from out --run " + id + " --json")["runs"][0];
  EXPECT_EQ(run["id"], id);
  EXPECT_DOUBLE_EQ(run["best"]["unseen_accuracy"].get<double>(), first["gallery"][0]["accuracy"]["test"].get<double>());

  // A run that is refused leaves no folder, and a store as it was.
  test::SmallImages{.digits = 7, .name = "seven"}.write(folder_);
  const std::string store = folder_.read("out/study.sqlite");
  for (const std::string place : {"fresh", "out"}) {
    expect_refused("study run digits.yaml --out " + place +
                       " images=seven-train-images,seven-test-images labels=seven-train-labels,seven-test-labels",
                   {"digit"});
  }
  EXPECT_EQ(folder_.read("out/study.sqlite"), store);

  // Where the images are not, all but them is there.
  for (const char* name : {"small-train-images", "small-test-images", "small-train-labels", "digits.yaml"}) {
    ASSERT_TRUE(std::filesystem::remove(folder_.file(name)));
  }
  const json carried = json_output("report out --json");
  EXPECT_EQ(carried["figures"], first["figures"]);
  ASSERT_EQ(carried["gallery"].size(), 6U);
  EXPECT_EQ(carried["gallery"][0]["images"]["combinations"], first["gallery"][0]["images"]["combinations"]);
  EXPECT_NE(output(words_of("study status out")).find("All 12 runs are finished"), std::string::npos);
  output(words_of("export out --csv --out carried"));
  EXPECT_EQ(folder_.read("carried/runs.csv"), runs);
  expect_refused("train --from out --run " + id, {"small-train-images"});
}

// Two epochs on other images teach nothing about the paper, but every figure and every claim finds its numbers.
TEST_F(ImageStudyRun, TheBuiltInStudyRunsToItsReport) {
  test::SmallImages{.per_digit = 2, .name = "few"}.write(folder_);
  output(
      words_of("study run mnist --preset standard --out out epochs=2 seed=0 split_seed=40,41 test_samples=2 "
               "images=few-train-images,few-test-images labels=few-train-labels,few-test-labels"));
  const json data = json_output("report out --json");
  EXPECT_EQ(data["study"], "mnist");
  EXPECT_TRUE(data["overview"]["missing"].empty());
  EXPECT_FALSE(data["gallery"].empty());
  for (const json& figure : data["figures"]) {
    for (const json& measure : figure["measures"]) {
      EXPECT_TRUE(std::ranges::any_of(
          figure["rows"], [&](const json& row) { return row["values"].contains(measure["name"].get<std::string>()); }))
          << figure["id"] << " " << measure["name"];
    }
  }
  for (const json& claim : data["claims"]) {
    for (const json& check : claim["checks"]) {
      EXPECT_NE(check["verdict"], "no data") << claim["id"] << " " << check["text"];
    }
  }
}

TEST_F(ImageStudyRun, DamagedDetailsAreOneClearLine) {
  output(words_of("study run digits.yaml --out out series=known lr=0.01 seed=0"));
  for (const char* details : {"{}", R"({"modules": 7, "combinations": [], "examples": []})"}) {
    execute("UPDATE blobs SET data = '" + std::string(details) + "' WHERE name LIKE 'details/%'");
    expect_refused("report out", {"out/study.sqlite", "damaged"});
  }
  // What is no object at all says nothing.
  execute("UPDATE blobs SET data = 'what' WHERE name LIKE 'details/%'");
  EXPECT_TRUE(json_output("report out --json")["gallery"][0]["images"].is_null());
}

TEST_F(ImageStudyRun, BadImagesAreOneClearLine) {
  std::filesystem::remove(folder_.file("small-test-labels"));
  for (const char* verb : {"study run digits.yaml --out out", "study show digits.yaml"}) {
    expect_refused(verb, {"small-test-labels: cannot be read"});
  }
}

// Sizes of networks follow from the images, so a study on files of one's own needs them to be told at all.
TEST_F(ImageStudyRun, WithoutOwnImagesOnlyReplayIsRefused) {
  output(words_of("study run digits.yaml --out out series=known lr=0.01 seed=0"));
  std::filesystem::remove(folder_.file("small-train-images"));
  output(words_of("report out"));
  output(words_of("export out --csv"));
  const std::string id = folder_.read("out/csv/runs.csv").substr(folder_.read("out/csv/runs.csv").find('\n') + 1, 16);
  expect_refused("train --from out --run " + id, {"small-train-images: cannot be read"});
}

TEST_F(ImageStudyRun, WithoutMnistTheReportHasNoPixels) {
  const Outcome there = run("data show --json");
  if (there.exit_code != 0 && (there.err.find("npm cannot fetch") != std::string::npos ||
                               there.err.find("not installed") != std::string::npos)) {
    GTEST_SKIP() << there.err;
  }
  folder_.write("mnist.yaml",
                "parameters: {task: mnist-xor-and, model: modular-shared-fcms, samples: 1, test_samples: 1, "
                "epochs: 1, image_widths: '8'}\n");
  output(words_of("study run mnist.yaml --out out"));
  const auto example = [](const json& report) { return report["gallery"][0]["images"]["examples"][0]; };
  const json with = json_output("report out --json");
  ASSERT_EQ(example(with)["pixels"].size(), 2U);
  EXPECT_EQ(example(with)["pixels"][0].get<std::string>().size(), 1048U) << "784 bytes in base64";
  EXPECT_EQ(with["gallery"][0]["images"]["rows"], 28);

  // Nothing in the cache, and no npm to fetch it with.
  const Outcome outcome =
      test::Process(test::joined({"/usr/bin/env", "PATH=/nowhere", "XDG_CACHE_HOME=" + folder_.file("cache")},
                                 command(words_of("report out --json"))),
                    folder_.path().string())
          .wait();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  json without = json::parse(outcome.out);
  EXPECT_TRUE(example(without)["pixels"].empty());
  EXPECT_EQ(example(without)["says"], example(with)["says"]);
  EXPECT_EQ(without["gallery"][0]["images"]["combinations"], with["gallery"][0]["images"]["combinations"]);
  EXPECT_EQ(without["gallery"][0]["graph"], with["gallery"][0]["graph"]);
}

}  // namespace
}  // namespace modlab

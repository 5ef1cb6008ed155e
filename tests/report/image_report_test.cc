// The report of a study on images, trained on small files of the test's own.

#include <gtest/gtest.h>

#include <set>

#include "engine/kernels/kernels.h"
#include "io/idx.h"
#include "report/csv_text.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/tables.h"
#include "report/typescript_form.h"
#include "small_images.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using test::MadeUpStudy;

class ImageReport : public testing::Test {
 protected:
  ImageReport() { small_.write(images_); }

  std::string parameters(const std::string& more) const {
    const std::string before = images_.file("");
    const auto list = [](const std::vector<std::string>& names) { return "'" + names[0] + "," + names[1] + "'"; };
    return "parameters: {test_samples: 2, epochs: 3, hidden: '20', image_widths: '20', images: " +
           list(small_.images(before)) + ", labels: " + list(small_.labels(before)) + ", " + more + "}\n";
  }
  static void train(MadeUpStudy& study, studies::Keep keep = studies::Keep::kAll) {
    studies::Batch batch(studies::missing_runs(study.plan, {}), {1, &engine::kernels()}, studies::wanted_for(keep));
    batch.execute([&](auto&& finished) { study.store.add(finished); });
  }
  static ordered_json report_of(MadeUpStudy& study) {
    const studies::Findings findings = study.findings();
    return report_data(findings, studies::evaluate_claims(findings), study.store);
  }
  static void expect_form(const ordered_json& report) {
    const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
    form.expect(ordered_json::parse(report.dump()), "Report", "report");
    EXPECT_NE(page(report).find(report["title"].get<std::string>()), std::string::npos);
  }

  test::SmallImages small_;
  test::TemporaryFolder images_;
};

constexpr auto kFigure =
    "title: On images\nfigures:\n  - {id: F1, title: Lines, x: ratio, series: series, measures: [unseen_accuracy, "
    "seen_accuracy, image_specialisation, edit_distance]}\n";

TEST_F(ImageReport, HasTheFormThatThePageExpects) {
  MadeUpStudy study(kFigure + parameters("task: mnist-xor-and, samples: 3, model: [dense, modular, modular-shared], "
                                         "ratio: [0.7, 0.8], seed: [0, 1]"));
  train(study);
  const ordered_json report = report_of(study);
  expect_form(report);
  ASSERT_EQ(report["figures"][0]["rows"].size(), 2 * 3U);
  for (const ordered_json& row : report["figures"][0]["rows"]) {
    for (const char* measure : {"unseen_accuracy", "seen_accuracy"}) {
      EXPECT_TRUE(row["values"].contains(measure)) << measure;
    }
    for (const char* measure : {"image_specialisation", "edit_distance"}) {
      EXPECT_EQ(row["values"].contains(measure), row["series"] != "dense") << measure;
    }
  }
  EXPECT_EQ(report["tasks"][0]["base_rate"], 75);
}

TEST_F(ImageReport, TheGalleryShowsModulesCombinationsAndExamples) {
  MadeUpStudy study(
      parameters("task: mnist-xor-and, samples: 3, model: [dense, modular, modular-shared], image_pool: 2"));
  train(study);
  const ordered_json gallery = report_of(study)["gallery"];
  ASSERT_EQ(gallery.size(), 3U) << "also of networks without modules";
  const io::IdxArray test_images = io::read_idx(small_.images(images_.file(""))[1]);
  for (const ordered_json& network : gallery) {
    const bool is_dense = network["series"] == "dense" || network["cell"].get<std::string>().starts_with("dense");
    const ordered_json& shown = network["images"];
    ASSERT_TRUE(shown.is_object());
    EXPECT_EQ(shown["digits"], 8);
    EXPECT_EQ(shown["images"], 2);
    EXPECT_EQ(shown["rows"], 8);
    EXPECT_EQ(shown["columns"], 8);
    EXPECT_EQ(shown["outputs"].size(), 2U);
    EXPECT_EQ(shown["combinations"].size(), 64U);
    EXPECT_EQ(shown["modules"].size(), is_dense ? 0U : 2U);
    EXPECT_EQ(network["graph"].is_null(), is_dense);
    EXPECT_TRUE(network["accuracy"]["seen"].is_number());
    for (const char* part : {"train", "validation", "test", "seen"}) {
      EXPECT_EQ(network["curve"][part].size(), 3U) << part;
    }
    ASSERT_FALSE(shown["examples"].empty());
    for (const ordered_json& example : shown["examples"]) {
      ASSERT_EQ(example["pixels"].size(), 2U);
      for (const ordered_json& pixels : example["pixels"]) {
        EXPECT_EQ(pixels.get<std::string>().size(), 88U) << "64 bytes in base64";
        EXPECT_TRUE(pixels.get<std::string>().ends_with("=="));
      }
    }
  }
}

TEST_F(ImageReport, TheWiringIsDrawnFromTheImagesOn) {
  MadeUpStudy study(parameters("task: mnist-xor-and, samples: 3, model: [modular-fc, modular-shared-fcms]"));
  train(study);
  const ordered_json report = report_of(study);
  for (const ordered_json& network : report["gallery"]) {
    const ordered_json& graph = network["graph"];
    std::map<std::string, int> kinds;
    for (const ordered_json& node : graph["nodes"]) {
      ++kinds[node["kind"]];
      EXPECT_EQ(node["surplus"], false) << node;
      EXPECT_TRUE(node["kind"] != "value" || node["gate"].get<std::string>().starts_with("bit ")) << node;
      EXPECT_TRUE(node["kind"] != "module" || !node["gate"].is_null()) << node;
    }
    EXPECT_EQ(kinds, (std::map<std::string, int>{{"image", 2}, {"value", 6}, {"module", 5}, {"output", 2}}));
    EXPECT_EQ(graph["edges"].size(), 6 + 6 + 4 + 2U);
    for (const ordered_json& edge : graph["edges"]) {
      EXPECT_EQ(edge["state"], "right") << edge;
    }
    EXPECT_EQ(network["edit_distance"], 0);
  }
}

TEST_F(ImageReport, ThreeImagesAndMoreSlots) {
  MadeUpStudy study(parameters("task: mnist-three, model: modular, image_slots: 4, samples: 1"));
  train(study);
  const ordered_json report = report_of(study);
  expect_form(report);
  const ordered_json& network = report["gallery"][0];
  EXPECT_EQ(network["images"]["images"], 3);
  EXPECT_EQ(network["images"]["modules"].size(), 4U);
  EXPECT_EQ(network["images"]["combinations"].size(), 512U);
  EXPECT_EQ(network["images"]["examples"][0]["pixels"].size(), 3U);
  EXPECT_TRUE(std::ranges::any_of(network["graph"]["nodes"], [](const ordered_json& node) {
    return node["surplus"] == true;
  })) << "three values too many";
}

TEST_F(ImageReport, WithoutWeightsAndCurvesTheRestIsShown) {
  MadeUpStudy study(parameters("task: mnist-xor-and, samples: 3, model: modular"));
  train(study, studies::Keep::kResults);
  const ordered_json report = report_of(study);
  expect_form(report);
  EXPECT_EQ(report["gallery"][0]["graph"]["nodes"].size(), 2 + 6 + 5 + 2U) << "details have the wiring too";
  EXPECT_TRUE(report["gallery"][0]["curve"]["seen"].empty());
  EXPECT_EQ(report["gallery"][0]["images"]["combinations"].size(), 64U);
}

TEST_F(ImageReport, WithoutDetailsTheRestIsShown) {
  MadeUpStudy study(parameters("task: mnist-xor-and, samples: 3, model: modular"));
  train(study);
  io::Database(study.store.path(), io::Database::Mode::kWrite).execute("DELETE FROM blobs WHERE name LIKE 'details/%'");
  const ordered_json report = report_of(study);
  expect_form(report);
  EXPECT_TRUE(report["gallery"][0]["images"].is_null());
  EXPECT_TRUE(report["gallery"][0]["graph"].is_null());
  EXPECT_EQ(report["gallery"][0]["curve"]["seen"].size(), 3U);
}

TEST_F(ImageReport, TablesHaveThePartsOfImages) {
  MadeUpStudy study(parameters("task: mnist-xor-and, samples: 3, model: [dense, modular], seed: [0, 1]"));
  train(study);
  const studies::Findings findings = study.findings();
  const auto rows = test::csv_rows(runs_csv(findings));
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& row : rows) {
    const experiments::Numbers best = study.store.snapshots(row.at("id")).at("best");
    EXPECT_NEAR(std::stod(row.at("seen_accuracy")), best.at("seen_accuracy"), 1e-6);
    EXPECT_NEAR(std::stod(row.at("unseen_accuracy")), best.at("unseen_accuracy"), 1e-6);
  }
  write_curves_csv(findings, study.store, study.folder.file("curves.csv"));
  const auto curves = test::csv_rows(study.folder.read("curves.csv"));
  ASSERT_EQ(curves.size(), 4 * 3U);
  for (const auto& row : curves) {
    for (const char* part : {"train_accuracy", "validation_accuracy", "unseen_accuracy", "seen_accuracy"}) {
      const double accuracy = std::stod(row.at(part));
      EXPECT_TRUE(accuracy > 0 && accuracy <= 100) << part << " " << accuracy;
    }
  }
}

}  // namespace
}  // namespace modlab::report

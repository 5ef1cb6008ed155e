// A study on small images of the test's own: what is trained, measured, kept and gone on with.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "experiments/images/image_details.h"
#include "experiments/training/curve.h"
#include "io/compress.h"
#include "measures/image_measures.h"
#include "small_images.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using experiments::Numbers;
using nlohmann::json;
using test::MadeUpStudy;

class ImageStudy : public testing::Test {
 protected:
  ImageStudy() {
    const test::SmallImages files;
    files.write(images_);
    const auto list = [&](const std::vector<std::string>& names) { return "'" + names[0] + "," + names[1] + "'"; };
    const std::string before = images_.file("");
    text_ = "parameters:\n  task: mnist-xor-and\n  samples: 3\n  test_samples: 2\n  epochs: 4\n  hidden: '20'\n" +
            ("  image_widths: '20'\n  images: " + list(files.images(before)) + "\n  labels: ") +
            list(files.labels(before)) + "\n  model: [dense, modular, modular-shared]\n  seed: [0, 1]\n";
  }

  // As many of the runs that are left as `most`.
  static void train(MadeUpStudy& study, Keep keep = Keep::kAll, std::size_t most = 1000) {
    std::vector<experiments::Run> left = missing_runs(study.plan, study.store.finished());
    left.resize(std::min(left.size(), most));
    Batch batch(left, {2, &engine::kernels()}, wanted_for(keep));
    batch.execute([&](auto&& finished) { study.store.add(finished); });
  }
  static std::vector<float> weights(Store& store, const std::string& id, const char* snapshot, std::size_t count) {
    std::vector<float> parameters(count);
    const std::string bytes =
        io::expand(store.blob(id, std::string("weights/") + snapshot).value(), count * sizeof(float), "");
    std::memcpy(parameters.data(), bytes.data(), bytes.size());
    return parameters;
  }

  test::TemporaryFolder images_;
  std::string text_;
};

TEST_F(ImageStudy, TheStoreHasWhatEveryTrainingGave) {
  MadeUpStudy study(text_);
  ASSERT_EQ(study.plan.runs.size(), 6U);
  train(study);
  ASSERT_EQ(study.store.results("best").size(), 6U);
  for (const PlannedRun& run : study.plan.runs) {
    const auto found = study.store.snapshots(run.id());
    engine::LaneResult lane;
    engine::Progress progress;
    models::train_population(
        models::make_plan(std::vector{experiments::image_spec(run.run.values)}), 1, engine::kernels(), progress,
        [&](std::size_t, const models::ImageBlueprint&, engine::LaneResult&& trained) { lane = std::move(trained); });
    const int rows[] = {51 * 3, 6 * 2, 7 * 2, 51 * 2};
    const std::string parts[] = {"train", "validation", "unseen", "seen"};
    const std::pair<const char*, const engine::Snapshot*> snapshots[] = {{"best", &lane.best}, {"last", &lane.last}};
    for (const auto& [name, given] : snapshots) {
      const Numbers& stored = found.at(name);
      EXPECT_EQ(stored.at("best_epoch"), given->epoch);
      for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
        EXPECT_EQ(stored.at(parts[part] + "_rows"), rows[part]);
        const engine::PartScore& score = given->scores.parts[part];
        EXPECT_DOUBLE_EQ(stored.at(parts[part] + "_accuracy"), 100.0 * score.right_bits / (2 * rows[part]));
        EXPECT_DOUBLE_EQ(stored.at(parts[part] + "_row_accuracy"), 100.0 * score.right_rows / rows[part]);
        EXPECT_EQ(stored.at(parts[part] + "_loss"), score.loss);
      }
    }
    EXPECT_EQ(weights(study.store, run.id(), "best", lane.best.parameters.size()), lane.best.parameters);
    EXPECT_EQ(weights(study.store, run.id(), "last", lane.last.parameters.size()), lane.last.parameters);
    const experiments::Curve curve =
        experiments::decode_curve(study.store.blob(run.id(), "curve").value(), 4, engine::kScoreParts, "");
    for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
      for (std::size_t epoch = 0; epoch < 4; ++epoch) {
        EXPECT_EQ(curve.right_bits[part][epoch], lane.curve[epoch].parts[part].right_bits);
        EXPECT_EQ(curve.loss[part][epoch], lane.curve[epoch].parts[part].loss);
      }
    }
  }
}

TEST_F(ImageStudy, MeasuresAndDetailsAreThoseOfTheStoredNetworks) {
  MadeUpStudy study(text_);
  train(study);
  for (const PlannedRun& run : study.plan.runs) {
    const models::ImageSpec spec = experiments::image_spec(run.run.values);
    const auto suite = tasks::cached_task(spec.task);
    const models::ImageBlueprint blueprint = models::make_blueprint(spec, *suite);
    const auto snapshots = study.store.snapshots(run.id());
    for (const char* snapshot : {"best", "last"}) {
      const measures::ImageView view = measures::view_image_network(
          spec, blueprint, *suite, weights(study.store, run.id(), snapshot, blueprint.layout.count), engine::kernels());
      const Numbers& stored = snapshots.at(snapshot);
      const auto expect_same = [&](const char* name, double value) {
        EXPECT_EQ(stored.contains(name), !std::isnan(value)) << name;
        EXPECT_TRUE(std::isnan(value) || stored.at(name) == value) << name;
      };
      expect_same("edit_distance", view.measures.edit_distance);
      expect_same("image_specialisation", view.measures.image_specialisation);
      EXPECT_EQ(!stored.contains("image_specialisation"), spec.is_mlp());
      EXPECT_FALSE(stored.contains("specialisation"));
      const std::string details = study.store.blob(run.id(), std::string("details/") + snapshot).value();
      EXPECT_EQ(details, experiments::image_details(view, *suite).dump());
      const json read = json::parse(details);
      EXPECT_EQ(read["combinations"].size(), 64U);
      EXPECT_EQ(read["modules"].size(), spec.is_mlp() ? 0U : spec.has_pool() ? 1U : 2U);
      EXPECT_EQ(read["examples"].size(), 7U + 4U) << "every unseen combination, and four that were trained on";
    }
  }
}

TEST_F(ImageStudy, GoesOnWhereItStopped) {
  MadeUpStudy unbroken(text_);
  train(unbroken);
  MadeUpStudy study(text_);
  train(study, Keep::kAll, 2);
  EXPECT_EQ(study.store.finished().size(), 2U);
  EXPECT_EQ(missing_runs(study.plan, study.store.finished()).size(), 4U);
  // And once more, with nothing but a store to come back to.
  train(study, Keep::kAll, 3);
  train(study);
  EXPECT_TRUE(missing_runs(study.plan, study.store.finished()).empty());
  for (const PlannedRun& run : unbroken.plan.runs) {
    EXPECT_EQ(study.store.snapshots(run.id()), unbroken.store.snapshots(run.id()));
    for (const char* blob : {"details/best", "curve"}) {
      const std::optional<std::string> expected = unbroken.store.blob(run.id(), blob);
      EXPECT_TRUE(expected) << blob;
      EXPECT_EQ(study.store.blob(run.id(), blob), expected) << blob;
    }
  }
}

TEST_F(ImageStudy, KeepsWhatItIsAskedTo) {
  for (const Keep keep : {Keep::kResults, Keep::kCurves}) {
    MadeUpStudy study(text_);
    train(study, keep, 2);
    ASSERT_EQ(study.store.finished().size(), 2U);
    for (const std::uint64_t number : study.store.finished()) {
      const std::string id = settings::id_text(number);
      EXPECT_EQ(study.store.blob(id, "curve").has_value(), keep == Keep::kCurves);
      EXPECT_FALSE(study.store.blob(id, "weights/best"));
      EXPECT_TRUE(study.store.blob(id, "details/best")) << "which belong to the results";
    }
  }
}

TEST_F(ImageStudy, HasAnEstimate) {
  // How good it is depends on the machine's moment: bench/ and docs/performance.md tell.
  const StudyPlan plan = plan_study(parse_study(text_, "a", "a.yaml"), "");
  Batch batch(missing_runs(plan, {}), {1, &engine::kernels()}, wanted_for(Keep::kAll));
  EXPECT_GT(batch.estimate_seconds(), 0);
}

TEST_F(ImageStudy, MeasuresOfImagesAreMeasuresOfAStudy) {
  MadeUpStudy study(text_);
  train(study);
  const Findings findings = study.findings();
  for (const char* name : {"unseen_accuracy", "seen_accuracy", "unseen_gain"}) {
    ASSERT_NE(experiments::find_measure(name), nullptr) << name;
    for (const Record& record : findings.records()) {
      EXPECT_FALSE(std::isnan(record.measure(name))) << name;
    }
  }
  ASSERT_EQ(findings.records().size(), 6U);
  for (const Record& record : findings.records()) {
    EXPECT_TRUE(std::isnan(record.measure("test_accuracy"))) << "which is called unseen_accuracy here";
    // Split 40 at ratio 0.8 leaves 7 combinations, 14 bits, of which three are 1.
    EXPECT_NEAR(record.measure("unseen_accuracy") - record.measure("unseen_gain"), 100.0 * 11 / 14, 1e-9);
  }
  // Networks are at chance on unseen combinations where they are no better than that, not than on all combinations.
  for (const Cell& cell : findings.cells()) {
    EXPECT_NEAR(findings.base_rate(cell, *experiments::find_measure("unseen_accuracy")), 100.0 * 11 / 14, 1e-9);
    EXPECT_NEAR(findings.base_rate(cell, *experiments::find_measure("seen_accuracy")), 75, 1e-9);
  }
}

TEST(ImageDetails, ARoutingThatCannotBeIsRefused) {
  const auto routing = [](int image, int input, int output) {
    return nlohmann::ordered_json{{"routing",
                                   {{"images", {0, image}},
                                    {"members", json::array()},
                                    {"inputs", {{{0, 3}, {1, input}}, {{0, 1}}}},
                                    {"modules", json::array()},
                                    {"outputs", {0, output}},
                                    {"outputs_from_all_levels", false}}}};
  };
  const auto suite = tasks::cached_task("mnist-xor-and");  // two images of eight digits, two outputs
  EXPECT_TRUE(experiments::routing_of_details(routing(1, 5, 0), *suite));
  for (const auto& bad : {routing(2, 5, 0), routing(-1, 5, 0), routing(1, 6, 0), routing(1, -1, 0), routing(1, 5, 1)}) {
    EXPECT_THROW(experiments::routing_of_details(bad, *suite), FormatError);
  }
}

}  // namespace
}  // namespace modlab::studies

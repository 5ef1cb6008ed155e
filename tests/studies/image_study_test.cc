// A study on small images of the test's own: what is trained, measured, kept and gone on with.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "io/compress.h"
#include "measures/image_measures.h"
#include "small_images.h"
#include "studies/curve.h"
#include "studies/image_details.h"
#include "studies/made_up_study.h"
#include "studies/run_study.h"

namespace modlab::studies {
namespace {

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
    std::vector<models::RunSpec> left = missing_runs(study.plan, study.store.finished());
    left.resize(std::min(left.size(), most));
    engine::Progress progress;
    run_study(models::make_plan(left), keep, 2, engine::kernels(), progress, study.store);
  }
  static std::vector<float> weights(Store& store, const std::string& id, const char* snapshot, std::size_t count) {
    std::vector<float> parameters(count);
    const std::string bytes = io::expand(store.weights(id, snapshot).value(), count * sizeof(float), "");
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
  const auto results = study.store.results();
  ASSERT_EQ(results.size(), 6U);
  for (const PlannedRun& run : study.plan.runs) {
    const RunResult& result = results.at(run.id);
    engine::LaneResult lane;
    engine::Progress progress;
    models::train_population(
        models::make_plan({run.spec}), 1, engine::kernels(), progress,
        [&](std::size_t, const models::Blueprint&, engine::LaneResult&& trained) { lane = std::move(trained); });
    const int rows[] = {51 * 3, 6 * 2, 7 * 2, 51 * 2};
    EXPECT_EQ(result.rows.seen, rows[3]);
    const std::pair<const SnapshotResult*, const engine::Snapshot*> snapshots[] = {{&result.best, &lane.best},
                                                                                   {&result.last, &lane.last}};
    for (const auto& [stored, given] : snapshots) {
      EXPECT_EQ(stored->epoch, given->epoch);
      for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
        EXPECT_EQ(result.rows[part], rows[part]);
        const engine::PartScore& score = given->scores.parts[part];
        EXPECT_DOUBLE_EQ(stored->parts[part].accuracy, 100.0 * score.right_bits / (2 * rows[part]));
        EXPECT_DOUBLE_EQ(stored->parts[part].row_accuracy, 100.0 * score.right_rows / rows[part]);
        EXPECT_EQ(stored->parts[part].loss, score.loss);
      }
    }
    EXPECT_EQ(weights(study.store, run.id, "best", lane.best.parameters.size()), lane.best.parameters);
    EXPECT_EQ(weights(study.store, run.id, "last", lane.last.parameters.size()), lane.last.parameters);
    const Curve curve = decode_curve(study.store.curve(run.id).value(), 4, engine::kScoreParts, "");
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
  const auto results = study.store.results();
  for (const PlannedRun& run : study.plan.runs) {
    const tasks::TaskSuite& suite = study.plan.suite_of(run.spec);
    const models::Blueprint blueprint = models::make_blueprint(run.spec, suite);
    for (const char* snapshot : {"best", "last"}) {
      const measures::ImageView view = measures::view_image_network(
          run.spec, blueprint, suite, weights(study.store, run.id, snapshot, blueprint.layout.count),
          engine::kernels());
      const SnapshotResult& stored =
          results.at(run.id).at(snapshot == std::string("best") ? SnapshotKind::kBest : SnapshotKind::kLast);
      const auto expect_same = [](double a, double b) { EXPECT_TRUE(a == b || (a != a && b != b)) << a << " " << b; };
      expect_same(stored.measures.edit_distance, view.measures.edit_distance);
      expect_same(stored.measures.image_specialisation, view.measures.image_specialisation);
      EXPECT_EQ(std::isnan(stored.measures.image_specialisation), run.spec.is_mlp());
      EXPECT_TRUE(std::isnan(stored.measures.specialisation));
      const std::string details = study.store.details(run.id, snapshot).value();
      EXPECT_EQ(details, image_details(view, suite).dump());
      const json read = json::parse(details);
      EXPECT_EQ(read["combinations"].size(), 64U);
      EXPECT_EQ(read["modules"].size(), run.spec.is_mlp() ? 0U : run.spec.has_pool() ? 1U : 2U);
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
  const auto results = study.store.results();
  for (const auto& [id, expected] : unbroken.store.results()) {
    const RunResult& found = results.at(id);
    for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
      EXPECT_EQ(found.best.parts[part].accuracy, expected.best.parts[part].accuracy);
      EXPECT_EQ(found.last.parts[part].loss, expected.last.parts[part].loss);
    }
    EXPECT_EQ(study.store.details(id, "best"), unbroken.store.details(id, "best"));
    EXPECT_EQ(study.store.curve(id), unbroken.store.curve(id));
  }
}

TEST_F(ImageStudy, KeepsWhatItIsAskedTo) {
  for (const Keep keep : {Keep::kResults, Keep::kCurves}) {
    MadeUpStudy study(text_);
    train(study, keep, 2);
    for (const std::string& id : study.store.finished()) {
      EXPECT_EQ(study.store.curve(id).has_value(), keep == Keep::kCurves);
      EXPECT_FALSE(study.store.weights(id, "best"));
      EXPECT_TRUE(study.store.details(id, "best")) << "which belong to the results";
    }
  }
}

TEST_F(ImageStudy, HasAnEstimate) {
  // How good it is depends on the machine's moment: bench/ and docs/performance.md tell.
  const StudyPlan plan = plan_study(parse_study(text_, "a", "a.yaml"), "");
  EXPECT_GT(estimate_seconds(models::make_plan(missing_runs(plan, {})), Keep::kAll, 1, engine::kernels()), 0);
}

TEST_F(ImageStudy, MeasuresOfImagesAreMeasuresOfAStudy) {
  MadeUpStudy study(text_);
  train(study);
  const Findings findings = study.findings();
  for (const char* name : {"unseen_accuracy", "seen_accuracy", "unseen_gain"}) {
    const std::size_t measure = measure_index(name);
    for (const Record& record : findings.records()) {
      EXPECT_FALSE(std::isnan(record.values[measure])) << name;
    }
  }
  const std::size_t test = measure_index("test_accuracy");
  const std::size_t unseen = measure_index("unseen_accuracy");
  const std::size_t gain = measure_index("unseen_gain");
  for (const Record& record : findings.records()) {
    EXPECT_EQ(record.values[test], record.values[unseen]);
    // Split 40 at ratio 0.8 leaves 7 combinations, 14 bits, of which three are 1 (spec 2.4).
    EXPECT_NEAR(record.values[unseen] - record.values[gain], 100.0 * 11 / 14, 1e-9);
  }
  // Networks are at chance on unseen combinations where they are no better than that, not than on all combinations.
  for (const Cell& cell : findings.cells()) {
    EXPECT_NEAR(findings.base_rate(cell, *find_measure("unseen_accuracy")), 100.0 * 11 / 14, 1e-9);
    EXPECT_NEAR(findings.base_rate(cell, *find_measure("seen_accuracy")), 75, 1e-9);
  }
}

TEST(ImageDetails, ARoutingThatCannotBeIsRefused) {
  const auto routing = [](int image, int input, int output) {
    return nlohmann::ordered_json{{"routing",
                                   {{"images", {0, image}},
                                    {"members", json::array()},
                                    {"inputs", {{{0, 3}, {1, input}}, {{0, 1}}}},
                                    {"modules", json::array()},
                                    {"outputs", {output}},
                                    {"outputs_from_all_levels", false}}}};
  };
  const tasks::ImageInputs inputs{2, 8, 3};
  EXPECT_TRUE(routing_of_details(routing(1, 5, 0), inputs));
  for (const auto& bad : {routing(2, 5, 0), routing(-1, 5, 0), routing(1, 6, 0), routing(1, -1, 0), routing(1, 5, 1)}) {
    EXPECT_THROW(routing_of_details(bad, inputs), FormatError);
  }
}

}  // namespace
}  // namespace modlab::studies

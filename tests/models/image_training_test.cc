// Training on small images of the test's own: every kind of network and option, and the same bits whatever surrounds
// a run.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

#include "core/text.h"
#include "engine/solo/optimizer.h"
#include "models/images/image_samples.h"
#include "models/population.h"
#include "models/training_settings.h"
#include "small_images.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

using engine::LaneResult;
using engine::Part;
using models::ImageSpec;

struct Case {
  const char* name;
  const char* settings;
  int rows = 8;
  int columns = 8;
};

constexpr Case kCases[] = {
    {"dense", "model=dense"},
    {"dense_mse", "model=dense loss=mse hidden=40"},
    {"dense_odd_pixels", "model=dense hidden=40", 7, 9},
    {"dense_normalized", "model=dense hidden=40 normalize=true"},
    {"dense_normalized_odd_pixels", "model=dense hidden=40 normalize=true", 7, 9},
    {"dense_batch_above_a_chunk", "model=dense hidden=40 batch_size=200 samples=6"},
    {"dense_one_batch", "model=dense hidden=40 batch_size=100000"},
    {"dense_cosine", "model=dense hidden=40 schedule=cosine optimizer=adamw"},
    {"dense_three_images", "model=dense hidden=40 task=mnist-three samples=1 test_samples=1"},
    {"sparse", "model=sparse density=0.2 hidden=130,40"},
    {"cnn", "model=cnn", 16, 17},
    {"modular", "model=modular"},
    {"modular_sgd", "model=modular optimizer=sgd image_widths=30"},
    {"modular_exponential", "model=modular schedule=exponential gamma=0.5 image_widths=30"},
    {"modular_gumbel_batch", "model=modular gumbel=batch image_widths=30"},
    {"modular_without_hidden_layers", "model=modular image_widths=64,3"},
    {"modular_odd_pixels", "model=modular image_widths=30", 5, 5},
    {"modular_three_slots", "model=modular image_slots=3 image_widths=30"},
    {"modular_three_images", "model=modular task=mnist-three image_widths=30 samples=1 test_samples=1"},
    {"modular_conv", "model=modular image_module=conv", 16, 16},
    {"modular_fc", "model=modular-fc image_widths=30"},
    {"shared", "model=modular-shared"},
    {"shared_two_readers", "model=modular-shared image_pool=2 image_widths=30 batch_size=17"},
    {"shared_gumbel_batch", "model=modular-shared image_pool=2 gumbel=batch image_widths=30"},
    {"shared_disjoint_validation", "model=modular-shared disjoint_validation=true image_widths=30"},
    {"shared_all_combinations", "model=modular-shared ratio=1 image_widths=30 samples=2"},
    {"shared_conv", "model=modular-shared image_module=conv image_pool=2", 16, 16},
    {"shared_fcms", "model=modular-shared-fcms"},
    {"shared_fcms_diverging", "model=modular-shared-fcms optimizer=sgd lr=1e6 image_widths=30"},
};

class ImageTraining : public testing::Test {
 protected:
  // Small images of that size, and a run on them.
  ImageSpec spec_of(const std::string& settings, int rows = 8, int columns = 8) {
    const test::SmallImages files{
        .rows = rows, .columns = columns, .name = std::to_string(rows) + "x" + std::to_string(columns)};
    if (written_.insert(files.name).second) {
      files.write(folder_);
    }
    ImageSpec spec = models::published_image_spec();
    spec.task = "mnist-xor-and";
    spec.images = files.images(folder_.file(""));
    spec.labels = files.labels(folder_.file(""));
    spec.epochs = 2;
    spec.samples = 3;
    spec.test_samples = 2;
    spec.batch_size = 32;
    spec.seed = 11;
    for (const std::string& word : split_text(settings, ' ')) {
      const std::size_t equals = word.find('=');
      models::image_settings().set(spec, word.substr(0, equals), word.substr(equals + 1));
    }
    return spec;
  }

  static std::vector<LaneResult> train(const std::vector<ImageSpec>& runs, int threads = 1,
                                       const std::string& target = engine::supported_targets().front()) {
    const models::ImagePlan plan = models::make_plan(runs);
    std::vector<LaneResult> results(runs.size());
    engine::Progress progress;
    models::train_population(
        plan, threads, engine::kernels_for(target), progress,
        [&](std::size_t run, const models::ImageBlueprint&, LaneResult&& result) { results[run] = std::move(result); });
    std::int64_t epochs = 0;
    for (const ImageSpec& run : plan.runs) {
      epochs += run.epochs;
    }
    EXPECT_EQ(progress.epochs_done, epochs);
    return results;
  }

  test::TemporaryFolder folder_;
  std::set<std::string> written_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && !a.empty() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool same_bits(const LaneResult& a, const LaneResult& b) {
  return a.best.epoch == b.best.epoch && same_bits(a.best.parameters, b.best.parameters) &&
         same_bits(a.last.parameters, b.last.parameters) && a.curve.size() == b.curve.size() && !a.curve.empty() &&
         std::memcmp(a.curve.data(), b.curve.data(), a.curve.size() * sizeof(engine::Scores)) == 0;
}

class ImageKinds : public ImageTraining, public testing::WithParamInterface<Case> {
 protected:
  ImageKinds() : spec_(spec_of(GetParam().settings, GetParam().rows, GetParam().columns)) {}
  ImageSpec spec_;
};

TEST_P(ImageKinds, SameBitsOnEveryTarget) {
  const LaneResult first = train({spec_}).front();
  for (const std::string& target : engine::supported_targets()) {
    EXPECT_TRUE(same_bits(first, train({spec_}, 1, target).front())) << target;
  }
}

TEST_P(ImageKinds, AreTrainedAndScored) {
  const models::ImagePlan plan = models::make_plan(std::vector{spec_});
  const ImageSpec& spec = plan.runs.front();
  const models::PartRows rows = models::part_rows(spec, plan.suite_of(spec));
  const LaneResult result = train({spec_}).front();
  ASSERT_EQ(result.curve.size(), 2U);
  EXPECT_EQ(result.last.epoch, 2);
  const bool diverges = spec.lr > 1000;
  EXPECT_EQ(result.diverged, diverges);
  for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
    EXPECT_GT(rows[part], 0);
    for (const engine::Scores& scores : result.curve) {
      const engine::PartScore& score = scores.parts[part];
      EXPECT_LE(score.right_bits, static_cast<std::uint32_t>(rows[part] * rows.outputs));
      EXPECT_LE(2 * score.right_rows, score.right_bits);
      EXPECT_TRUE(diverges || (score.loss > 0 && std::isfinite(score.loss))) << score.loss;
    }
  }
  const engine::LaneSettings lane = models::make_lane(spec, plan.groups.front().blueprint);
  const std::vector<float>& moved = result.last.parameters;
  ASSERT_EQ(moved.size(), lane.initial.size());
  for (const engine::Tensor& tensor : plan.groups.front().blueprint.layout.tensors) {
    const auto begin = static_cast<std::ptrdiff_t>(tensor.offset);
    const bool stays =
        std::equal(moved.begin() + begin, moved.begin() + begin + static_cast<std::ptrdiff_t>(tensor.count),
                   lane.initial.begin() + begin);
    // A pool of one leaves nothing to choose; what no output depends on has weight decay to move it.
    const bool has_choice = tensor.rate != engine::Rate::kFrozen && tensor.count > 0;
    EXPECT_EQ(stays, !has_choice) << tensor.name;
  }
  for (std::size_t parameter = 0; parameter < lane.mask.size(); ++parameter) {
    ASSERT_TRUE(lane.mask[parameter] != 0 || moved[parameter] == 0);
  }
}

TEST_P(ImageKinds, PaddingStaysZero) {
  if (spec_.lr > 1000) {
    return;  // what is not a number is so everywhere
  }
  const models::ImagePlan plan = models::make_plan(std::vector{spec_});
  const ImageSpec& spec = plan.runs.front();
  const models::ImageBlueprint& blueprint = plan.groups.front().blueprint;
  const engine::Kernels<float>& kernels = engine::kernels();
  const auto network = models::make_network<float>(blueprint, engine::solo::kernels_for(kernels.target));
  const auto pixels = models::load_pixels(spec);
  const engine::solo::Data data = models::make_image_samples(spec, plan.suite_of(spec), *pixels);
  const engine::LaneSettings lane = models::make_lane(spec, blueprint);
  engine::Progress progress;
  ASSERT_EQ(engine::solo::train_solo(kernels, *network, data, blueprint.block, lane, progress).size(), 1U);
  engine::solo::Parameters<float>& parameters = network->parameters();
  const AlignedVector<float> clean = parameters.arranged(parameters.save());
  std::size_t changed = 0;
  for (std::size_t place = 0; place < clean.size(); ++place) {
    changed += clean[place] == 0 && parameters.all_values()[place] != 0 ? 1 : 0;
  }
  // Where black is not zero, an input that no image has learns too; nothing reads it.
  const bool is_odd = GetParam().rows * GetParam().columns % 2 != 0;
  EXPECT_EQ(changed, spec.normalize && is_odd ? 2U * 40 : 0U);
}

// Whether an update takes gradients from memory or has them computed piece by piece, the bits are the same.
TEST_P(ImageKinds, LateGradientsAreTheSame) {
  const models::ImagePlan plan = models::make_plan(std::vector{spec_});
  const ImageSpec& spec = plan.runs.front();
  const models::ImageBlueprint& blueprint = plan.groups.front().blueprint;
  const engine::Kernels<float>& kernels = engine::kernels();
  const auto pixels = models::load_pixels(spec);
  const engine::solo::Data data = models::make_image_samples(spec, plan.suite_of(spec), *pixels);
  const engine::LaneSettings lane = models::make_lane(spec, blueprint);
  const engine::solo::SampleList& list = data[Part::kTrain];
  const int rows = std::min(100, list.count());
  std::vector<float> saved[2];
  for (const bool late : {false, true}) {
    const auto network = models::make_network<float>(blueprint, engine::solo::kernels_for(kernels.target));
    network->parameters().load(lane.initial);
    engine::solo::Optimizer optimizer(kernels, network->parameters(), network->layout(), spec.optimizer, lane);
    const engine::solo::Step<float> step{
        .inverse_tau = static_cast<float>(lane.inverse_tau), .noise = nullptr, .late = late};
    for (int update = 0; update < 3; ++update) {
      const engine::solo::Samples samples{list.images, list.numbers.data(), rows - update};
      network->begin_step(step);
      network->forward(samples);
      AlignedVector<float> gradients(static_cast<std::size_t>(data.outputs) * engine::solo::kChunkRows);
      for (std::size_t at = 0; at < gradients.size(); ++at) {
        gradients[at] = 0.001F * static_cast<float>((at * 37 + static_cast<std::size_t>(update)) % 23) - 0.01F;
      }
      network->backward(samples, gradients.data());
      network->end_step(step);
      optimizer.update(1, late ? network->late_gradients() : std::vector<engine::solo::LateGradient<float>*>{});
    }
    saved[late ? 1 : 0] = network->parameters().save();
  }
  EXPECT_TRUE(same_bits(saved[0], saved[1]));
  EXPECT_FALSE(same_bits(saved[0], lane.initial));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ImageKinds, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(ImageTraining, AloneAndAmongOthersOnOneAndTwoThreads) {
  std::vector<ImageSpec> crowd;
  for (const char* settings :
       {"model=dense hidden=40", "model=modular image_widths=30", "model=modular-shared",
        "model=modular image_widths=30 gumbel=batch", "model=modular-shared-fcms batch_size=200"}) {
    for (const int seed : {0, 1}) {
      crowd.push_back(spec_of(settings));
      crowd.back().seed = static_cast<std::uint64_t>(seed);
      crowd.back().split_seed = 40 + static_cast<std::uint32_t>(seed);
    }
  }
  const std::vector<LaneResult> on_one = train(crowd, 1);
  const std::vector<LaneResult> on_two = train(crowd, 2);
  for (std::size_t run = 0; run < crowd.size(); ++run) {
    EXPECT_TRUE(same_bits(on_one[run], on_two[run])) << run;
    EXPECT_TRUE(same_bits(on_one[run], train({crowd[run]}).front())) << run;
    for (std::size_t other = 0; other < run; ++other) {
      EXPECT_FALSE(same_bits(on_one[run], on_one[other])) << run << " and " << other;
    }
  }
}

// A run that is stopped leaves nothing behind, and those before it stay.
TEST_F(ImageTraining, StoppedInTheMiddle) {
  std::vector<ImageSpec> runs(2, spec_of("model=modular image_widths=30"));
  runs[0].epochs = 1;
  runs[1].epochs = 10'000'000;
  const models::ImagePlan plan = models::make_plan(runs);
  engine::Progress progress;
  std::atomic<int> finished{0};
  std::thread stopper([&] {
    // The short one, and some epochs of the endless one.
    while (finished == 0 || progress.epochs_done < 4) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    progress.stop = true;
  });
  models::train_population(plan, 2, engine::kernels(), progress,
                           [&](std::size_t run, const models::ImageBlueprint&, LaneResult&& result) {
                             EXPECT_EQ(run, 0U);
                             EXPECT_EQ(result.last.epoch, 1);
                             ++finished;
                           });
  stopper.join();
  EXPECT_EQ(finished, 1);
}

TEST_F(ImageTraining, ScoresAreThoseOfTheSavedParameters) {
  const models::ImagePlan plan = models::make_plan(std::vector{spec_of("model=modular-shared epochs=4 batch_size=16")});
  const ImageSpec& spec = plan.runs.front();
  const LaneResult result = train({spec}).front();
  const auto network =
      models::make_network<float>(plan.groups.front().blueprint, engine::solo::kernels_for(engine::kernels().target));
  const auto pixels = models::load_pixels(spec);
  const engine::solo::Data data = models::make_image_samples(spec, plan.suite_of(spec), *pixels);
  for (const engine::Snapshot* snapshot : {&result.best, &result.last}) {
    network->parameters().load(snapshot->parameters);
    network->begin_evaluation();
    for (const Part part : {Part::kValidation, Part::kTest, Part::kSeen}) {
      std::vector<std::uint8_t> right;
      const engine::PartScore score = engine::solo::evaluate_samples(
          *network, engine::solo::kernels_for(engine::kernels().target), data, data[part], spec.loss, &right);
      EXPECT_EQ(score.right_bits, snapshot->scores[part].right_bits);
      EXPECT_EQ(score.right_rows, snapshot->scores[part].right_rows);
      EXPECT_EQ(score.loss, snapshot->scores[part].loss);
      EXPECT_EQ(std::accumulate(right.begin(), right.end(), 0U), score.right_bits);
      EXPECT_EQ(right.size(), static_cast<std::size_t>(data[part].count()));
    }
    EXPECT_EQ(snapshot->scores[Part::kValidation].right_bits,
              result.curve[snapshot->epoch - 1][Part::kValidation].right_bits);
  }
  for (const engine::Scores& scores : result.curve) {
    EXPECT_LE(scores[Part::kValidation].right_bits, result.best.scores[Part::kValidation].right_bits);
  }
}

// Gradient descent ends in a bad place now and then, but not six times.
TEST_F(ImageTraining, EasyImagesAreLearned) {
  std::vector<ImageSpec> runs;
  for (int seed = 0; seed < 6; ++seed) {
    runs.push_back(
        spec_of("model=modular-shared-fcms epochs=30 samples=20 lr=0.003 batch_size=16 test_samples=10 image_widths=64 "
                "module_widths=30,30"));
    runs.back().seed = static_cast<std::uint64_t>(seed);
  }
  const models::ImagePlan plan = models::make_plan(runs);
  const models::PartRows rows = models::part_rows(plan.runs.front(), plan.suite_of(plan.runs.front()));
  double seen = 0;
  double unseen = 0;
  for (const LaneResult& result : train(runs, 2)) {
    const auto accuracy = [&](Part part) {
      return 100.0 * result.best.scores[part].right_bits / (rows[static_cast<std::size_t>(part)] * rows.outputs);
    };
    seen = std::max(seen, accuracy(Part::kSeen));
    unseen = std::max(unseen, accuracy(Part::kTest));
  }
  EXPECT_GT(seen, 99);
  EXPECT_GT(unseen, 95);
}

TEST_F(ImageTraining, PartsHaveThePublishedSizes) {
  const auto rows_of = [&](const std::string& settings) {
    const models::ImagePlan plan = models::make_plan(std::vector{spec_of(settings)});
    return models::part_rows(plan.runs.front(), plan.suite_of(plan.runs.front()));
  };
  // Of 64 combinations at ratio 0.8: 51, 6 and 7; ten images of each digit.
  const models::PartRows rows = rows_of("model=dense samples=20 test_samples=5");
  EXPECT_EQ(rows.train, 51 * 20);
  EXPECT_EQ(rows.validation, 6 * 5);
  EXPECT_EQ(rows.test, 7 * 5);
  EXPECT_EQ(rows.seen, 51 * 5);
  EXPECT_EQ(rows.outputs, 2);
  EXPECT_EQ(rows_of("model=dense samples=1000").train, 51 * 100) << "all pairs there are";
  const models::PartRows all = rows_of("model=dense samples=2 test_samples=1 ratio=1");
  EXPECT_EQ(all.train, 128);
  EXPECT_EQ(all.validation, 64);
  EXPECT_EQ(all.test, 64);
  EXPECT_EQ(all.seen, 64);
}

}  // namespace
}  // namespace modlab

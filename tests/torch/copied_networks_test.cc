// Copies of our own architectures as TorchScript (tests/torch/make_task_scripts.py), begun with our initial parameters:
// they see the same samples in the same order and learn as ours do, step by step. Seed 0 leaves the order of initial
// parameters as it is.

#include <gtest/gtest.h>

#include "engine/solo/train_solo.h"
#include "methods/torch/image_training.h"
#include "methods/torch/scripted_rules.h"
#include "models/images/image_blueprint.h"
#include "models/initial_weights.h"
#include "models/population.h"
#include "models/rules/rule_settings.h"
#include "models/rules/rule_spec.h"
#include "models/training_settings.h"
#include "small_images.h"
#include "tasks/task_file.h"

namespace modlab {
namespace {

models::ScriptFile copied(const std::string& name) {
  return models::read_script_file(std::string(MODLAB_TEST_DIR) + "/torch/files/" + name + ".pt");
}

#define NEEDS_LIBTORCH_TO_COPY()                                                  \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

// Someone's network that begins with other parameters than those of its file.
class Begun : public models::ScriptedNetwork {
 public:
  Begun(models::ScriptedNetwork& network, std::vector<float> initial)
      : network_(network), initial_(std::move(initial)) {}

  const engine::Layout& layout() const override { return network_.layout(); }
  std::vector<float> initial() const override { return initial_; }
  std::vector<float> buffers() const override { return network_.buffers(); }
  void set_buffers(std::span<const float> buffers) override { network_.set_buffers(buffers); }
  double gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                  std::span<const std::uint8_t> wanted, std::span<float> gradients) override {
    return network_.gradient(parameters, batch, wanted, gradients);
  }
  int answers() const override { return network_.answers(); }
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override {
    return network_.say(parameters, rows);
  }
  void set_samples(std::shared_ptr<const models::GivenSamples> samples) override {
    network_.set_samples(std::move(samples));
  }
  const std::vector<float>& said_while_learning() const override { return network_.said_while_learning(); }
  const models::NamedGates& gates() const override { return network_.gates(); }

 private:
  models::ScriptedNetwork& network_;
  std::vector<float> initial_;
};

struct RuleCase {
  const char* name;
  const char* file;
  std::vector<std::pair<const char*, const char*>> settings;
};

void PrintTo(const RuleCase& one, std::ostream* out) { *out << one.name; }

class CopiedRules : public testing::TestWithParam<RuleCase> {};

TEST_P(CopiedRules, LearnAsOursDo) {
  NEEDS_LIBTORCH_TO_COPY();
  models::RuleSpec spec;
  for (const auto& [name, value] : GetParam().settings) {
    models::rule_settings().set(spec, name, value);
  }
  spec.model = models::RuleModel::kMonolithic;
  spec.iterations = 60;
  spec.evaluate_every = 20;
  spec.batch_size = 64;
  spec.lr = 0.01;
  spec = models::resolve(spec);
  const tasks::RuleTask task = tasks::draw_rules(spec.task);
  const engine::Kernels<float>& kernels = engine::kernels();
  models::RuleProgress progress;
  const auto ours = models::train_rules(spec, task, kernels, progress);

  models::RuleSampler sampler(task, engine::solo::kernels_for(kernels.target), spec.seed);
  models::RuleBatch batch;
  sampler.draw({.samples = 4, .length = spec.length}, batch);
  auto samples = std::make_shared<models::GivenSamples>();
  methods::fill_rule_samples(batch, spec.task, *samples);
  const auto opened = models::torch_library().open_script(copied(GetParam().file), samples, {});
  const engine::Layout layout = models::rule_layout(models::rule_shape(spec));
  ASSERT_EQ(opened->layout().count, layout.count);
  Begun network(*opened, models::initial_parameters(layout, models::Init::kTorch, spec.seed));
  methods::ScriptedRules learner(network, spec, "file");
  const models::RuleShape shape = learner.find_shape({spec.length}, task, kernels);
  EXPECT_FALSE(shape.has_modules()) << "it names no gates";
  const auto theirs = models::train_rules(spec, shape, task, kernels, learner, progress);

  ASSERT_TRUE(ours && theirs);
  ASSERT_EQ(ours->curve.size(), theirs->curve.size());
  for (std::size_t at = 0; at < ours->curve.size(); ++at) {
    const models::RulePoint& one = ours->curve[at];
    const models::RulePoint& other = theirs->curve[at];
    EXPECT_EQ(one.iteration, other.iteration);
    EXPECT_NEAR(one.curve.loss, other.curve.loss, 5e-3 * one.curve.loss) << at;
    EXPECT_NEAR(one.validation.loss, other.validation.loss, 5e-3 * one.validation.loss) << at;
    EXPECT_NEAR(one.validation.error, other.validation.error, 0.3) << at;
  }
  const double begin = ours->curve.front().curve.loss;
  EXPECT_GT(std::abs(ours->curve.back().curve.loss - begin), 0.01 * begin) << "there is something to compare";
  EXPECT_EQ(ours->best.iteration, theirs->best.iteration);
}

INSTANTIATE_TEST_SUITE_P(
    All, CopiedRules,
    testing::Values(
        RuleCase{"mlp", "rules_mlp", {{"task", "rules-mlp"}, {"width", "4"}, {"rule_skew", "1"}}},
        RuleCase{"mlp_classes", "rules_mlp", {{"task", "rules-mlp"}, {"width", "4"}, {"task_type", "classification"}}},
        RuleCase{"mlp_noise",
                 "rules_mlp",
                 {{"task", "rules-mlp"}, {"width", "4"}, {"rule_noise", "0.2"}, {"train_samples", "300"}}},
        RuleCase{"mha", "rules_mha", {{"task", "rules-mha"}, {"width", "4"}, {"length", "5"}}},
        RuleCase{"rnn", "rules_rnn", {{"task", "rules-rnn"}, {"width", "2"}, {"dim", "3"}, {"length", "5"}}}),
    [](const testing::TestParamInfo<RuleCase>& made) { return made.param.name; });

TEST(CopiedImages, LearnAsOursDo) {
  NEEDS_LIBTORCH_TO_COPY();
  const test::TemporaryFolder folder;
  test::SmallImages().write(folder);
  models::ImageSpec spec = models::published_image_spec();
  spec.task = "mnist-xor-and";
  spec.model = models::ModelKind::kDense;
  spec.hidden = {24};
  spec.images = test::SmallImages().images(folder.path().string() + "/");
  spec.labels = test::SmallImages().labels(folder.path().string() + "/");
  spec.samples = 30;
  spec.test_samples = 20;
  spec.epochs = 6;
  spec.batch_size = 100;
  const tasks::TaskSuite suite = tasks::load_task(spec.task);
  spec = models::resolve(spec, suite);
  const models::ImageBlueprint blueprint = models::make_blueprint(spec, suite);
  engine::Progress progress;
  const engine::LaneResult ours =
      models::train_one_block(std::vector{spec}, blueprint, suite, engine::kernels(), progress).front();

  for (const bool is_flat : {false, true}) {
    models::ImageBatches batches(spec, suite, is_flat);
    const std::vector<std::uint32_t> some = {0, 1, 2};
    const auto opened = models::torch_library().open_script(copied(is_flat ? "images_flat" : "images"),
                                                            batches.make(engine::Part::kTrain, some), {});
    std::vector<float> initial = models::make_lane(spec, blueprint).initial;
    ASSERT_EQ(opened->layout().count, initial.size());
    Begun network(*opened, std::move(initial));
    const methods::ImageTraining training = {.optimizer = {.lr = spec.lr, .decay = spec.weight_decay},
                                             .epochs = spec.epochs,
                                             .batch_size = spec.batch_size,
                                             .seed = spec.seed};
    const auto theirs = methods::train_images(network, batches, training, progress);
    ASSERT_TRUE(theirs);
    ASSERT_EQ(theirs->curve.size(), ours.curve.size());
    for (std::size_t at = 0; at < ours.curve.size(); ++at) {
      for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
        const engine::PartScore& one = ours.curve[at].parts[part];
        const engine::PartScore& other = theirs->curve[at].parts[part];
        EXPECT_NEAR(one.loss, other.loss, 0.01 * one.loss) << at << " " << part;
        EXPECT_NEAR(one.right_bits, other.right_bits, 0.01 * one.right_bits) << at << " " << part;
      }
    }
    EXPECT_LT(ours.curve.back()[engine::Part::kTrain].loss, 0.7 * ours.curve.front()[engine::Part::kTrain].loss);
  }
}

}  // namespace
}  // namespace modlab

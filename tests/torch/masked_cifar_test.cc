// Networks on made-up images in colour, from their training to what their masks lose without a class.

#include <gtest/gtest.h>

#include <thread>

#include "cli/program.h"
#include "experiments/torch/masked_cifar.h"
#include "io/file.h"
#include "io/npz.h"
#include "tasks/cifar_files.h"

namespace modlab {
namespace {

#define NEEDS_IMAGE_LIBRARY()                                                     \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

constexpr int kSide = 8;
constexpr int kClasses = 3;

// Images of three classes: the one whose colour is bright.
std::string made_up_images(std::size_t count) {
  io::NamedTensor inputs{"inputs", {count, 3, kSide, kSide}, {}};
  io::NamedTensor labels{"labels", {count}, {}};
  std::uint32_t noise = 1;
  for (std::size_t image = 0; image < count; ++image) {
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (int pixel = 0; pixel < kSide * kSide; ++pixel) {
        noise = noise * 1664525 + 1013904223;
        inputs.values.push_back(static_cast<float>((noise >> 24U) / 2 + (colour == image % kClasses ? 120 : 0)));
      }
    }
    labels.values.push_back(static_cast<float>(image % kClasses));
  }
  return io::encode_npz({inputs, labels});
}

class MaskedCifarTest : public test::ProgramTest {
 protected:
  MaskedCifarTest() { folder_.write("images.npz", made_up_images(150)); }

  static constexpr auto kSmall =
      " --images images.npz --batch-size 16 --mask-batch 16 --samples 2 --beta 0.01 --mask-lr 0.1 --threads 1";
  static std::string cnn() {
    return std::string("mask --task cifar10 --network cnn --channels 4,4,6,6 --steps 60 --lr 0.01 --mask-steps 30") +
           kSmall;
  }
  static std::string resnet() {
    return std::string(
               "mask --task cifar10 --network resnet --channels 4,4,4 --blocks 1 --steps 20 --lr-drops 10 "
               "--mask-steps 10") +
           kSmall;
  }
};

TEST_F(MaskedCifarTest, LosesTheClassThatIsMissing) {
  NEEDS_IMAGE_LIBRARY();
  const nlohmann::json run = json_output(cnn() + " --classes class2,class0 --cosine true --json")["runs"][0];
  ASSERT_EQ(run["stages"].size(), 3U);
  EXPECT_EQ(run["stages"][0]["name"], "all");
  EXPECT_EQ(run["stages"][1]["name"], "without class2");
  EXPECT_EQ(run["class_names"].size(), 3U);
  EXPECT_GT(run["best"]["everything"], 90);
  for (const auto& stage : run["stages"]) {
    ASSERT_EQ(stage["class_confusion"].size(), 3U);
    for (const auto& row : stage["class_confusion"]) {
      EXPECT_NEAR(row[0].get<double>() + row[1].get<double>() + row[2].get<double>(), 100, 1e-9);
    }
    EXPECT_TRUE(stage["kept"].contains("features.10.bias")) << "biases are masked";
    EXPECT_EQ(stage["kept"]["out_layer.weight"], run["stages"][0]["kept"]["out_layer.weight"])
        << "the last layer is the control's";
  }
  const double control = run["stages"][0]["class_confusion"][2][2];
  const double without = run["stages"][1]["class_confusion"][2][2];
  EXPECT_NEAR(run["best"]["target_drop_least"].get<double>(),
              std::min(control - without, run["stages"][0]["class_confusion"][0][0].get<double>() -
                                              run["stages"][2]["class_confusion"][0][0].get<double>()),
              1e-9);
  EXPECT_TRUE(run["best"].contains("cosine_5"));
  EXPECT_TRUE(run["best"].contains("drop_early"));
  EXPECT_FALSE(run["best"].contains("stability"));
}

TEST_F(MaskedCifarTest, ComparesMasksOfPairs) {
  NEEDS_IMAGE_LIBRARY();
  const nlohmann::json run = json_output(cnn() + " --masks-for pairs --pairs 2 --dropout false --json")["runs"][0];
  ASSERT_EQ(run["stages"].size(), 3U);
  EXPECT_NE(run["stages"][1]["name"].get<std::string>().find(" or "), std::string::npos);
  EXPECT_NE(run["stages"][1]["name"], run["stages"][2]["name"]);
  EXPECT_GT(run["best"]["stability"], 0);
  EXPECT_FALSE(run["best"].contains("relative_drop"));
  EXPECT_NE(run["stages"][1]["kept"], run["stages"][0]["kept"]);
}

TEST_F(MaskedCifarTest, WhatIsThereAloneIsAnotherQuestion) {
  NEEDS_IMAGE_LIBRARY();
  const nlohmann::json all = json_output(cnn() + " --classes class1 --json")["runs"][0];
  const nlohmann::json present = json_output(cnn() + " --classes class1 --loss-classes present --json")["runs"][0];
  EXPECT_EQ(all["stages"][0]["class_confusion"], present["stages"][0]["class_confusion"]);
  EXPECT_NE(all["stages"][1]["kept"], present["stages"][1]["kept"]);
}

TEST_F(MaskedCifarTest, SavesAResnetWithWhatItsNormsRemember) {
  NEEDS_IMAGE_LIBRARY();
  const std::string id =
      json_output(resnet() + " --classes class0 --save masks --json")["runs"][0]["id"].get<std::string>();
  for (const char* part : {"network", "statistics", "mask-without_class0"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "masks" / (id + "." + part + ".safetensors"))) << part;
  }
}

// Asked to stop in the midst of the weights and of the masks, and taken up again, it ends with the same numbers.
TEST_F(MaskedCifarTest, GoesOnWhereItWasStopped) {
  NEEDS_IMAGE_LIBRARY();
  for (const char* network : {"cnn", "resnet"}) {
    settings::Given given = {{"task", "cifar10"},  {"model", "masked"},
                             {"network", network}, {"steps", "80"},
                             {"mask_steps", "80"}, {"classes", "class0,class1"},
                             {"batch_size", "16"}, {"mask_batch", "16"},
                             {"samples", "2"},     {"images", folder_.file("images.npz")}};
    given["channels"] = network == std::string("cnn") ? "4,4,6,6" : "4,4,4";
    if (network == std::string("resnet")) {
      given["blocks"] = "1";
      given["lr_drops"] = "40";
    }
    const std::vector<experiments::Run> runs = {experiments::make_run(given)};
    const auto carry_out = [&](const std::string& unfinished, double until) {
      const auto work = runs[0].kind->prepare(runs, {.threads = 1, .unfinished = unfinished}, {.best_weights = true});
      std::optional<experiments::Result> result;
      std::atomic<bool> done = false;
      std::thread watcher([&] {
        while (!done && work->status(1).share < until) {
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        work->stop();
      });
      work->execute([&](std::vector<experiments::FinishedRun>&& finished) { result = finished[0].result; });
      done = true;
      watcher.join();
      return result;
    };
    const auto whole = carry_out("", 2);
    ASSERT_TRUE(whole.has_value());
    const std::string unfinished = folder_.file(std::string("unfinished-") + network);
    EXPECT_FALSE(carry_out(unfinished, 0.1).has_value()) << "among the weights";
    EXPECT_FALSE(carry_out(unfinished, 0.5).has_value()) << "among the masks";
    const auto rest = carry_out(unfinished, 2);
    ASSERT_TRUE(rest.has_value());
    EXPECT_EQ(rest->snapshots, whole->snapshots) << network;
    EXPECT_EQ(rest->blobs, whole->blobs) << network;
  }
}

TEST_F(MaskedCifarTest, RefusesWhatMakesNoSense) {
  expect_refused("mask --task cifar10 --channels 4,4", {"a CNN has 4 widths, not 2"});
  expect_refused("mask --task cifar10 --network resnet --channels 4,4,4,4", {"a ResNet has 3 widths, not 4"});
  expect_refused("mask --task cifar10 --classes cat,dgo", {"there is no class 'dgo'", "dog"});
  expect_refused("mask --task cifar10 --classes cat,cat", {"named twice"});
  expect_refused("mask --task cifar10 --network rnn", {"rnn"});
  expect_refused("mask --task cifar10 --samples 3", {"not divided by 3"});
  expect_refused("mask --task cifar10 --active-set 12", {"active_set"});
}

TEST_F(MaskedCifarTest, RefusesImagesThatAreNone) {
  folder_.write("grey.npz",
                io::encode_npz({{"inputs", {2, 1, 8, 8}, std::vector<float>(128)}, {"labels", {2}, {0, 1}}}));
  folder_.write("deep.npz",
                io::encode_npz({{"inputs", {2, 3, 8, 8}, std::vector<float>(384, 300)}, {"labels", {2}, {0, 1}}}));
  folder_.write("tall.npz",
                io::encode_npz({{"inputs", {2, 3, 8, 4}, std::vector<float>(192)}, {"labels", {2}, {0, 1}}}));
  expect_refused("mask --task cifar10 --images grey.npz", {"three colours"});
  expect_refused("mask --task cifar10 --images tall.npz", {"square"});
  expect_refused("mask --task cifar10 --images deep.npz", {"from 0 to 255"});
  expect_refused("mask --task cifar10 --images missing.npz", {"missing.npz"});
  expect_refused("mask --task cifar10 --images images.npz --classes cat", {"there are class0, class1, class2"});
  expect_refused("mask --task cifar10 --images images.npz --train-images 1", {"take more images"});
}

TEST_F(MaskedCifarTest, SaysHowToComeByTheImages) {
  const std::map<std::string, std::string> elsewhere = {{"XDG_CACHE_HOME", folder_.file("cache")}};
  const test::Outcome outcome = run(test::words_of("mask --task cifar10"), elsewhere);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("`modlab data fetch cifar10` fetches it (139 MB)"), std::string::npos) << outcome.err;
}

// Files of the right size with something else in them.
TEST_F(MaskedCifarTest, RefusesImagesThatWereNotPublished) {
  const std::filesystem::path folder = folder_.path() / "cache" / "modlab" / "cifar10";
  std::filesystem::create_directories(folder);
  for (const tasks::PublishedFile& file : tasks::kCifarFiles) {
    io::write_file((folder / file.name).string(), std::string());
    std::filesystem::resize_file(folder / file.name, file.bytes);
  }
  const test::Outcome outcome = run(test::words_of("mask --task cifar10"), {{"XDG_CACHE_HOME", folder_.file("cache")}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("data_batch_1.bin: not the data_batch_1.bin of CIFAR-10"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace modlab

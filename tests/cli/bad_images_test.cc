// What can be wrong with images, and with settings for them: one clear line, exit code 2, and no file.

#include <gtest/gtest.h>

#include "cli/program.h"
#include "io/idx.h"
#include "small_images.h"

namespace modlab {
namespace {

using test::Words;

class BadImages : public test::ProgramTest {
 protected:
  BadImages() { test::SmallImages().write(folder_); }

  // Files in the order training images, test images, training labels, test labels.
  void expect_refused_files(const Words& files, const Words& parts) const {
    const std::string settings = " --images " + files[0] + "," + files[1] + " --labels " + files[2] + "," + files[3];
    for (const char* model : {"dense", "modular", "cnn"}) {
      expect_refused("train --task mnist-xor-and --epochs 1 --curves curves.csv --save nets --model " +
                         std::string(model) + settings,
                     parts);
    }
    expect_refused("data show" + settings, parts);
  }
  // Files that are right, and settings that are not.
  void expect_refused_settings(const std::string& settings, const Words& parts) const {
    expect_refused(
        "train --task mnist-xor-and --epochs 1 --samples 2 --test-samples 1 --curves curves.csv --save nets --images "
        "small-train-images,small-test-images --labels small-train-labels,small-test-labels " +
            settings,
        parts);
  }

  const Words kFiles = {"small-train-images", "small-test-images", "small-train-labels", "small-test-labels"};
};

TEST_F(BadImages, MissingFiles) {
  for (std::size_t which = 0; which < kFiles.size(); ++which) {
    Words files = kFiles;
    files[which] = "missing/file";
    expect_refused_files(files, {"missing/file: cannot be read"});
  }
}

TEST_F(BadImages, TruncatedFiles) {
  for (std::size_t which = 0; which < kFiles.size(); ++which) {
    const std::string whole = folder_.read(kFiles[which]);
    Words files = kFiles;
    files[which] = "cut";
    for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{7}, whole.size() - 1}) {
      folder_.write("cut", whole.substr(0, length));
      expect_refused("train --task mnist-xor-and --curves curves.csv --images " + files[0] + "," + files[1] +
                         " --labels " + files[2] + "," + files[3],
                     {"cut: "});
    }
    folder_.write("cut", whole + "x");
    expect_refused_files(files, {"cut: "});
  }
}

TEST_F(BadImages, LabelsWhereImagesAreExpected) {
  expect_refused_files({kFiles[2], kFiles[3], kFiles[0], kFiles[1]}, {"small-train-labels: labels where images"});
  expect_refused_files({kFiles[0], kFiles[3], kFiles[2], kFiles[3]}, {"small-test-labels: labels where images"});
  expect_refused_files({kFiles[0], kFiles[1], kFiles[2], kFiles[1]}, {"small-test-images: images where labels"});
  folder_.write("text", "these are no images, whatever the command line says");
  expect_refused_files({"text", kFiles[1], kFiles[2], kFiles[3]}, {"text: not an IDX file"});
}

TEST_F(BadImages, FilesThatDoNotBelongTogether) {
  test::SmallImages{.per_digit = 9, .name = "fewer"}.write(folder_);
  expect_refused_files({kFiles[0], kFiles[1], "fewer-train-labels", kFiles[3]},
                       {"small-train-images: 80 images, but 72 labels in fewer-train-labels"});
  test::SmallImages{.rows = 9, .name = "higher"}.write(folder_);
  expect_refused_files({kFiles[0], "higher-test-images", kFiles[2], kFiles[3]},
                       {"small-train-images: images of 8 x 8 pixels, but of 9 x 8 in higher-test-images"});
}

TEST_F(BadImages, ImagesWithoutLabels) {
  const std::string train = "train --task mnist-xor-and --epochs 1 --curves curves.csv ";
  expect_refused(train + "--images small-train-images,small-test-images", {"labels: two files", "instead of 0"});
  expect_refused(train + "--labels small-train-labels,small-test-labels", {"images: two files", "instead of 0"});
  expect_refused(train + "--images small-train-images --labels small-train-labels,small-test-labels",
                 {"images: two files", "instead of 1"});
  expect_refused(
      train + "--images small-train-images,small-test-images,x --labels small-train-labels,small-test-labels",
      {"images: two files", "instead of 3"});
  expect_refused(train + "--images small-train-images, --labels small-train-labels,small-test-labels",
                 {"images", "a file without a name"});
}

TEST_F(BadImages, ADigitWithoutImages) {
  // All fives are called nine; first among the training images, then among the test images.
  for (const std::size_t which : {2U, 3U}) {
    io::IdxArray labels = io::read_idx(folder_.file(kFiles[which]));
    std::ranges::replace(labels.values, std::uint8_t{5}, std::uint8_t{9});
    folder_.write("labels", io::encode_idx(labels));
    Words files = kFiles;
    files[which] = "labels";
    expect_refused("train --task mnist-xor-and --model dense --epochs 1 --curves curves.csv --images " + files[0] +
                       "," + files[1] + " --labels " + files[2] + "," + files[3],
                   {which == 2 ? "training images show no 5" : "test images show no 5"});
  }
  folder_.write("ten.yaml", "images: 2\ndigits: 10\nlevels:\n  - {t: XOR a0 b0, u: AND a1 b1}\noutputs: [t, u]\n");
  expect_refused_settings("--model dense --task ten.yaml", {"images show no 8"});
}

TEST_F(BadImages, SizesThatDoNotFit) {
  expect_refused_settings("--model modular --image-widths 784,128,64,3",
                          {"image_widths 784,128,64,3 begins with 784", "8 by 8 pixels has 64"});
  expect_refused_settings("--model modular-shared --image-widths 128,3", {"begins with 128", "give 64 first"});
  expect_refused_settings("--model cnn", {"8 by 8 pixels are too small for two convolutions", "dense"});
  expect_refused_settings("--model modular --image-module conv", {"too small for two convolutions", "mlp"});
  test::SmallImages{.rows = 16, .columns = 15, .per_digit = 1, .name = "narrow"}.write(folder_);
  expect_refused(
      "train --task mnist-xor-and --model cnn --curves curves.csv --images narrow-train-images,narrow-test-images "
      "--labels narrow-train-labels,narrow-test-labels",
      {"16 by 15 pixels are too small"});
  test::SmallImages{.rows = 16, .columns = 16, .per_digit = 1, .name = "large"}.write(folder_);
  expect_refused(
      "train --task mnist-xor-and --model modular --image-module conv --image-widths 256,3 --curves curves.csv "
      "--images "
      "large-train-images,large-test-images --labels large-train-labels,large-test-labels",
      {"begins with 256", "the convolutions leave 16 numbers"});
}

TEST_F(BadImages, SettingsThatDoNotFit) {
  expect_refused_settings("--model modular-fc --image-slots 3", {"known routing needs 2 image slots", "not 3"});
  expect_refused_settings("--model modular --image-slots 1 --fan-in 4", {"fan_in is 4", "3 candidates", "image slots"});
  expect_refused_settings("--model modular --image-slots 0", {"image_slots", "'0'"});
  expect_refused_settings("--model modular --image-slots 65", {"image_slots", "'65'"});
  expect_refused_settings("--model modular-shared --image-pool 0", {"image_pool", "'0'"});
  expect_refused_settings("--model modular --image-widths 64,0,3", {"image_widths", "'0'"});
  expect_refused_settings("--model modular --image-module rnn", {"image_module", "'rnn'"});
  expect_refused_settings("--model dense --samples 0", {"samples", "'0'"});
  expect_refused_settings("--model dense --test-samples many", {"test_samples", "'many'"});
  expect_refused_settings("--model dense --normalize maybe", {"normalize", "true or false"});
  expect_refused_settings("--model dense --ratio 0.01", {"ratio"});
  expect_refused_settings("--model dense --ratio 0.99", {"ratio"});
  expect_refused_settings("--model modular --gumbel batch --tau none", {"gumbel needs a temperature"});
  test::SmallImages{.per_digit = 3, .name = "few"}.write(folder_);
  expect_refused(
      "train --task mnist-xor-and --model dense --disjoint-validation true --curves curves.csv --images "
      "few-train-images,few-test-images --labels few-train-labels,few-test-labels",
      {"only 3 of the training images show a 0"});
}

TEST_F(BadImages, TasksThatDoNotFit) {
  expect_refused("train --task depth2 --model cnn --curves curves.csv", {"model cnn reads images", "depth2", "dense"});
  expect_refused("train --modularity 2 2 3 2 2 --num_digits 9 --model mlp --curves curves.csv",
                 {"--num_digits 9", "digits: 9", "--task"});
  expect_refused("train --modularity 2 2 3 2 2 --num_digits many --model mlp --curves curves.csv",
                 {"--num_digits many"});
  const auto refused_task = [&](const std::string& text, const Words& parts) {
    folder_.write("task.yaml", text);
    expect_refused_settings("--model dense --task task.yaml", parts);
  };
  refused_task("images: 2\ndigits: 11\nlevels:\n  - {t: XOR a0 b0}\noutputs: [t]\n", {"task.yaml", "digits"});
  refused_task("images: 5\ndigits: 8\nlevels:\n  - {t: XOR a0 b0}\noutputs: [t]\n", {"task.yaml", "images"});
  refused_task("images: 2\ndigits: 8\nlevels:\n  - {t: XOR a0 c0}\noutputs: [t]\n", {"task.yaml", "c0"});
}

}  // namespace
}  // namespace modlab

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tasks/image_data.h"
#include "tasks/split.h"
#include "tasks/task.h"

namespace modlab::tasks {

// The digit combinations of an image task, as rows of its truth table: with 8 digits the pair (d1, d2) is row
// 8 d1 + d2.
struct CombinationSplit {
  std::vector<int> train;  // learned from, and tested with other images ("seen")
  std::vector<int> validation;
  std::vector<int> unseen;  // in no training or validation sample
};

// How many combinations are for training and validation; the others are unseen. With a ratio of 1 all serve for
// everything. Throws ConfigError if the ratio leaves none for one of the three.
SplitCounts count_combinations(const ImageInputs& inputs, double ratio);

// The published split: all combinations in natural order, shuffled by Python's generator, nested across
// ratios for one seed. A ratio of 1 puts all combinations into all three lists, in natural order. Throws as
// count_combinations does.
CombinationSplit split_combinations(const ImageInputs& inputs, double ratio, std::uint32_t seed);

// Images by their number in a set, first image first, and the combination of digits that they show.
struct ImageSample {
  std::array<std::uint32_t, kMaxImages> images{};
  std::uint32_t combination = 0;  // row of the truth table
};

// The four published data sets, combination by combination in the order of the split. Train and validation samples are
// images of ImageData::train, the others of ImageData::test.
struct ImageSamples {
  std::vector<ImageSample> train;
  std::vector<ImageSample> validation;
  std::vector<ImageSample> seen;
  std::vector<ImageSample> unseen;
};

struct SampleCounts {
  int train = 1000;  // for each combination; fewer where there are not so many different ones
  int test = 100;
  // Whether validation samples are made of images of their own (of each digit the last sixth) that no training sample
  // uses; as published, both draw from all training images.
  bool disjoint_validation = false;
};

// Throws ConfigError if a digit of the task has no image.
ImageSamples draw_samples(const ImageData& data, const ImageInputs& inputs, const CombinationSplit& split,
                          std::uint32_t seed, const SampleCounts& counts);

}  // namespace modlab::tasks

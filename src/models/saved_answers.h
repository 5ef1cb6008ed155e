#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/saved_snapshot.h"

// What a saved network says of inputs that someone brings along: [sample][output], logits where the answer is a bit or
// a class. Sizes are the caller's to check.
namespace modlab::models {

// `rows` are numbers of rows of the truth table. Computed as the textbook has it, in double precision.
std::vector<float> answers(const SavedSnapshot& snapshot, int task, std::span<const std::uint32_t> rows);

// What samples are made of.
struct ImageSizes {
  int images = 0;
  int rows = 0;
  int columns = 0;

  std::size_t sample() const { return static_cast<std::size_t>(images) * rows * columns; }
};
ImageSizes image_sizes(const SavedImageSnapshot& snapshot);
// `pixels` are [sample][image][row][column], bytes as in IDX files.
std::vector<float> answers(const SavedImageSnapshot& snapshot, std::span<const std::uint8_t> pixels);

// `inputs` are [sample][token][column]: data, then one column for each rule, of which the largest counts. Samples of
// sums have one token.
std::vector<float> answers(const SavedRuleSnapshot& snapshot, std::span<const float> inputs, int tokens);

}  // namespace modlab::models

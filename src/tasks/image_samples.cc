#include "tasks/image_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.h"
#include "core/python_random.h"

namespace modlab::tasks {
namespace {

using ImageList = std::vector<std::uint32_t>;

// [digit]: its images in the order of the data. Digits that the task does not use are left out.
std::vector<ImageList> images_by_digit(const ImageSet& set, const ImageInputs& inputs, const char* name) {
  std::vector<ImageList> lists(inputs.digits);
  for (std::size_t image = 0; image < set.count(); ++image) {
    if (set.labels[image] < inputs.digits) {
      lists[set.labels[image]].push_back(static_cast<std::uint32_t>(image));
    }
  }
  for (int digit = 0; digit < inputs.digits; ++digit) {
    if (lists[digit].empty()) {
      throw ConfigError(
          fmt::format("the {} images show no {}, but the task needs every digit from 0 to {}; use other image files or "
                      "a task with fewer digits",
                      name, digit, inputs.digits - 1));
    }
  }
  return lists;
}

// Moves the last sixth of each list out of it.
std::vector<ImageList> split_off_validation(std::vector<ImageList>& lists) {
  constexpr std::size_t kShare = 6;
  std::vector<ImageList> validation;
  for (std::size_t digit = 0; digit < lists.size(); ++digit) {
    ImageList& images = lists[digit];
    const std::size_t count = images.size() / kShare;
    if (count == 0) {
      throw ConfigError(
          fmt::format("only {} of the training images show a {}, too few for validation images of their own; use at "
                      "least {} of each digit or let validation share the training images",
                      images.size(), digit, kShare));
    }
    validation.emplace_back(images.end() - static_cast<std::ptrdiff_t>(count), images.end());
    images.resize(images.size() - count);
  }
  return validation;
}

std::uint64_t count_candidates(const std::vector<int>& digits, const std::vector<ImageList>& lists) {
  std::uint64_t candidates = 1;
  for (const int digit : digits) {
    if (candidates > std::numeric_limits<std::uint64_t>::max() / lists[digit].size()) {
      throw ConfigError(
          fmt::format("{} images have more combinations than can be counted; use smaller image files or a task with "
                      "fewer images",
                      digits.size()));
    }
    candidates *= lists[digit].size();
  }
  return candidates;
}

// One of the four sets: for each combination different tuples of images, drawn in its order.
std::vector<ImageSample> draw_set(const std::vector<ImageList>& lists, const ImageInputs& inputs,
                                  const std::vector<int>& combinations, std::uint32_t seed, int count) {
  PythonRandom random(seed);
  std::vector<ImageSample> samples;
  for (const int combination : combinations) {
    const std::vector<int> digits = digits_of(inputs, combination);
    const std::uint64_t candidates = count_candidates(digits, lists);
    for (std::uint64_t rest : random.sample(candidates, std::min<std::uint64_t>(count, candidates))) {
      ImageSample& sample = samples.emplace_back();
      sample.combination = static_cast<std::uint32_t>(combination);
      for (int image = inputs.images; image-- > 0;) {
        const ImageList& list = lists[digits[image]];
        sample.images[image] = list[rest % list.size()];
        rest /= list.size();
      }
    }
  }
  return samples;
}

}  // namespace

SplitCounts count_combinations(const ImageInputs& inputs, double ratio) {
  const double count = std::pow(inputs.digits, inputs.images);
  const auto all = static_cast<std::ptrdiff_t>(count);
  if (ratio >= 1) {
    return {all, all};
  }
  // Written so that NaN fails too.
  const bool in_range = ratio > 0;
  const auto train = in_range ? static_cast<std::ptrdiff_t>(count * ratio) : 0;
  const std::ptrdiff_t validation = (all - train) / 2;
  if (train == 0 || validation == 0) {
    const char* what = !in_range    ? "is not above 0"
                       : train == 0 ? "leaves no combination to learn from"
                                    : "leaves no combination to validate with";
    throw ConfigError(fmt::format(
        "ratio {} {}, of {} digit combinations; use 1, where all serve for everything, or from {} to just below {}",
        ratio, what, all, 1 / count, (count - 1) / count));
  }
  return {train, validation};
}

CombinationSplit split_combinations(const ImageInputs& inputs, double ratio, std::uint32_t seed) {
  const SplitCounts counts = count_combinations(inputs, ratio);
  std::vector<int> rows = combination_rows(inputs);
  if (ratio >= 1) {
    return {rows, rows, rows};
  }
  PythonRandom(seed).shuffle(rows);
  const auto train_end = rows.begin() + counts.train;
  const auto validation_end = train_end + counts.validation;
  return {{rows.begin(), train_end}, {train_end, validation_end}, {validation_end, rows.end()}};
}

ImageSamples draw_samples(const ImageData& data, const ImageInputs& inputs, const CombinationSplit& split,
                          std::uint32_t seed, const SampleCounts& counts) {
  if (counts.train < 1 || counts.test < 1) {
    throw ConfigError(fmt::format("{} training and {} test samples of each digit combination; use at least 1 of each",
                                  counts.train, counts.test));
  }
  std::vector<ImageList> train = images_by_digit(data.train, inputs, "training");
  const std::vector<ImageList> test = images_by_digit(data.test, inputs, "test");
  const std::vector<ImageList> validation = counts.disjoint_validation ? split_off_validation(train) : train;
  // Each set has a generator of its own with the same seed, so that none depends on the size of another.
  return {draw_set(train, inputs, split.train, seed, counts.train),
          draw_set(validation, inputs, split.validation, seed, counts.test),
          draw_set(test, inputs, split.train, seed, counts.test),
          draw_set(test, inputs, split.unseen, seed, counts.test)};
}

}  // namespace modlab::tasks

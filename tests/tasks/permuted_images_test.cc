#include "tasks/permuted_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/errors.h"

namespace modlab::tasks {
namespace {

// Images of four pixels, whose first is the number of the image and whose others are 0.
std::shared_ptr<ImageData> numbered_images(std::size_t count) {
  auto data = std::make_shared<ImageData>();
  data->train.rows = data->train.columns = 2;
  for (std::size_t image = 0; image < count; ++image) {
    data->train.pixels.insert(data->train.pixels.end(), {static_cast<std::uint8_t>(image % 256), 0, 0, 0});
    data->train.labels.push_back(static_cast<std::uint8_t>(image % 10));
  }
  return data;
}

// numpy.random.RandomState(0xC1CAFA52).rand(60000) > 0.2.
TEST(PermutedImages, SplitAsPublished) {
  const PermutedImages images = permuted_images(numbered_images(60'000));
  EXPECT_EQ(images.train.size(), 48'017U);
  EXPECT_EQ(images.test.size(), 11'983U);
  EXPECT_EQ(std::vector(images.test.begin(), images.test.begin() + 4), (std::vector<std::uint32_t>{3, 5, 7, 14}));
  std::vector<std::uint32_t> all = images.train;
  all.insert(all.end(), images.test.begin(), images.test.end());
  std::ranges::sort(all);
  std::vector<std::uint32_t> expected(60'000);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(all, expected);
}

TEST(PermutedImages, PixelsHaveMeanZeroAndVarianceOne) {
  const PermutedImages images = permuted_images(numbered_images(1000));
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t pixel : images.data->train.pixels) {
    const auto value = static_cast<double>(images.shades[pixel]);
    sum += value;
    squares += value * value;
  }
  const auto pixels = static_cast<double>(images.data->train.pixels.size());
  EXPECT_NEAR(sum / pixels, 0, 1e-6);
  EXPECT_NEAR(squares / pixels, 1, 1e-6);
}

TEST(PermutedImages, OrdersOfPixels) {
  std::vector<std::uint32_t> as_it_was(784);
  std::iota(as_it_was.begin(), as_it_was.end(), 0U);
  EXPECT_EQ(pixel_order(784, 0), as_it_was);
  const std::vector<std::uint32_t> first = pixel_order(784, 1);
  // numpy.random.RandomState(1).permutation(784).
  EXPECT_EQ(std::vector(first.begin(), first.begin() + 6), (std::vector<std::uint32_t>{649, 265, 111, 301, 339, 559}));
  EXPECT_NE(first, pixel_order(784, 2));
  std::vector<std::uint32_t> sorted = first;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, as_it_was);
}

TEST(PermutedImages, RefusesWhatCannotBeLearned) {
  auto data = numbered_images(40);
  data->train.labels[7] = 10;
  EXPECT_THROW(permuted_images(data), ConfigError);
  data = numbered_images(40);
  std::ranges::fill(data->train.pixels, std::uint8_t{9});
  EXPECT_THROW(permuted_images(data), ConfigError);
  EXPECT_THROW(permuted_images(numbered_images(2)), ConfigError) << "both are to be learned from";
}

}  // namespace
}  // namespace modlab::tasks

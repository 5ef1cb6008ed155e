#include "experiments/training/curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.h"
#include "io/compress.h"

namespace modlab::experiments {
namespace {

// Bits that go up and down, losses of their own.
std::vector<engine::Scores> some_curve(int epochs) {
  std::vector<engine::Scores> curve(static_cast<std::size_t>(epochs));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint32_t part = 0; part < engine::kScoreParts; ++part) {
      engine::PartScore& score = curve[static_cast<std::size_t>(epoch)].parts[part];
      score.right_bits = 40 * part + static_cast<std::uint32_t>(epoch * 37 % 23);
      score.loss = 1.0F / static_cast<float>(1 + epoch + static_cast<int>(part) * 1000);
    }
  }
  return curve;
}

TEST(Curve, GivesBackWhatWentIn) {
  for (const int epochs : {1, 2, 20, 39, 40, 41, 100, 1000}) {
    // On images there is a fourth part.
    for (const std::size_t parts : {std::size_t{engine::kParts}, engine::kScoreParts}) {
      const std::vector<engine::Scores> given = some_curve(epochs);
      const Curve curve = decode_curve(encode_curve(given, parts), epochs, parts, "");
      EXPECT_EQ(curve.loss_epochs, loss_epochs(epochs));
      ASSERT_EQ(curve.right_bits.size(), parts);
      ASSERT_EQ(curve.loss.size(), parts);
      for (std::size_t part = 0; part < parts; ++part) {
        ASSERT_EQ(curve.right_bits[part].size(), given.size());
        ASSERT_EQ(curve.loss[part].size(), curve.loss_epochs.size());
        for (std::size_t epoch = 0; epoch < given.size(); ++epoch) {
          EXPECT_EQ(curve.right_bits[part][epoch], given[epoch].parts[part].right_bits) << epochs << " " << epoch;
        }
        for (std::size_t at = 0; at < curve.loss_epochs.size(); ++at) {
          const auto epoch = static_cast<std::size_t>(curve.loss_epochs[at]) - 1;
          EXPECT_EQ(curve.loss[part][at], given[epoch].parts[part].loss) << epochs << " " << epoch;
        }
      }
    }
  }
}

TEST(Curve, LossesThatAreNoNumbers) {
  std::vector<engine::Scores> given = some_curve(3);
  given[1].parts[2].loss = NAN;
  given[2].parts[0].loss = INFINITY;
  const Curve curve = decode_curve(encode_curve(given, engine::kParts), 3, engine::kParts, "");
  EXPECT_TRUE(std::isnan(curve.loss[2][1]));
  EXPECT_EQ(curve.loss[0][2], INFINITY);
}

TEST(Curve, BytesAsDocumented) {
  // docs/formats.md: differences of right bits by part, then losses by part, little-endian, in a zlib stream.
  std::vector<engine::Scores> given(2);
  for (std::uint32_t part = 0; part < engine::kParts; ++part) {
    given[0].parts[part] = {0.5F, 10 + part, 0};
    given[1].parts[part] = {0.25F, 9, 0};
  }
  const std::string bytes = io::expand(encode_curve(given, engine::kParts), 3 * 4 * 2 + 3 * 4 * 2, "");
  const std::string expected(
      "\x0a\0\0\0\xff\xff\xff\xff"
      "\x0b\0\0\0\xfe\xff\xff\xff"
      "\x0c\0\0\0\xfd\xff\xff\xff"
      "\0\0\0\x3f\0\0\x80\x3e"
      "\0\0\0\x3f\0\0\x80\x3e"
      "\0\0\0\x3f\0\0\x80\x3e",
      48);
  EXPECT_EQ(bytes, expected);
}

TEST(Curve, LossEpochs) {
  EXPECT_EQ(loss_epochs(1), std::vector<int>{1});
  EXPECT_EQ(loss_epochs(3), (std::vector<int>{1, 2, 3}));
  // Up to 40 each one, then 40 + 40/20 = 42, 44, ... , 58, 60 + 3 = 63.
  const std::vector<int> all = loss_epochs(1000);
  for (int epoch = 1; epoch <= 40; ++epoch) {
    EXPECT_EQ(all[static_cast<std::size_t>(epoch) - 1], epoch);
  }
  EXPECT_EQ(all[40], 42);
  EXPECT_EQ(all[50], 63);
  EXPECT_EQ(all.back(), 1000);
  EXPECT_LT(all[all.size() - 2], 1000);
  EXPECT_LT(all.size(), 120U);
  for (std::size_t at = 1; at < all.size(); ++at) {
    EXPECT_GT(all[at], all[at - 1]);
    EXPECT_LE(all[at] - all[at - 1], std::max(1, all[at - 1] / 20));
  }
}

TEST(Curve, DamageIsRefused) {
  const std::string stream = encode_curve(some_curve(100), engine::kParts);
  const auto expect_refused = [](const std::string& bytes, int epochs, std::size_t parts = engine::kParts) {
    try {
      decode_curve(bytes, epochs, parts, "dir/study.sqlite");
      ADD_FAILURE() << "was taken";
    } catch (const FormatError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("dir/study.sqlite: ")) << error.what();
    }
  };
  expect_refused(stream, 99);
  expect_refused(stream, 101);
  expect_refused(stream, 100, engine::kScoreParts);
  expect_refused("", 100);
  expect_refused(stream.substr(0, stream.size() - 1), 100);
  std::string damaged = stream;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  expect_refused(damaged, 100);
}

}  // namespace
}  // namespace modlab::experiments

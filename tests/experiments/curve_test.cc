#include "experiments/training/curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.h"
#include "experiments/training/training_text.h"
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
      EXPECT_EQ(curve.epochs, engine::curve_epochs(epochs));
      EXPECT_EQ(curve.loss_epochs.size(), loss_points(given.size()).size());
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

TEST(Curve, LossPoints) {
  using Points = std::vector<std::size_t>;
  EXPECT_EQ(loss_points(1), Points{1});
  EXPECT_EQ(loss_points(3), (Points{1, 2, 3}));
  // Up to 40 each one, then 40 + 40/20 = 42, 44, ... , 58, 60 + 3 = 63.
  const Points all = loss_points(1000);
  for (std::size_t point = 1; point <= 40; ++point) {
    EXPECT_EQ(all[point - 1], point);
  }
  EXPECT_EQ(all[40], 42U);
  EXPECT_EQ(all[50], 63U);
  EXPECT_EQ(all.back(), 1000U);
  EXPECT_LT(all[all.size() - 2], 1000U);
  EXPECT_LT(all.size(), 120U);
  for (std::size_t at = 1; at < all.size(); ++at) {
    EXPECT_GT(all[at], all[at - 1]);
    EXPECT_LE(all[at] - all[at - 1], std::max<std::size_t>(1, all[at - 1] / 20));
  }
}

TEST(Curve, OfALongTrainingHasFewerPoints) {
  constexpr int kEpochs = 10'000;
  const std::vector<int> kept = engine::curve_epochs(kEpochs);
  ASSERT_LT(kept.size(), 6500U);
  const std::vector<engine::Scores> every = some_curve(kEpochs);
  std::vector<engine::Scores> given;
  for (const int epoch : kept) {
    given.push_back(every[static_cast<std::size_t>(epoch) - 1]);
  }
  const Curve thinned = decode_curve(encode_curve(given, engine::kParts), kEpochs, engine::kParts, "");
  EXPECT_EQ(thinned.epochs, kept);
  EXPECT_EQ(thinned.loss_epochs.back(), kEpochs);
  // A store of an earlier version has them all.
  const Curve whole = decode_curve(encode_curve(every, engine::kParts), kEpochs, engine::kParts, "");
  ASSERT_EQ(whole.epochs.size(), every.size());
  EXPECT_EQ(whole.epochs.back(), kEpochs);
  for (std::size_t point = 0; point < kept.size(); ++point) {
    const auto epoch = static_cast<std::size_t>(kept[point]) - 1;
    EXPECT_EQ(thinned.right_bits[2][point], every[epoch].parts[2].right_bits);
    EXPECT_EQ(whole.right_bits[2][epoch], every[epoch].parts[2].right_bits);
  }
  EXPECT_THROW(decode_curve(encode_curve(some_curve(kEpochs - 1), engine::kParts), kEpochs, engine::kParts, ""),
               FormatError);
}

TEST(Curve, TablesHaveALineForTheBestEpoch) {
  constexpr int kEpochs = 5000;
  constexpr int kBest = 4001;  // between two points
  engine::LaneResult lane;
  lane.last.epoch = kEpochs;
  lane.best.epoch = kBest;
  lane.best.scores.parts[1] = {0.5F, 8, 8};
  lane.curve.resize(engine::curve_epochs(kEpochs).size());
  const models::PartRows rows{.train = 8, .validation = 8, .test = 8, .outputs = 1};
  const std::string table = epoch_table(lane, rows);
  EXPECT_NE(table.find("\n4000,"), std::string::npos);
  EXPECT_NE(table.find("\n4001,0,0.5,0,0,100,0,0,100,0\n4002,"), std::string::npos);

  const experiments::Run run = make_run({{"task", "depth1"}, {"model", "dense"}, {"epochs", std::to_string(kEpochs)}});
  Numbers best = {{"best_epoch", kBest}, {"train_rows", 8}, {"validation_rows", 8}, {"test_rows", 8}};
  best.insert({{"train_accuracy", 25}, {"validation_accuracy", 100}, {"test_accuracy", 50}});
  const std::string stored =
      stored_curve_csv(run, {{"best", best}}, encode_curve(lane.curve, engine::kParts), engine::kParts, "test", "");
  EXPECT_NE(stored.find("\n4000,0,0,0\n4001,25,100,50\n4002,0,0,0\n"), std::string::npos);
  // Where the curve has it already, it stands there once.
  best["best_epoch"] = 4000;
  EXPECT_NE(
      stored_curve_csv(run, {{"best", best}}, encode_curve(lane.curve, engine::kParts), engine::kParts, "test", "")
          .find("\n4000,0,0,0\n4002,0,0,0\n"),
      std::string::npos);
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

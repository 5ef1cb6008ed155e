#include "io/png.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "png_bytes.h"

namespace modlab {
namespace {

using io::decode_png;

using test::png;
using test::png_chunk;

std::string mistake(const std::string& bytes) {
  try {
    decode_png(bytes, 100, "x.png");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

// Two pixels a row. The second row is the first one plus 1 each, by every filter in turn.
TEST(Png, UndoesEveryFilter) {
  const std::string first = {0, 10, 20, 30, 40, 50, 60};
  const std::string pixels = {10, 20, 30, 40, 50, 60, 11, 21, 31, 41, 51, 61};
  const std::vector<std::string> second = {
      {0, 11, 21, 31, 41, 51, 61},  // as it is
      {1, 11, 21, 31, 30, 30, 30},  // from the left
      {2, 1, 1, 1, 1, 1, 1},        // from above
      {3, 6, 11, 16, 16, 16, 16},   // from the mean of both
      {4, 1, 1, 1, 1, 1, 1},        // from the nearest: what is left of the corner is above
  };
  for (const std::string& row : second) {
    const io::PngImage image = decode_png(png(2, 2, first + row), 4, "x.png");
    EXPECT_EQ(image.width, 2U);
    EXPECT_EQ(image.height, 2U);
    EXPECT_EQ(image.pixels, pixels) << "filter " << static_cast<int>(row[0]);
  }
}

TEST(Png, MistakesAreSaid) {
  const std::string good = png(2, 1, {0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(mistake(good), "");
  EXPECT_NE(mistake("GIF89a").find("x.png: not a PNG image"), std::string::npos);
  EXPECT_NE(mistake(good.substr(0, good.size() - 5)).find("ends in the middle"), std::string::npos);
  std::string flipped = good;
  flipped[good.size() - 14] ^= 1;  // within the pixels' checksum
  EXPECT_NE(mistake(flipped).find("damaged"), std::string::npos);
  EXPECT_NE(mistake(png(2, 1, {0, 1, 2, 3, 4, 5, 6}, 6)).find("a kind of PNG that is not read here"),
            std::string::npos);
  EXPECT_NE(mistake(png(2, 1, {5, 1, 2, 3, 4, 5, 6})).find("damaged"), std::string::npos) << "no such filter";
  EXPECT_NE(mistake(png(2, 2, {0, 1, 2, 3, 4, 5, 6})).find("damaged"), std::string::npos) << "a row is missing";
  EXPECT_NE(mistake(png(2, 1, {0, 1, 2, 3, 4, 5, 6, 7})).find("expands to more"), std::string::npos);
  EXPECT_NE(mistake(png(0, 1, "")).find("has 0 x 1 pixels"), std::string::npos);
  EXPECT_NE(mistake(png(0xffffffff, 0xffffffff, "")).find("and may have 100"), std::string::npos);
  EXPECT_NE(mistake("\x89PNG\r\n\x1a\n" + png_chunk("IEND", "")).find("x.png"), std::string::npos) << "no header";
}

}  // namespace
}  // namespace modlab

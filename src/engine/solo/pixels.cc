#include "engine/solo/pixels.h"

namespace modlab::engine::solo {
namespace {

constexpr float kMnistMean = 0.1307F;
constexpr float kMnistDeviation = 0.3081F;

}  // namespace

PixelImages make_pixel_images(std::span<const std::uint8_t> bytes, int pixels, bool normalized) {
  PixelImages images;
  images.pixels = pixels + pixels % 2;
  for (std::size_t byte = 0; byte < images.value_of_byte.size(); ++byte) {
    const float value = static_cast<float>(byte) / 255.0F;
    images.value_of_byte[byte] = normalized ? (value - kMnistMean) / kMnistDeviation : value;
  }
  // About a fifth of the pixels of handwriting are not zero.
  images.places.reserve(bytes.size() / 4);
  images.bytes.reserve(bytes.size() / 4);
  images.pairs.reserve(bytes.size() / 7);
  const auto is_zero = [&](std::uint8_t byte) { return byte == 0 && !normalized; };
  for (std::size_t first = 0; first < bytes.size(); first += static_cast<std::size_t>(pixels)) {
    const std::span<const std::uint8_t> image = bytes.subspan(first, static_cast<std::size_t>(pixels));
    images.pairs_begin.push_back(static_cast<std::uint32_t>(images.pairs.size()));
    for (int pixel = 0; pixel < pixels; ++pixel) {
      if (pixel % kBandPixels == 0) {
        images.begin.push_back(static_cast<std::uint32_t>(images.places.size()));
      }
      if (!is_zero(image[pixel])) {
        images.places.push_back(static_cast<std::uint16_t>(pixel));
        images.bytes.push_back(image[pixel]);
      }
    }
    for (int pixel = 0; pixel < pixels; pixel += 2) {
      const std::uint8_t right = pixel + 1 < pixels ? image[pixel + 1] : std::uint8_t{0};
      if (!is_zero(image[pixel]) || !is_zero(right)) {
        images.pairs.push_back({static_cast<std::uint16_t>(pixel / 2), image[pixel], right});
      }
    }
  }
  images.begin.push_back(static_cast<std::uint32_t>(images.places.size()));
  images.pairs_begin.push_back(static_cast<std::uint32_t>(images.pairs.size()));
  return images;
}

void make_columns(const PixelRows& rows, PixelColumns& columns) {
  const PixelImages& images = *rows.images;
  const std::size_t pairs = static_cast<std::size_t>(images.pixels) / 2;
  const auto for_each_image = [&](const auto& visit) {
    for (int row = 0; row < rows.rows; ++row) {
      for (int part = 0; part < rows.parts; ++part) {
        const std::uint32_t image = rows.numbers[static_cast<std::size_t>(row) * rows.stride + part];
        visit(row, part * pairs, images.pairs.data() + images.pairs_begin[image],
              images.pairs.data() + images.pairs_begin[image + 1]);
      }
    }
  };
  // Images lie scattered in memory; asked for all at once they arrive together.
  for_each_image([](int, std::size_t, const PixelImages::Pair* pair, const PixelImages::Pair* last) {
    constexpr std::ptrdiff_t kLine = 64 / sizeof(PixelImages::Pair);
    for (; pair < last; pair += kLine) {
      __builtin_prefetch(pair);
    }
  });
  // A counting sort: begin[place + 1] is where the next entry of `place` goes, and in the end where the next place's
  // entries begin.
  std::vector<std::uint32_t>& begin = columns.begin;
  begin.assign(rows.parts * pairs + 2, 0);
  for_each_image([&](int, std::size_t first, const PixelImages::Pair* pair, const PixelImages::Pair* last) {
    std::uint32_t* __restrict counts = begin.data() + first + 2;
    for (; pair < last; ++pair) {
      ++counts[pair->place];
    }
  });
  for (std::size_t place = 2; place < begin.size(); ++place) {
    begin[place] += begin[place - 1];
  }
  columns.images = &images;
  if (columns.entries.size() < begin.back()) {
    columns.entries.resize(begin.back());
  }
  for_each_image([&](int row, std::size_t first, const PixelImages::Pair* pair, const PixelImages::Pair* last) {
    std::uint32_t* __restrict next = begin.data() + first + 1;
    PixelColumns::Entry* __restrict entries = columns.entries.data();
    for (; pair < last; ++pair) {
      entries[next[pair->place]++] = {static_cast<std::uint16_t>(row), pair->left, pair->right};
    }
  });
  begin.pop_back();
}

}  // namespace modlab::engine::solo

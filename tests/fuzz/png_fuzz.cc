#include "io/png.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "png_bytes.h"

std::vector<std::string> modlab::fuzz::seeds() {
  const std::string rows = {0, 10, 20, 30, 40, 50, 60, 3, 6, 11, 16, 16, 16, 16, 4, 1, 1, 1, 1, 1, 1};
  return {test::png(2, 3, rows), test::png(1, 2, {1, 5, 6, 7, 2, 1, 1, 1}), test::png(1, 1, {0, 1, 2, 3}, 6)};
}

// Any bytes are an image that fills its size, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxPixels = 10'000;
  modlab::io::PngImage image;
  try {
    image = modlab::io::decode_png({reinterpret_cast<const char*>(data), size}, kMaxPixels, "fuzz");
  } catch (const modlab::UserError&) {
    return 0;
  }
  if (image.width * image.height > kMaxPixels || image.pixels.size() != 3 * image.width * image.height) {
    std::abort();
  }
  return 0;
}

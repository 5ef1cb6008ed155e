#include "io/idx.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "packed_bytes.h"

std::vector<std::string> modlab::fuzz::seeds() {
  const std::string images = io::encode_idx({{2, 2, 3}, {0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255}});
  const std::string labels = io::encode_idx({{4}, {0, 1, 7, 9}});
  return {images, labels, test::gzip(images), test::gzip(labels.substr(0, 6)) + test::gzip(labels.substr(6))};
}

// Any bytes are an array that fills its shape and is written and read back as it was, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using modlab::io::IdxArray;
  IdxArray array;
  try {
    array = modlab::io::decode_idx({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const modlab::UserError&) {
    return 0;
  }
  std::size_t count = 1;
  for (const std::uint32_t extent : array.shape) {
    count *= extent;
  }
  const IdxArray back = modlab::io::decode_idx(modlab::io::encode_idx(array), "back");
  if (count != array.values.size() || back.shape != array.shape || back.values != array.values) {
    std::abort();
  }
  return 0;
}

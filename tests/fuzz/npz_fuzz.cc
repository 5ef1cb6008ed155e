#include "io/npz.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "packed_bytes.h"

std::vector<std::string> modlab::fuzz::seeds() {
  using test::bytes_of;
  using test::npy;
  const std::string floats = npy("<f4", "(2, 3)", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  const std::string doubles = npy("<f8", "(3,)", bytes_of<double>({0.5, -1, 1e300}), true);
  const std::string whole = npy("<i8", "()", bytes_of<std::int64_t>({-7}));
  return {test::zip({{"a.weight.npy", floats}, {"a.bias.npy", doubles}}),
          test::zip({{"a.npy", floats, true}, {"n.npy", whole, true}}, "a comment"), test::zip({})};
}

// Any bytes are arrays that fill their shapes, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const modlab::io::NamedTensor& tensor :
         modlab::io::decode_npz({reinterpret_cast<const char*>(data), size}, "fuzz")) {
      std::size_t count = 1;
      for (const std::size_t extent : tensor.shape) {
        count *= extent;
      }
      if (count != tensor.values.size()) {
        std::abort();
      }
    }
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

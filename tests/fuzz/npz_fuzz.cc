#include "io/npz.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/errors.h"

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

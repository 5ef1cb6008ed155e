#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "io/matrix_file.h"
#include "packed_bytes.h"
#include "report/module_use_text.h"

std::vector<std::string> modlab::fuzz::seeds() {
  using test::bytes_of;
  using test::npy;
  const std::string array = npy("<f8", "(2, 3)", bytes_of<double>({1, 2, 3, 4, 5, 6}));
  return {"0.5,0.5\n1,0\n0,1\n", "rule;a;b\nsum;1;2\nmax;3;4\n", ",0,1\n0,5,6\n1,7,8\n", array,
          test::zip({{"use.npy", array}})};
}

// Any bytes are a matrix that fills its shape, of which all can be said and drawn, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using modlab::measures::ModuleUse;
  try {
    modlab::io::Matrix matrix = modlab::io::decode_matrix({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (matrix.values.size() != matrix.rows * matrix.columns) {
      std::abort();
    }
    constexpr std::size_t kMost = 64;
    if (matrix.rows <= kMost && matrix.columns <= kMost) {
      const modlab::report::UseLook look = modlab::report::look_at_use(
          "fuzz", ModuleUse(static_cast<int>(matrix.rows), static_cast<int>(matrix.columns), std::move(matrix.values)),
          std::move(matrix.row_names), std::move(matrix.column_names));
      if (!(look.measured.alignment > -1e-9 && look.measured.alignment < 1 + 1e-9) || module_use_text(look).empty() ||
          module_use_svg(look).empty()) {
        std::abort();
      }
    }
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}

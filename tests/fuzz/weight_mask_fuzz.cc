#include "models/weight_mask.h"

#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "io/npz.h"
#include "report/mask_text.h"

std::vector<std::string> modlab::fuzz::seeds() {
  const std::vector<io::NamedTensor> tensors = {{"a.weight", {2, 3}, {1, 0, 1, 1, 0, 0}}, {"a.bias", {2}, {0, 1}}};
  return {io::encode_safetensors({tensors, {}}), io::encode_npz(tensors)};
}

// Any bytes are a mask that shares all that it keeps with itself, of which all can be said, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using modlab::models::Keeping;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const Keeping keeping : {Keeping::kOne, Keeping::kNonzero, Keeping::kPositive}) {
    try {
      const modlab::models::WeightMask mask = modlab::models::decode_weight_mask(bytes, "fuzz.safetensors", keeping);
      const modlab::methods::MaskComparison comparison = modlab::methods::compare_masks({mask, mask, mask});
      for (const modlab::methods::MaskPair& pair : comparison.pairs) {
        if (pair.all.both != comparison.kept.front() || pair.all.iou() != (pair.all.is_empty() ? 0 : 1)) {
          std::abort();
        }
      }
      if (modlab::report::mask_comparison_text(comparison, true).empty() ||
          modlab::report::mask_comparison_json(comparison).is_null()) {
        std::abort();
      }
    } catch (const modlab::UserError&) {
      continue;
    }
  }
  return 0;
}

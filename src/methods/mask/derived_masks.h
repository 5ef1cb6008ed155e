#pragma once

#include "methods/mask/mask_spec.h"
#include "models/weight_mask.h"

namespace modlab::methods {

// Everything but a mask. `full` is the control mask. The ends are the first and the last matrix of the mask.
models::WeightMask inverse_mask(const models::WeightMask& mask, const models::WeightMask& full, InverseEnds ends);

// A mask on the first half of the tensors alone, or on the second; the others are kept whole. Of an odd number the
// larger half is the first where `early_is_larger`.
models::WeightMask half_mask(const models::WeightMask& mask, bool early, bool early_is_larger);

}  // namespace modlab::methods

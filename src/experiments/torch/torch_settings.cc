#include "experiments/torch/torch_settings.h"

#include "core/errors.h"
#include "methods/mask/mask_settings.h"

namespace modlab::experiments {

void check_torch_masks(const methods::MaskSpec& spec) {
  methods::check_solo(spec);
  if (spec.active) {
    throw ConfigError("active_set: is for networks on arithmetic; leave it out");
  }
  if (spec.clip_of == methods::MaskClip::kPublished) {
    throw ConfigError("clip_of: published is for networks on arithmetic; leave it out");
  }
}

}  // namespace modlab::experiments

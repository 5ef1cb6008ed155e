#pragma once

#include "methods/mask/mask_spec.h"
#include "settings/spec_table.h"

namespace modlab::methods {

inline constexpr auto kMaskedModel = "masked";

// How masks are trained, for every kind whose networks are masked.
const settings::SpecTable<MaskSpec>& mask_settings();

// Throws ConfigError unless the settings go together.
void check(const MaskSpec& spec);
// The same for masks over networks that are trained one at a time.
void check_solo(const MaskSpec& spec);

}  // namespace modlab::methods

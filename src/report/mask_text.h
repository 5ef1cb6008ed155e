#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "methods/mask/mask_comparison.h"

namespace modlab::report {

// As `modlab overlap` prints it. Of two masks every tensor is shown, of more of them how much each two share, those
// side by side that share most; `by_tensor` shows the tensors of every pair then too.
std::string mask_comparison_text(const methods::MaskComparison& comparison, bool by_tensor);
nlohmann::ordered_json mask_comparison_json(const methods::MaskComparison& comparison);

}  // namespace modlab::report

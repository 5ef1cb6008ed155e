#pragma once

#include <vector>

namespace modlab::measures {

// How closely the outputs of an image module follow the bits of the digits it sees: each bit is given an
// output of its own so that the mean |rho| over the bits is largest. A bit without an output counts 0. `outputs` is
// [output][image], `digits` [image].
double image_specialisation(const std::vector<std::vector<double>>& outputs, const std::vector<int>& digits, int bits);

}  // namespace modlab::measures

#include "measures/edit_distance.h"

#include <utility>

#include "measures/matching.h"
#include "measures/wiring.h"

namespace modlab::measures {
namespace {

EditDistance strict_distance(const Wiring& learned, const Wiring& truth) {
  Matching matching = best_matching(learned, truth);
  const int distance = edit_distance(learned, truth, matching);
  return {distance, std::move(matching.gates)};
}

}  // namespace

EditDistance edit_distance(const tasks::Routing& learned, const tasks::Routing& truth, int inputs) {
  return strict_distance(wiring_of(learned, inputs), wiring_of(truth, inputs));
}

EditDistance edit_distance(const tasks::Routing& learned, const tasks::FunctionGraph& truth) {
  return strict_distance(wiring_of(learned, static_cast<int>(truth.inputs.size())), wiring_of(truth));
}

}  // namespace modlab::measures

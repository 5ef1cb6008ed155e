#pragma once

#include <cstdint>
#include <optional>

#include "methods/detect/detect.h"

// Are the modules better than those that the detector finds in networks of chance?
namespace modlab::methods {

struct NullSettings {
  int draws = 200;  // networks of each kind
  std::uint64_t seed = 0;
};

struct NullDraws {
  int draws = 0;
  int at_least = 0;   // whose statistic is that of the network or more
  int different = 0;  // that are another network; where none is, nothing else has these degrees or weights
  double mean = 0;    // of the statistic
  double deviation = 0;
  double p = 1;  // (at_least + 1) / (draws + 1)
};

struct NullModel {
  double statistic = 0;
  // Live edges swap ends within their layer, so that every live unit keeps the number of its edges on both sides.
  NullDraws rewired;
  // Weights change places among the live edges of a layer. Nothing where features do not use weights: the modules would
  // be the same in all of them.
  std::optional<NullDraws> reweighted;
};

// The share of live edges that stay inside a module, less the share expected of edges that connect at random, layer by
// layer, with the same number of edges at every unit: 0 where all is one module, or nothing stays inside.
double inside_excess(const models::LayeredNetwork& network, const Detection& detection);

// The modules of each drawn network are detected anew with the same settings. Throws ConfigError as detect() does, and
// unless at least one draw is asked for.
NullModel null_model(const models::LayeredNetwork& network, const DetectSettings& settings,
                     const NullSettings& null_settings = {});

}  // namespace modlab::methods

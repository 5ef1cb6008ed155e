#pragma once

#include <string>
#include <vector>

#include "methods/detect/detect.h"
#include "methods/detect/unit_names.h"

// A layered network and its modules as a drawing.
namespace modlab::report {

struct LayeredPicture {
  const models::LayeredNetwork& network;
  const methods::Hierarchy& hierarchy;
  const methods::UnitNames& names;
  std::string title;
  std::vector<std::string> captions;  // lines below the title
  std::vector<std::string> modules;   // the name of each module of the hierarchy
};

// SVG with the inputs at the bottom and the outputs on top. A module is one rectangle around its units; an edge is the
// wider the larger its weight is for its layer, of another colour where it is negative, and dashed where it crosses
// (see cross_edges.h). Dead units are left out. Throws ConfigError for what would be too large to look at.
std::string layered_svg(const LayeredPicture& picture);

// The same in the language of Graphviz: modules are clusters.
std::string layered_dot(const LayeredPicture& picture);

}  // namespace modlab::report

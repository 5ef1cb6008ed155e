#pragma once

#include <vector>

#include "methods/detect/detect.h"

namespace modlab::report {

// Sizes of a drawing, all in pixels.
struct LayeredSizes {
  double height = 22;  // of a unit
  double step = 34;    // from unit to unit, where names need no more
  double spread = 2;   // times this, where another layer of the module is wider
  int row = 24;        // units of a module side by side; more of them stand in several rows
  double edge = 10;    // from units to the edge of their module
  double name = 14;    // room above for the module's name
  double gap = 14;     // between modules side by side
  double layer_gap = 64;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

struct LayeredLayout {
  std::vector<Box> modules;
  std::vector<std::vector<Point>> units;  // [layer][unit]: centres; of dead units meaningless
  std::vector<double> layers;             // heights of their middles
  double width = 0;
  double height = 0;
};

// Places the inputs at the bottom and the outputs on top, each module in a rectangle that touches no other, near those
// that it is wired to. `steps` is the least distance of units in each layer, `name_widths` the least width inside each
// module.
LayeredLayout arrange_modules(const models::LayeredNetwork& network, const methods::Hierarchy& hierarchy,
                              const LayeredSizes& sizes, const std::vector<double>& steps,
                              const std::vector<double>& name_widths);

}  // namespace modlab::report

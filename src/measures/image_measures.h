#pragma once

#include <optional>
#include <vector>

#include "measures/network_measures.h"
#include "models/images/image_blueprint.h"
#include "models/images/image_samples.h"
#include "models/learned_routing.h"

namespace modlab::measures {

// What a trained image module says.
struct ImageModuleView {
  std::vector<int> reads;                  // images that slots with this module read, one for each slot
  std::vector<std::vector<double>> means;  // [output][digit]: over the test images of that digit
  double specialisation = 0;               // see image_specialisation.h, over the same images
};

// How a network does on one combination of digits, with images that it has not been trained on.
struct CombinationScore {
  int row = 0;  // of the truth table
  engine::Part part = engine::Part::kTrain;
  int right_bits = 0;
  int bits = 0;
};

// One sample and what the network makes of it.
struct ImageExample {
  int row = 0;
  engine::Part part = engine::Part::kTest;
  std::vector<std::uint32_t> images;  // numbers in the test set; of a validation sample in the training set
  std::vector<double> says;           // probability of each output
};

// All that is looked at in a trained network on images.
struct ImageView {
  NetworkMeasures measures;
  std::optional<models::ImageRouting> routing;  // of a network with modules
  std::vector<ImageModuleView> modules;  // own modules slot by slot, or the members of the pool; empty without modules
  std::vector<CombinationScore> combinations;
  std::vector<ImageExample> examples;  // of unseen combinations first, then some that were trained on
};

// The wiring alone needs no image; everything else runs the network on the run's own samples and on all test images.
double image_edit_distance(const models::ImageModularShape& shape, const tasks::TaskSuite& suite,
                           const std::vector<float>& parameters);
ImageView view_image_network(const models::ImageSpec& spec, const models::ImageBlueprint& blueprint,
                             const tasks::TaskSuite& suite, const std::vector<float>& parameters,
                             const engine::Kernels<float>& kernels);

}  // namespace modlab::measures

#pragma once

#include <string>
#include <vector>

#include "models/run_spec.h"

namespace modlab::models {

enum class ImageModule { kMlp, kConvolution };

// Everything that decides the result of a training on images.
struct ImageSpec : RunSpec {
  int samples = 1000;
  int test_samples = 100;
  bool disjoint_validation = false;
  bool normalize = false;
  std::vector<std::string> images;  // IDX files; empty: MNIST
  std::vector<std::string> labels;
  ImageModule image_module = ImageModule::kMlp;
  std::vector<int> image_widths;
  int image_slots = 0;
  int image_pool = 0;
};

// The published settings.
ImageSpec published_image_spec();

}  // namespace modlab::models

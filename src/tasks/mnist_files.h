#pragma once

#include <array>
#include <string>

#include "tasks/image_data.h"
#include "tasks/published_files.h"

// MNIST: 60000 training and 10000 test images of handwritten digits, 28 x 28 pixels, in four IDX files.
namespace modlab::tasks {

// As published, uncompressed: images and labels for training, then for testing.
inline constexpr std::array<PublishedFile, 4> kMnistFiles = {{
    {"train-images-idx3-ubyte", 47'040'016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", 60'008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", 7'840'016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", 10'008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

const PublishedData& mnist();
ImageFiles mnist_files(const std::string& folder);

}  // namespace modlab::tasks

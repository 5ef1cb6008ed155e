#include "tasks/image_data.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "core/errors.h"
#include "core/sha256.h"
#include "io/idx.h"
#include "tasks/mnist_files.h"

namespace modlab::tasks {
namespace {

void check_two(const std::vector<std::string>& paths, const char* kind) {
  if (paths.size() != 2) {
    throw ConfigError(
        fmt::format("{}: two files are needed, for training and for testing, instead of {}", kind, paths.size()));
  }
}

std::string sum_of(const io::IdxArray& array) {
  Sha256 sum;
  sum.add(io::idx_header(array.shape));
  sum.add(array.values);
  return sum.hex();
}

void check_images(const io::IdxArray& images, const std::string& path) {
  const std::vector<std::uint32_t>& shape = images.shape;
  if (shape.size() == 1) {
    throw FormatError(fmt::format("{}: labels where images are expected; name it among the labels", path));
  }
  if (shape.size() != 3) {
    throw FormatError(
        fmt::format("{}: {} dimensions where images have three: image, row and column", path, shape.size()));
  }
  if (shape[0] == 0) {
    throw FormatError(fmt::format("{}: no image in it; name a file that has some", path));
  }
  const std::uint64_t pixels = static_cast<std::uint64_t>(shape[1]) * shape[2];
  if (pixels == 0 || pixels > kMaxPixels) {
    throw FormatError(
        fmt::format("{}: images of {} x {} pixels; an image may have 1 to {}", path, shape[1], shape[2], kMaxPixels));
  }
}

void check_labels(const io::IdxArray& labels, const std::string& path) {
  if (labels.shape.size() == 3) {
    throw FormatError(fmt::format("{}: images where labels are expected; name it among the images", path));
  }
  if (labels.shape.size() != 1) {
    throw FormatError(fmt::format("{}: {} dimensions where labels have one", path, labels.shape.size()));
  }
}

struct ReadSet {
  ImageSet set;
  std::string images_sum;
  std::string labels_sum;
};

ReadSet read_set(const std::string& images_path, const std::string& labels_path) {
  io::IdxArray images = io::read_idx(images_path);
  check_images(images, images_path);
  io::IdxArray labels = io::read_idx(labels_path);
  check_labels(labels, labels_path);
  if (images.shape[0] != labels.shape[0]) {
    throw FormatError(fmt::format("{}: {} images, but {} labels in {}; name files that belong together", images_path,
                                  images.shape[0], labels.shape[0], labels_path));
  }
  ReadSet read;
  read.images_sum = sum_of(images);
  read.labels_sum = sum_of(labels);
  read.set = {static_cast<int>(images.shape[1]), static_cast<int>(images.shape[2]), std::move(images.values),
              std::move(labels.values)};
  return read;
}

ImageData read_data(const ImageFiles& files, bool is_mnist) {
  ReadSet train = read_set(files.images[0], files.labels[0]);
  ReadSet test = read_set(files.images[1], files.labels[1]);
  if (train.set.rows != test.set.rows || train.set.columns != test.set.columns) {
    throw FormatError(fmt::format("{}: images of {} x {} pixels, but of {} x {} in {}; name files that belong together",
                                  files.images[0], train.set.rows, train.set.columns, test.set.rows, test.set.columns,
                                  files.images[1]));
  }
  const std::string sums[] = {train.images_sum, train.labels_sum, test.images_sum, test.labels_sum};
  const std::string* paths[] = {&files.images[0], &files.labels[0], &files.images[1], &files.labels[1]};
  // The sum of the sums, so that MNIST is read once for its checksums and for the digest.
  Sha256 digest;
  for (std::size_t index = 0; index < kMnistFiles.size(); ++index) {
    if (is_mnist && sums[index] != kMnistFiles[index].sha256) {
      throw FormatError(fmt::format("{}: not as published (its SHA-256 is wrong)", *paths[index]));
    }
    digest.add(sums[index]);
  }
  return {std::move(train.set), std::move(test.set), digest.hex()};
}

ImageData read_mnist(const std::string& folder) {
  if (!has_files(mnist(), folder)) {
    fetch_files(mnist(), folder);
  }
  try {
    return read_data(mnist_files(folder), true);
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}; `modlab data fetch mnist` fetches it again", error.what()));
  }
}

}  // namespace

std::shared_ptr<const ImageData> load_image_data(const ImageFiles& files) {
  std::vector<std::string> places;
  if (files.is_mnist()) {
    places = {cache_folder(mnist())};
  } else {
    check_two(files.images, "images");
    check_two(files.labels, "labels");
    places = {files.images[0], files.images[1], files.labels[0], files.labels[1]};
  }
  static std::mutex mutex;
  static std::map<std::vector<std::string>, std::shared_ptr<const ImageData>> loaded;
  // Held while reading: whoever wants the same files waits for them.
  const std::lock_guard lock(mutex);
  std::shared_ptr<const ImageData>& data = loaded[places];
  if (!data) {
    data = std::make_shared<const ImageData>(files.is_mnist() ? read_mnist(places[0]) : read_data(files, false));
  }
  return data;
}

}  // namespace modlab::tasks
